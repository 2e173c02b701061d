//! Set Blob Legal Hold.

use lazuli_model::error::Failure;
use lazuli_service::blob::SetBlobLegalHold;

use super::hold;
use crate::call::Call;
use crate::headers::{self, name};
use crate::reply::Reply;

pub async fn set_blob_legal_hold(call: Call) -> Result<Reply, Failure> {
    let held = hold::legal_hold(&call.head)?;
    let held = held.ok_or_else(|| Failure::missing_header(headers::X_MS_LEGAL_HOLD))?;
    // A hold can be lifted in any case.
    if held {
        hold::refuse_on_plain_account(&call, headers::X_MS_LEGAL_HOLD)?;
    }
    let input = SetBlobLegalHold {
        at: call.blob(),
        state: call.state(),
        preconditions: call.preconditions()?,
        hold: held,
    };
    input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row).header(name::X_MS_LEGAL_HOLD, held))
}
