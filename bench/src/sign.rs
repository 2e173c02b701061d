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
    /// The Table service signs less.
    table: bool,
}

/// What of a request is signed. `headers` are the `x-ms-` ones, sorted, the date among them.
pub struct Signed<'a> {
    pub method: &'a str,
    pub length: usize,
    pub content_type: &'a str,
    pub if_match: &'a str,
    pub range: &'a str,
    pub headers: &'a [(&'a str, &'a str)],
    /// Path after the account, beginning with a slash.
    pub path: &'a str,
    /// Sorted by name, values not encoded.
    pub query: &'a [(&'a str, &'a str)],
}

impl Signer {
    /// For blobs and queues.
    pub fn new() -> Self {
        let key = STANDARD.decode(KEY).unwrap_or_default();
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, &key), table: false }
    }

    pub fn table() -> Self {
        Self { table: true, ..Self::new() }
    }

    pub fn authorization(&self, signed: &Signed<'_>) -> String {
        let text = if self.table { string_to_sign_of_table(signed) } else { string_to_sign(signed) };
        let signature = STANDARD.encode(hmac::sign(&self.key, text.as_bytes()));
        format!("SharedKey {ACCOUNT}:{signature}")
    }
}

fn string_to_sign(signed: &Signed<'_>) -> String {
    let length = if signed.length == 0 { String::new() } else { signed.length.to_string() };
    // Encoding, language | length | MD5, type, date, modified since | match | none match, unmodified since | range.
    let Signed { method, content_type, if_match, range, .. } = signed;
    let mut text = format!("{method}\n\n\n{length}\n\n{content_type}\n\n\n{if_match}\n\n\n{range}\n");
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

/// Neither the length nor a condition is signed: one signature serves many bodies. Of the query only `comp` is, which
/// no workload asks for.
fn string_to_sign_of_table(signed: &Signed<'_>) -> String {
    let Signed { method, content_type, headers, path, .. } = signed;
    let date = headers.iter().find(|(name, _)| *name == "x-ms-date").map_or("", |(_, date)| date);
    format!("{method}\n\n{content_type}\n{date}\n/{ACCOUNT}/{ACCOUNT}{path}")
}
