//! Set Blob Properties.

use lazuli_model::blob::{BlobType, ContentHeaders};
use lazuli_model::error::Failure;
use lazuli_service::blob::{SequenceNumberAction, SetBlobProperties};

use super::pages;
use crate::call::Call;
use crate::decode;
use crate::head::Head;
use crate::headers::{self, name};
use crate::reply::Reply;

pub async fn set_blob_properties(call: Call) -> Result<Reply, Failure> {
    let length = pages::length(&call.head)?;
    let sequence_number = sequence_number_action(&call.head)?;
    let of_pages_only = length.is_some() || sequence_number.is_some();
    let headers = decode::content_headers(&call.head, false)?;
    let input = SetBlobProperties {
        at: call.blob(),
        preconditions: call.preconditions()?,
        // A request about pages alone keeps the headers.
        headers: (!of_pages_only || headers != ContentHeaders::default()).then_some(headers),
        length,
        sequence_number,
    };
    let blob = input.execute(&call.services, &call.context).await?;
    let reply = Reply::of(call.row).stamped(blob.stamped());
    Ok(match blob.kind {
        BlobType::Page => reply.header(name::X_MS_BLOB_SEQUENCE_NUMBER, blob.sequence_number),
        _ => reply,
    })
}

fn sequence_number_action(head: &Head) -> Result<Option<SequenceNumberAction>, Failure> {
    let Some(action) = head.header(headers::X_MS_SEQUENCE_NUMBER_ACTION) else { return Ok(None) };
    let given = pages::sequence_number(head)?;
    let needed = || given.ok_or_else(|| Failure::missing_header(headers::X_MS_BLOB_SEQUENCE_NUMBER));
    match (action.to_ascii_lowercase().as_str(), given) {
        ("max", _) => Ok(Some(SequenceNumberAction::Max(needed()?))),
        ("update", _) => Ok(Some(SequenceNumberAction::Update(needed()?))),
        ("increment", None) => Ok(Some(SequenceNumberAction::Increment)),
        ("increment", Some(number)) => {
            Err(Failure::invalid_header(headers::X_MS_BLOB_SEQUENCE_NUMBER, &number.to_string()))
        }
        _ => Err(Failure::invalid_header(headers::X_MS_SEQUENCE_NUMBER_ACTION, action)),
    }
}
