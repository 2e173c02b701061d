//! `Authorization: Bearer`: a JWT of the directory.

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, JwkSet, KeyAlgorithm};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use lazuli_model::error::Failure;
use lazuli_model::operation::Service;
use lazuli_model::time::Timestamp;
use lazuli_model::version::Feature;
use serde_json::Value;

use super::refusal::{bad_token, denied, malformed};
use crate::head::Head;

/// Clocks of the directory and of this machine may differ so much.
const LEEWAY_SECONDS: i64 = 5 * 60;
const STORAGE_AUDIENCE: &str = "https://storage.azure.com";
const STORAGE_RESOURCE_ID: &str = "e406a681-f3d4-42a8-90b6-c2b029497af1";
/// Issuers whose tokens the development mode believes without looking at the signature.
const DIRECTORY_ISSUERS: [&str; 5] = [
    "https://sts.windows.net/",
    "https://login.microsoftonline.com/",
    "https://sts.windows-ppe.net/",
    "https://sts.chinacloudapi.cn/",
    "https://sts.microsoftonline.de/",
];

/// Whether tokens are taken, and what makes one good.
#[derive(Clone, Default)]
pub enum OAuth {
    #[default]
    Off,
    /// Times, issuer and audience are looked at, the signature is not: for development on loopback.
    Basic,
    Jwks(Jwks),
}

/// Issuers that are trusted, and their public keys.
#[derive(Clone)]
pub struct Jwks {
    issuers: Vec<String>,
    /// Empty: the audiences of the storage service.
    audiences: Vec<String>,
    keys: Vec<PublicKey>,
}

#[derive(Clone)]
struct PublicKey {
    id: Option<String>,
    /// Fixed by the key: a token does not choose how it is verified.
    algorithm: Algorithm,
    key: DecodingKey,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadJwks {
    #[error("not a JSON Web Key Set: {0}")]
    Form(String),
    #[error("no key in the set can verify a signature")]
    NoKeys,
    #[error("no issuer is given")]
    NoIssuer,
}

impl Jwks {
    pub fn parse(json: &str, issuers: Vec<String>, audiences: Vec<String>) -> Result<Self, BadJwks> {
        if issuers.is_empty() {
            return Err(BadJwks::NoIssuer);
        }
        let set: JwkSet = serde_json::from_str(json).map_err(|error| BadJwks::Form(error.to_string()))?;
        let mut keys = Vec::new();
        for jwk in &set.keys {
            let Some(algorithm) = algorithm(&jwk.algorithm, jwk.common.key_algorithm) else { continue };
            let Ok(key) = DecodingKey::from_jwk(jwk) else { continue };
            keys.push(PublicKey { id: jwk.common.key_id.clone(), algorithm, key });
        }
        if keys.is_empty() { Err(BadJwks::NoKeys) } else { Ok(Self { issuers, audiences, keys }) }
    }

    /// A token that names its key is verified by that key only.
    fn verify(&self, token: &str) -> Result<Value, Failure> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| malformed("token header"))?;
        let candidates = self
            .keys
            .iter()
            .filter(|key| key.algorithm == header.alg && (header.kid.is_none() || key.id == header.kid));
        for candidate in candidates {
            let mut validation = Validation::new(candidate.algorithm);
            // Times, issuer and audience are judged below, against the clock of the request.
            validation.validate_exp = false;
            validation.validate_aud = false;
            validation.required_spec_claims.clear();
            if let Ok(data) = jsonwebtoken::decode::<Value>(token, &candidate.key, &validation) {
                return Ok(data.claims);
            }
        }
        // Tell a token that cannot be read from one that is not signed by a trusted key.
        jsonwebtoken::dangerous::insecure_decode_claims::<Value>(token)
            .map_err(|_| malformed("token claims"))?;
        Err(bad_token("Signature validation failed."))
    }
}

/// One algorithm for each key; secrets shared with the issuer (`oct`) are not public keys.
fn algorithm(parameters: &AlgorithmParameters, stated: Option<KeyAlgorithm>) -> Option<Algorithm> {
    match (parameters, stated) {
        (AlgorithmParameters::RSA(_), None | Some(KeyAlgorithm::RS256)) => Some(Algorithm::RS256),
        (AlgorithmParameters::RSA(_), Some(KeyAlgorithm::RS384)) => Some(Algorithm::RS384),
        (AlgorithmParameters::RSA(_), Some(KeyAlgorithm::RS512)) => Some(Algorithm::RS512),
        (AlgorithmParameters::RSA(_), Some(KeyAlgorithm::PS256)) => Some(Algorithm::PS256),
        (AlgorithmParameters::RSA(_), Some(KeyAlgorithm::PS384)) => Some(Algorithm::PS384),
        (AlgorithmParameters::RSA(_), Some(KeyAlgorithm::PS512)) => Some(Algorithm::PS512),
        (AlgorithmParameters::EllipticCurve(key), None | Some(KeyAlgorithm::ES256))
            if key.curve == EllipticCurve::P256 =>
        {
            Some(Algorithm::ES256)
        }
        (AlgorithmParameters::EllipticCurve(key), None | Some(KeyAlgorithm::ES384))
            if key.curve == EllipticCurve::P384 =>
        {
            Some(Algorithm::ES384)
        }
        (AlgorithmParameters::OctetKeyPair(_), None | Some(KeyAlgorithm::EdDSA)) => Some(Algorithm::EdDSA),
        _ => None,
    }
}

