//! Get Share Stats.

use lazuli_model::error::Failure;
use lazuli_service::file::GetShareStats;

use crate::call::Call;
use crate::reply::Reply;
use crate::xml::Writer;

pub async fn get_share_stats(call: Call) -> Result<Reply, Failure> {
    let input = GetShareStats { at: call.share(), preconditions: call.preconditions()? };
    let bytes = input.execute(&call.services, &call.context).await?;
    let mut writer = Writer::of(call.row);
    writer.open("ShareStats");
    writer.number("ShareUsageBytes", bytes);
    writer.close("ShareStats");
    Ok(Reply::of(call.row).xml(writer.finish()))
}
