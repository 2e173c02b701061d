//! What writes of a blob read from their headers beside conditions and body.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lazuli_model::blob::CustomerKey;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::blob::BlobProperties;

use super::hold;
use crate::call::Call;
use crate::decode;
use crate::head::Head;
use crate::headers;
use crate::reply::Reply;

pub(super) const DEFAULT_TYPE: &str = "application/octet-stream";
/// The scope that every account has.
const ACCOUNT_SCOPE: &str = "$account-encryption-key";

/// `with_content_type`: the body is the content, so its type is the content's.
pub fn blob_properties(call: &Call, with_content_type: bool) -> Result<BlobProperties, Failure> {
    let head = &call.head;
    refuse_encryption_scope(call)?;
    let mut headers = decode::content_headers(head, with_content_type)?;
    headers.content_type.get_or_insert_with(|| DEFAULT_TYPE.to_owned());
    Ok(BlobProperties {
        headers,
        metadata: decode::metadata(head)?,
        tags: decode::tags(head)?.unwrap_or_default(),
        tier: decode::tier(head)?,
        customer_key: customer_key(head)?,
        hold: hold::given(call)?,
    })
}

/// A key of the customer's comes with its digest; only the digest is kept.
pub fn customer_key(head: &Head) -> Result<Option<CustomerKey>, Failure> {
    let (key, digest, algorithm) = (
        head.header(headers::X_MS_ENCRYPTION_KEY),
        head.header(headers::X_MS_ENCRYPTION_KEY_SHA256),
        head.header(headers::X_MS_ENCRYPTION_ALGORITHM),
    );
    let Some(key) = key else {
        return match digest.or(algorithm) {
            Some(_) => Err(Failure::missing_header(headers::X_MS_ENCRYPTION_KEY)),
            None => Ok(None),
        };
    };
    let digest = digest.ok_or_else(|| Failure::missing_header(headers::X_MS_ENCRYPTION_KEY_SHA256))?;
    let algorithm = algorithm.ok_or_else(|| Failure::missing_header(headers::X_MS_ENCRYPTION_ALGORITHM))?;
    if algorithm != "AES256" {
        return Err(Failure::invalid_header(headers::X_MS_ENCRYPTION_ALGORITHM, algorithm));
    }
    let bytes = BASE64_STANDARD.decode(key).ok().filter(|bytes| bytes.len() == 32);
    let bytes = bytes.ok_or_else(|| Failure::invalid_header(headers::X_MS_ENCRYPTION_KEY, ""))?;
    let found = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &bytes);
    let sha256 = <[u8; 32]>::try_from(found.as_ref()).ok();
    let sent = BASE64_STANDARD.decode(digest).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    match (sha256, sent) {
        (Some(sha256), Some(sent)) if sha256 == sent => Ok(Some(CustomerKey { sha256 })),
        _ => Err(Failure::invalid_header(headers::X_MS_ENCRYPTION_KEY_SHA256, digest)),
    }
}

/// The digest of the key, on every answer about a blob that has one.
pub fn show_customer_key(reply: Reply, key: Option<&CustomerKey>) -> Reply {
    reply.maybe(headers::X_MS_ENCRYPTION_KEY_SHA256, key.map(|key| BASE64_STANDARD.encode(key.sha256)))
}

/// There are no encryption scopes here but the account's own.
pub fn refuse_encryption_scope(call: &Call) -> Result<(), Failure> {
    let sent = call.head.header(headers::X_MS_ENCRYPTION_SCOPE);
    let signed = call.grant.encryption_scope.as_deref();
    match sent.or(signed) {
        None | Some(ACCOUNT_SCOPE) => Ok(()),
        Some(_) => Err(ErrorCode::EncryptionScopeNotAvailable.into()),
    }
}

/// Bodies framed as structured messages are not built: to take such a header and ignore it would be a promise broken later.
pub fn refuse_structured_body(head: &Head) -> Result<(), Failure> {
    refuse_headers(head, &[headers::X_MS_STRUCTURED_BODY, headers::X_MS_STRUCTURED_CONTENT_LENGTH])
}

pub fn refuse_headers(head: &Head, names: &[&str]) -> Result<(), Failure> {
    match names.iter().find(|name| head.header(name).is_some()) {
        Some(name) => Err(Failure::new(ErrorCode::UnsupportedHeader).detail("HeaderName", *name)),
        None => Ok(()),
    }
}
