//! Set Share Properties.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::file::SetShareProperties;

use super::share_headers::{choices, show_choices};
use crate::call::Call;
use crate::reply::Reply;

pub async fn set_share_properties(call: Call) -> Result<Reply, Failure> {
    let choices = choices(&call.head)?;
    if choices.protocol.is_some() {
        // A share is for one protocol as long as it is there.
        return Err(ErrorCode::UnsupportedHeader.into());
    }
    let input = SetShareProperties { at: call.share(), preconditions: call.preconditions()?, choices };
    let (stamped, settings) = input.execute(&call.services, &call.context).await?;
    Ok(show_choices(Reply::of(call.row), call.head.version, &settings).stamped(stamped))
}
