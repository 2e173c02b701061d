//! What a request is told whose credentials do not do.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Op, Row, Service};
use lazuli_model::version::Feature;

use crate::head::Head;

/// 403 AuthenticationFailed, with the reason in the body as the service gives it.
pub fn denied(detail: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::AuthenticationFailed).detail("AuthenticationErrorDetail", detail)
}

/// 400: the Authorization header cannot be read.
pub fn malformed(cause: &'static str) -> Failure {
    Failure::new(ErrorCode::InvalidAuthenticationInfo).cause(cause)
}

/// 401: the token was read and is not good. The answer carries the challenge.
pub fn bad_token(detail: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::InvalidAuthenticationInfo)
        .with_status(401)
        .with_message(ErrorCode::NoAuthenticationInformation.message())
        .detail("AuthenticationErrorDetail", detail)
}

pub fn unknown_account(name: &str) -> Failure {
    denied(format!("Cannot find the claimed account when trying to GetProperties for the account {name}."))
}

/// The string that the server would have signed goes back, for it helps whoever writes a client; the
/// signature of it never does.
pub fn wrong_signature(given: &str, string_to_sign: &[u8]) -> Failure {
    denied(format!(
        "The MAC signature found in the HTTP request '{given}' is not the same as any computed signature. \
         Server used following string to sign: '{}'.",
        String::from_utf8_lossy(string_to_sign)
    ))
}

pub fn wrong_sas_signature(string_to_sign: &str) -> Failure {
    denied(format!("Signature did not match. String to sign used was {string_to_sign}"))
}

/// Nobody asks, and the resource is not public. What is said does not depend on whether it exists.
pub fn no_credentials(row: &Row, head: &Head) -> Failure {
    let challenged = match head.target.service {
        Service::Blob => head.version.has(Feature::AuthenticationChallenge) && !tells_account(row.op),
        Service::Queue => head.version.has(Feature::AuthenticationChallenge),
        Service::Table if head.version.has(Feature::TableAuthenticationChallenge) => true,
        Service::File => false,
        // Before the challenge, the Table service said so too (recorded at 2019-07-07).
        Service::Table | Service::Dfs => return ErrorCode::AuthenticationFailed.into(),
    };
    if challenged {
        ErrorCode::NoAuthenticationInformation.into()
    } else {
        ErrorCode::ResourceNotFound.into()
    }
}

fn tells_account(op: Op) -> bool {
    matches!(
        op,
        Op::GetAccountInformation | Op::GetAccountInformationOfContainer | Op::GetAccountInformationOfBlob
    )
}

/// Refused before a version took effect: such answers carry no `x-ms-version` (recorded).
pub fn hides_version(failure: &Failure) -> bool {
    matches!(
        failure.code,
        ErrorCode::InvalidAuthenticationInfo
            | ErrorCode::AccountRequiresHttps
            | ErrorCode::AuthorizationServiceMismatch
    )
}

/// The value of `WWW-Authenticate`, which clients take apart to learn where to get a token.
pub fn challenge(tenant: &str) -> String {
    format!(
        "Bearer authorization_uri=https://login.microsoftonline.com/{tenant}/oauth2/authorize \
         resource_id=https://storage.azure.com"
    )
}

/// Answers with status 401 carry the challenge.
pub fn wants_challenge(failure: &Failure) -> bool {
    // Where the source of a copy wants a credential, another one for the request itself would not help.
    failure.status() == 401 && failure.code != ErrorCode::CannotVerifyCopySource
}