/// Who a good token speaks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// `oid`, else `sub`
    pub object_id: Option<String>,
    pub tenant_id: Option<String>,
    pub issuer: String,
}

pub fn authenticate(
    oauth: &OAuth,
    over_http: bool,
    token: &str,
    head: &Head,
    now: Timestamp,
) -> Result<Claims, Failure> {
    if !head.secure && !over_http {
        return Err(denied("Only authentication scheme Bearer is supported over https"));
    }
    let taken = match head.target.service {
        // In every version: the table clients stay at 2019-02-02.
        Service::Table => true,
        Service::File => head.version.has(Feature::FileBearerTokens),
        _ => head.version.has(Feature::BearerTokens),
    };
    if !taken {
        return Err(denied("Authentication scheme Bearer is not supported in this version."));
    }
    let payload = match oauth {
        OAuth::Off => return Err(denied("Authentication scheme Bearer is not supported by this server.")),
        OAuth::Basic => {
            jsonwebtoken::dangerous::insecure_decode_claims(token).map_err(|_| malformed("token"))?
        }
        OAuth::Jwks(jwks) => jwks.verify(token)?,
    };
    judge(oauth, &payload, head, now)
}

fn judge(oauth: &OAuth, payload: &Value, head: &Head, now: Timestamp) -> Result<Claims, Failure> {
    let text = |name: &str| payload.get(name).and_then(Value::as_str);
    let issuer = text("iss").unwrap_or_default();
    let trusted = match oauth {
        OAuth::Off => false,
        OAuth::Basic => DIRECTORY_ISSUERS.iter().any(|prefix| issuer.starts_with(prefix)),
        OAuth::Jwks(jwks) => jwks.issuers.iter().any(|trusted| trusted == issuer),
    };
    if !trusted {
        return Err(bad_token("Issuer validation failed. Issuer did not match."));
    }
    let audiences: &[String] = match oauth {
        OAuth::Jwks(jwks) => &jwks.audiences,
        _ => &[],
    };
    let meant = match payload.get("aud") {
        Some(Value::String(audience)) => accepts(audiences, audience, head),
        Some(Value::Array(list)) => {
            list.iter().filter_map(Value::as_str).any(|audience| accepts(audiences, audience, head))
        }
        _ => false,
    };
    if !meant {
        return Err(bad_token("Audience validation failed. Audience did not match."));
    }
    let now = i64::try_from(now.to_unix_ticks() / 10_000_000).unwrap_or(i64::MAX);
    let Some(expiry) = payload.get("exp").and_then(seconds) else {
        return Err(bad_token("Lifetime validation failed. The token is missing an expiration time."));
    };
    if now > expiry.saturating_add(LEEWAY_SECONDS) {
        return Err(bad_token("Lifetime validation failed. The token is expired."));
    }
    match payload.get("nbf").map(seconds) {
        None => {}
        Some(Some(start)) if now >= start.saturating_sub(LEEWAY_SECONDS) => {}
        Some(_) => return Err(bad_token("Lifetime validation failed. The token is not yet valid.")),
    }
    Ok(Claims {
        object_id: text("oid").or_else(|| text("sub")).map(str::to_owned),
        tenant_id: text("tid").map(str::to_owned),
        issuer: issuer.to_owned(),
    })
}

/// Some issuers write fractions.
fn seconds(value: &Value) -> Option<i64> {
    value
        .as_i64()
        .or_else(|| value.as_f64().filter(|seconds| seconds.is_finite()).map(|seconds| seconds as i64))
}

fn accepts(configured: &[String], audience: &str, head: &Head) -> bool {
    if !configured.is_empty() {
        return configured.iter().any(|wanted| wanted == audience);
    }
    let audience = audience.strip_suffix('/').unwrap_or(audience);
    audience == STORAGE_AUDIENCE || audience == STORAGE_RESOURCE_ID || is_endpoint(audience, head)
}

/// `https://ACCOUNT.SERVICE.core...` of the very account that is addressed.
fn is_endpoint(audience: &str, head: &Head) -> bool {
    let service: &[&str] = match head.target.service {
        Service::Blob | Service::Dfs => &["blob", "dfs"],
        Service::Queue => &["queue"],
        Service::Table => &["table"],
        Service::File => &["file"],
    };
    let mut labels = audience.strip_prefix("https://").unwrap_or_default().splitn(3, '.');
    labels.next() == Some(head.target.account.as_str())
        && labels.next().is_some_and(|label| service.contains(&label))
        && labels.next().is_some_and(|rest| rest.starts_with("core.") && !rest.contains('/'))
}
