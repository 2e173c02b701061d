//! Shared Key and Shared Key Lite, from the service's page "Authorize with Shared Key". The server's own code is another,
//! so that the two check each other.

use std::borrow::Cow;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::{ACCOUNT, KEY};

/// From this version on, the length of an empty body is signed as nothing.
const EMPTY_LENGTH: &str = "2015-02-21";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    SharedKey,
    SharedKeyLite,
}

impl Scheme {
    pub fn name(self) -> &'static str {
        match self {
            Self::SharedKey => "SharedKey",
            Self::SharedKeyLite => "SharedKeyLite",
        }
    }
}

/// Which services sign alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    BlobQueueFile,
    /// Signs less: neither the length nor an `x-ms-` header, and of the query only `comp`.
    Table,
}

/// What of a request is signed, in any order.
#[derive(Clone, Copy, Debug)]
pub struct Signable<'a> {
    pub method: &'a str,
    /// As it is sent.
    pub path: &'a str,
    /// Decoded.
    pub query: &'a [(&'a str, &'a str)],
    pub headers: &'a [(&'a str, &'a str)],
}

impl Signable<'_> {
    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.trim())
    }
}

/// Names and values of a query as it is sent.
pub fn decode_query(raw: &str) -> Vec<(String, String)> {
    let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let pairs = raw.split('&').filter(|part| !part.is_empty());
    pairs
        .map(|part| part.split_once('=').unwrap_or((part, "")))
        .map(|(n, v)| (decode(n), decode(v)))
        .collect()
}

/// The headers are sorted by byte, as most clients do.
pub fn string_to_sign(scheme: Scheme, form: Form, account: &str, request: &Signable<'_>) -> String {
    let mut text = String::with_capacity(512);
    let mut line = |value: &str| {
        text.push_str(value);
        text.push('\n');
    };
    let header = |name| request.header(name);
    let date = if header("x-ms-date").is_empty() { header("date") } else { header("x-ms-date") };
    // Signed among the other `x-ms-` headers when it is one of them.
    let own_date = if header("x-ms-date").is_empty() { date } else { "" };
    match (scheme, form) {
        (Scheme::SharedKey, Form::BlobQueueFile) => {
            line(request.method);
            line(header("content-encoding"));
            line(header("content-language"));
            line(match header("content-length") {
                "0" if header("x-ms-version") >= EMPTY_LENGTH => "",
                length => length,
            });
            line(header("content-md5"));
            line(header("content-type"));
            line(own_date);
            line(header("if-modified-since"));
            line(header("if-match"));
            line(header("if-none-match"));
            line(header("if-unmodified-since"));
            line(header("range"));
        }
        (Scheme::SharedKeyLite, Form::BlobQueueFile) => {
            [request.method, header("content-md5"), header("content-type"), own_date]
                .into_iter()
                .for_each(line);
        }
        (Scheme::SharedKey, Form::Table) => {
            [request.method, header("content-md5"), header("content-type"), date].into_iter().for_each(line);
        }
        (Scheme::SharedKeyLite, Form::Table) => line(date),
    }
    if form == Form::BlobQueueFile {
        canonical_headers(&mut text, request);
    }
    text.push('/');
    text.push_str(account);
    text.push_str(request.path);
    if (scheme, form) == (Scheme::SharedKey, Form::BlobQueueFile) {
        canonical_query(&mut text, request);
    } else if let Some((_, comp)) = request.query.iter().find(|(name, _)| *name == "comp") {
        text.push_str("?comp=");
        text.push_str(comp);
    }
    text
}

fn lower(name: &str) -> Cow<'_, str> {
    match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => name.to_ascii_lowercase().into(),
        false => name.into(),
    }
}

fn canonical_headers(text: &mut String, request: &Signable<'_>) {
    let headers = request.headers.iter().map(|(name, value)| (lower(name), *value));
    let mut own: Vec<(Cow<'_, str>, &str)> = headers.filter(|(name, _)| name.starts_with("x-ms-")).collect();
    own.sort_unstable();
    for (name, value) in own {
        text.extend([&name, ":", value.trim(), "\n"]);
    }
}

/// The values of one name are sorted and joined by commas.
fn canonical_query(text: &mut String, request: &Signable<'_>) {
    let mut pairs: Vec<(Cow<'_, str>, &str)> =
        request.query.iter().map(|(name, value)| (lower(name), *value)).collect();
    pairs.sort_unstable();
    let mut previous = None;
    for (name, value) in &pairs {
        match previous == Some(name) {
            true => text.extend([",", value]),
            false => text.extend(["\n", name, ":", value]),
        }
        previous = Some(name);
    }
}

/// One of the keys of an account.
#[derive(Clone)]
pub struct Key(hmac::Key);

impl Key {
    /// # Panics
    /// If it is no base64.
    pub fn new(base64: &str) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, &BASE64_STANDARD.decode(base64).expect("a key in base64")))
    }

    /// The signature of a text, in base64.
    pub fn sign(&self, text: &str) -> String {
        BASE64_STANDARD.encode(hmac::sign(&self.0, text.as_bytes()))
    }
}

/// Signs requests with Shared Key. The benchmark signs in its measured loops, so this allocates the texts and two lists,
/// and nothing for each header.
#[derive(Clone)]
pub struct Signer {
    account: String,
    key: Key,
    form: Form,
}

impl Signer {
    pub fn new(account: &str, key: &str, form: Form) -> Self {
        Self { account: account.to_owned(), key: Key::new(key), form }
    }

    /// For blobs, queues and files of the development account.
    pub fn development() -> Self {
        Self::new(ACCOUNT, KEY, Form::BlobQueueFile)
    }

    /// For tables of the development account.
    pub fn table() -> Self {
        Self::new(ACCOUNT, KEY, Form::Table)
    }

    /// The value of the header `Authorization`.
    pub fn authorization(&self, request: &Signable<'_>) -> String {
        let text = string_to_sign(Scheme::SharedKey, self.form, &self.account, request);
        format!("SharedKey {}:{}", self.account, self.key.sign(&text))
    }
}

#[cfg(test)]
mod tests;
