//! Put Blob, for page blobs.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::blob::PutPageBlob;

use super::pages;
use super::properties::{blob_properties, encryption_of, show_encryption};
use crate::call::Call;
use crate::headers::{self, name};
use crate::reply::Reply;

pub async fn put_page_blob(call: Call) -> Result<Reply, Failure> {
    if let Some(tier) = call.head.header(headers::X_MS_ACCESS_TIER) {
        let is_premium = tier.strip_prefix(['P', 'p']).is_some_and(|number| number.parse::<u8>().is_ok());
        let code = match is_premium {
            true => ErrorCode::AccessTierNotSupportedForBlobType,
            false => ErrorCode::InvalidBlobTier,
        };
        return Err(code.into());
    }
    pages::refuse_body(&call)?;
    let properties = blob_properties(&call, true)?;
    let encryption = encryption_of(&call, properties.customer_key.as_ref()).await?;
    let missing = || Failure::missing_header(headers::X_MS_BLOB_CONTENT_LENGTH);
    let input = PutPageBlob {
        at: call.blob(),
        preconditions: call.preconditions()?,
        properties,
        length: pages::length(&call.head)?.ok_or_else(missing)?,
        sequence_number: pages::sequence_number(&call.head)?.unwrap_or(0),
    };
    let stamped = input.execute(&call.services, &call.context).await?;
    let reply = Reply::of(call.row).stamped(stamped).header(name::X_MS_REQUEST_SERVER_ENCRYPTED, true);
    Ok(show_encryption(reply, &encryption))
}
