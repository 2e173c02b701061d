//! One account SAS for everything: no request has to be signed, and none depends on the server's clock.

use std::sync::OnceLock;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::wire::Request;

pub const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

const PERMISSIONS: &str = "rwdlacup";
const SERVICES: &str = "bqt";
const RESOURCES: &str = "sco";
const VERSION: &str = "2023-11-03";
const EXPIRY: &str = "2199-01-01";

pub fn sas() -> &'static str {
    static SAS: OnceLock<String> = OnceLock::new();
    SAS.get_or_init(|| {
        // account, permissions, services, resource types, start, expiry, address, protocol, version, scope
        let text =
            format!("{ACCOUNT}\n{PERMISSIONS}\n{SERVICES}\n{RESOURCES}\n\n{EXPIRY}\n\n\n{VERSION}\n\n");
        let key = hmac::Key::new(hmac::HMAC_SHA256, &BASE64_STANDARD.decode(KEY).unwrap_or_default());
        let signature = BASE64_STANDARD.encode(hmac::sign(&key, text.as_bytes()));
        let signature = signature.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
        format!("sv={VERSION}&ss={SERVICES}&srt={RESOURCES}&sp={PERMISSIONS}&se={EXPIRY}&sig={signature}")
    })
}

/// To any of the services: path and query below the account, and the SAS.
pub fn signed(method: &'static str, path: &str, query: &str) -> Request {
    let and = if query.is_empty() { "" } else { "&" };
    let target = format!("/{ACCOUNT}/{path}?{query}{and}{}", sas());
    Request { method, target, headers: vec![("x-ms-version", VERSION.to_owned())], ..Request::default() }
}
