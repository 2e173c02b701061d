//! Put Blob, for block blobs.

use lazuli_model::blob::ContentMd5;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::blob::PutBlockBlob;

use super::properties::{blob_properties, encryption_of, show_encryption};
use crate::call::Call;
use crate::decode;
use crate::headers::name;
use crate::reply::Reply;
use crate::structured;
use lazuli_model::version::Feature;

pub async fn put_block_blob(mut call: Call) -> Result<Reply, Failure> {
    let is_structured = structured::unwrap(&mut call)?;
    let properties = blob_properties(&call, true)?;
    let mut digests = decode::digests(&call.head)?;
    // What is to be stored as the blob's MD5 is also what its bytes are checked against.
    digests.md5 = match &properties.headers.content_md5 {
        ContentMd5::None => digests.md5,
        ContentMd5::Digest(md5) => Some(*md5),
        ContentMd5::Given(_) => return Err(ErrorCode::InvalidMd5.into()),
    };
    let encryption = encryption_of(&call, properties.customer_key.as_ref()).await?;
    let version = call.head.version;
    let input = PutBlockBlob {
        at: call.blob(),
        preconditions: call.preconditions()?,
        properties,
        digests,
        limit: decode::put_blob_limit(version),
        body: call.body,
    };
    let stored = input.execute(&call.services, &call.context).await?;
    let crc64 = version.has(Feature::Crc64).then_some(stored.crc64);
    let reply = Reply::of(call.row)
        .stamped(stored.stamped)
        .md5(name::CONTENT_MD5, stored.md5)
        .crc64(name::X_MS_CONTENT_CRC64, crc64)
        .header(name::X_MS_REQUEST_SERVER_ENCRYPTED, true);
    Ok(structured::show(show_encryption(reply, &encryption), is_structured))
}
