//! User delegation keys. None is stored: a key is derived from what it is for, under a secret of the server,
//! so the token that names those facts leads to the key again.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Service;
use lazuli_model::time::Timestamp;
use lazuli_model::version::ApiVersion;

use super::accounts::Key;
use super::bearer::Claims;

const MAX_LIFE_SECONDS: i64 = 7 * 24 * 3600;
/// Clients compute "seven days from now" with clocks of their own.
const GRACE_SECONDS: i64 = 15 * 60;
const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

#[derive(Clone, Debug)]
pub struct DelegationSecret(Key);

/// Everything that a key depends on, as the token tells it again.
#[derive(Clone, Copy, Debug)]
pub struct KeyFields<'a> {
    pub account: &'a str,
    pub object_id: &'a str,
    pub tenant_id: &'a str,
    pub start: Timestamp,
    pub expiry: Timestamp,
    pub service: &'a str,
    pub version: &'a str,
    pub delegated_tenant_id: Option<&'a str>,
}

impl DelegationSecret {
    pub fn new(secret: [u8; 32]) -> Self {
        Self(Key::new(&secret))
    }

    /// Times count, not their spelling: clients parse and print them again.
    fn derive(&self, fields: &KeyFields<'_>) -> [u8; 32] {
        let start = fields.start.iso7();
        let expiry = fields.expiry.iso7();
        let text = [
            "user delegation key",
            fields.account,
            fields.object_id,
            fields.tenant_id,
            &start,
            &expiry,
            fields.service,
            fields.version,
            fields.delegated_tenant_id.unwrap_or_default(),
        ];
        // A field cannot reach into its neighbour: each is preceded by its length.
        let mut message = Vec::with_capacity(256);
        for field in text {
            message.extend_from_slice(&(field.len() as u64).to_be_bytes());
            message.extend_from_slice(field.as_bytes());
        }
        self.0.sign(&message)
    }

    pub(super) fn key(&self, fields: &KeyFields<'_>) -> Key {
        Key::new(&self.derive(fields))
    }
}

/// The answer of Get User Delegation Key. `value` is a secret of the caller.
#[derive(Clone, PartialEq, Eq)]
pub struct UserDelegationKey {
    pub signed_oid: String,
    pub signed_tid: String,
    /// Whole seconds.
    pub signed_start: Timestamp,
    pub signed_expiry: Timestamp,
    pub signed_service: &'static str,
    pub signed_version: String,
    pub signed_delegated_user_tid: Option<String>,
    /// Base64 of 32 bytes.
    pub value: String,
}

/// What the caller asks for in `<KeyInfo>`.
#[derive(Clone, Debug)]
pub struct KeyInfo {
    pub start: Option<Timestamp>,
    pub expiry: Timestamp,
    pub delegated_user_tid: Option<String>,
}

pub fn user_delegation_key(
    secret: &DelegationSecret,
    account: &str,
    service: Service,
    version: ApiVersion,
    claims: &Claims,
    info: KeyInfo,
    now: Timestamp,
) -> Result<UserDelegationKey, Failure> {
    let signed_start = info.start.unwrap_or(now).whole_seconds();
    let signed_expiry = info.expiry.whole_seconds();
    let latest = signed_start.max(now).plus_seconds(MAX_LIFE_SECONDS + GRACE_SECONDS);
    if signed_expiry <= now || signed_expiry <= signed_start || signed_expiry > latest {
        return Err(Failure::new(ErrorCode::InvalidXmlNodeValue)
            .detail("XmlNodeName", "Expiry")
            .detail("XmlNodeValue", signed_expiry.iso7())
            .detail("Reason", "The key must end after it starts, in the future, within seven days."));
    }
    let signed_oid = claims.object_id.clone().unwrap_or_else(|| NOBODY.to_owned());
    let signed_tid = claims.tenant_id.clone().unwrap_or_else(|| NOBODY.to_owned());
    let signed_service = service_letter(service);
    let value = secret.derive(&KeyFields {
        account,
        object_id: &signed_oid,
        tenant_id: &signed_tid,
        start: signed_start,
        expiry: signed_expiry,
        service: signed_service,
        version: version.as_str(),
        delegated_tenant_id: info.delegated_user_tid.as_deref(),
    });
    Ok(UserDelegationKey {
        signed_oid,
        signed_tid,
        signed_start,
        signed_expiry,
        signed_service,
        signed_version: version.as_str().to_owned(),
        signed_delegated_user_tid: info.delegated_user_tid,
        value: BASE64_STANDARD.encode(value),
    })
}

/// `sks`
pub fn service_letter(service: Service) -> &'static str {
    match service {
        Service::Blob | Service::Dfs => "b",
        Service::Queue => "q",
        Service::Table => "t",
        Service::File => "f",
    }
}
