//! What writes of a blob read from their headers beside conditions and body.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lazuli_model::blob::{CustomerKey, CustomerKeyHash};
use lazuli_model::encryption::Encryption;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::blob::BlobProperties;
use zeroize::Zeroizing;

use super::hold;
use crate::call::Call;
use crate::decode;
use crate::head::Head;
use crate::headers;
use crate::reply::Reply;

pub(super) const DEFAULT_TYPE: &str = "application/octet-stream";

/// `with_content_type`: the body is the content, so its type is the content's.
pub fn blob_properties(call: &Call, with_content_type: bool) -> Result<BlobProperties, Failure> {
    let head = &call.head;
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

/// The names of the headers that a key of the customer's comes in: with its digest, of which alone the service keeps
/// a copy.
struct KeyHeaders {
    key: &'static str,
    sha256: &'static str,
    algorithm: &'static str,
}

/// The key of what the request writes or reads.
pub fn customer_key(head: &Head) -> Result<Option<CustomerKey>, Failure> {
    let names = KeyHeaders {
        key: headers::X_MS_ENCRYPTION_KEY,
        sha256: headers::X_MS_ENCRYPTION_KEY_SHA256,
        algorithm: headers::X_MS_ENCRYPTION_ALGORITHM,
    };
    read_key(head, &names)
}

/// The key of what a request copies from.
pub fn source_customer_key(head: &Head) -> Result<Option<CustomerKey>, Failure> {
    let names = KeyHeaders {
        key: headers::X_MS_SOURCE_ENCRYPTION_KEY,
        sha256: headers::X_MS_SOURCE_ENCRYPTION_KEY_SHA256,
        algorithm: headers::X_MS_SOURCE_ENCRYPTION_ALGORITHM,
    };
    read_key(head, &names)
}

fn read_key(head: &Head, names: &KeyHeaders) -> Result<Option<CustomerKey>, Failure> {
    let (key, digest, algorithm) =
        (head.header(names.key), head.header(names.sha256), head.header(names.algorithm));
    let Some(key) = key else {
        return match digest.or(algorithm) {
            Some(_) => Err(Failure::missing_header(names.key)),
            None => Ok(None),
        };
    };
    let digest = digest.ok_or_else(|| Failure::missing_header(names.sha256))?;
    let algorithm = algorithm.ok_or_else(|| Failure::missing_header(names.algorithm))?;
    if algorithm != "AES256" {
        return Err(Failure::invalid_header(names.algorithm, algorithm));
    }
    let bytes = BASE64_STANDARD.decode(key).ok().map(Zeroizing::new);
    let secret = bytes.and_then(|bytes| <[u8; 32]>::try_from(&bytes[..]).ok()).map(Zeroizing::new);
    let secret = secret.ok_or_else(|| Failure::invalid_header(names.key, ""))?;
    let found = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &secret[..]);
    let sent = BASE64_STANDARD.decode(digest).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    match sent {
        Some(sent) if sent == found.as_ref() => Ok(Some(CustomerKey::new(secret, CustomerKeyHash(sent)))),
        _ => Err(Failure::invalid_header(names.sha256, digest)),
    }
}

/// What the request's write is encrypted with, for its answer to tell.
pub async fn encryption_of(call: &Call, key: Option<&CustomerKey>) -> Result<Encryption, Failure> {
    Ok(call.services.encryption(&call.context, &call.head.target.container, key).await?)
}

/// Every answer about a blob that is encrypted with a key of the customer's tells the digest of the key, and every one about
/// a blob of an encryption scope the scope.
pub fn show_encryption(reply: Reply, encryption: &Encryption) -> Reply {
    match encryption {
        Encryption::Service => reply,
        Encryption::Customer(CustomerKeyHash(sha256)) => {
            reply.header(headers::X_MS_ENCRYPTION_KEY_SHA256, BASE64_STANDARD.encode(sha256))
        }
        Encryption::Scope(scope) => reply.header(headers::X_MS_ENCRYPTION_SCOPE, scope),
    }
}

pub fn refuse_headers(head: &Head, names: &[&str]) -> Result<(), Failure> {
    match names.iter().find(|name| head.header(name).is_some()) {
        Some(name) => Err(Failure::new(ErrorCode::UnsupportedHeader).detail("HeaderName", *name)),
        None => Ok(()),
    }
}
