//! Get Symbolic Link.

use lazuli_model::error::Failure;
use lazuli_service::file::GetSymbolicLink;

use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

pub async fn get_symbolic_link(call: Call) -> Result<Reply, Failure> {
    let input = GetSymbolicLink { at: call.path()?, preconditions: call.preconditions()? };
    let (stamped, target) = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row).stamped(stamped).header(headers::X_MS_LINK_TEXT, target))
}
