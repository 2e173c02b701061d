//! SharedKey signatures, from the service's reference page "Authorize with Shared Key". Written apart from the
//! server's own, so that the two check each other.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The development account, whose key everybody knows.
pub const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

pub struct Signer {
    key: hmac::Key,
}

/// What of a request is signed. `headers` are the `x-ms-` ones, sorted, the date among them.
pub struct Signed<'a> {
    pub method: &'a str,
    pub length: usize,
    pub if_match: &'a str,
    pub range: &'a str,
    pub headers: &'a [(&'a str, &'a str)],
    /// Path after the account, beginning with a slash.
    pub path: &'a str,
    /// Sorted by name, values not encoded.
    pub query: &'a [(&'a str, &'a str)],
}

impl Signer {
    pub fn new() -> Self {
        let key = STANDARD.decode(KEY).unwrap_or_default();
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, &key) }
    }

    pub fn authorization(&self, signed: &Signed<'_>) -> String {
        let text = string_to_sign(signed);
        let signature = STANDARD.encode(hmac::sign(&self.key, text.as_bytes()));
        format!("SharedKey {ACCOUNT}:{signature}")
    }
}

fn string_to_sign(signed: &Signed<'_>) -> String {
    let length = if signed.length == 0 { String::new() } else { signed.length.to_string() };
    // Encoding, language | length | MD5, type, date, modified since | match | none match, unmodified since | range.
    let mut text =
        format!("{}\n\n\n{length}\n\n\n\n\n{}\n\n\n{}\n", signed.method, signed.if_match, signed.range);
    for (name, value) in signed.headers {
        text.push_str(&format!("{name}:{value}\n"));
    }
    // The account stands twice: once as itself, once as the first part of a path-style address.
    text.push_str(&format!("/{ACCOUNT}/{ACCOUNT}{}", signed.path));
    for (name, value) in signed.query {
        text.push_str(&format!("\n{name}:{value}"));
    }
    text
}
