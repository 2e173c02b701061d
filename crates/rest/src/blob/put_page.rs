//! Put Page: update and clear.

use lazuli_model::error::Failure;
use lazuli_model::operation::Row;
use lazuli_model::version::ApiVersion;
use lazuli_service::blob::{ClearPages, PageStored, PutPage};

use super::pages;
use super::properties::{customer_key, encryption_of, show_encryption};
use super::put_block::TransportHash;
use crate::call::Call;
use crate::decode;
use crate::headers::name;
use crate::reply::Reply;
use crate::structured;

pub async fn put_page(mut call: Call) -> Result<Reply, Failure> {
    let is_structured = structured::unwrap(&mut call)?;
    let digests = decode::digests(&call.head)?;
    let customer_key = customer_key(&call.head)?;
    let encryption = encryption_of(&call, customer_key.as_ref()).await?;
    let sent_md5 = digests.md5;
    let input = PutPage {
        at: call.blob(),
        preconditions: call.preconditions()?,
        range: pages::range(&call.head)?,
        digests,
        customer_key,
        body: call.body,
    };
    let stored = input.execute(&call.services, &call.context).await?;
    let reply = stored_pages(call.row, call.head.version, &stored, sent_md5);
    Ok(structured::show(show_encryption(reply, &encryption), is_structured))
}

/// What both ways of writing pages tell of them.
pub(super) fn stored_pages(
    row: &Row,
    version: ApiVersion,
    stored: &PageStored,
    sent_md5: Option<[u8; 16]>,
) -> Reply {
    let hash = TransportHash { sent_md5, computed_md5: stored.md5, crc64: stored.crc64 };
    hash.show(Reply::of(row), version)
        .stamped(stored.stamped)
        .header(name::X_MS_BLOB_SEQUENCE_NUMBER, stored.sequence_number)
        .header(name::X_MS_REQUEST_SERVER_ENCRYPTED, true)
}

pub async fn clear_pages(call: Call) -> Result<Reply, Failure> {
    pages::refuse_body(&call)?;
    let input = ClearPages {
        at: call.blob(),
        preconditions: call.preconditions()?,
        range: pages::range(&call.head)?,
        customer_key: customer_key(&call.head)?,
    };
    let (stamped, sequence_number) = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row).stamped(stamped).header(name::X_MS_BLOB_SEQUENCE_NUMBER, sequence_number))
}
