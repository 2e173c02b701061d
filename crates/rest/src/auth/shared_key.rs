//! `Authorization: SharedKey` and `SharedKeyLite`: a signature over the request by one of the account's keys.

use std::borrow::Cow;

use http::HeaderValue;
use lazuli_model::error::Failure;
use lazuli_model::operation::Service;
use lazuli_model::time::Timestamp;
use lazuli_model::version::Feature;

use super::accounts::{Accounts, Claimed, Signature};
use super::header_order;
use super::refusal::{denied, malformed, unknown_account, wrong_signature};
use crate::head::Head;
use crate::headers;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    SharedKey,
    SharedKeyLite,
}

const SKEW_SECONDS: i64 = 15 * 60;

/// `target` is the account of the resource; `credentials` is what follows the scheme: `account:signature`.
pub fn verify(
    accounts: &Accounts,
    target: &Claimed,
    scheme: Scheme,
    credentials: &str,
    head: &Head,
    now: Timestamp,
) -> Result<(), Failure> {
    let (name, given) = credentials.split_once(':').ok_or_else(|| malformed("no colon"))?;
    if name.is_empty() || given.is_empty() {
        return Err(malformed("empty account or signature"));
    }
    check_date(head, now)?;
    let name = name.strip_suffix("-secondary").unwrap_or(name);
    let other = (name != target.account.name || !target.known).then(|| accounts.claimed(name));
    let claimed = other.as_ref().unwrap_or(target);
    let signature = Signature::parse(given);
    let forms = Forms::of(head)?;
    let mut first = None;
    let mut matched = false;
    for form in forms.iter() {
        let string = string_to_sign(scheme, head, name, &forms, form);
        matched = claimed.verify(&string, &signature);
        if matched {
            break;
        }
        first.get_or_insert(string);
    }
    if !claimed.known {
        return Err(unknown_account(name));
    }
    if !matched {
        return Err(wrong_signature(given, &first.unwrap_or_default()));
    }
    if name != head.target.account {
        return Err(denied("The account of the Authorization header is not the account of the resource."));
    }
    Ok(())
}

/// A captured request is worth something for a quarter of an hour, not for ever.
fn check_date(head: &Head, now: Timestamp) -> Result<(), Failure> {
    let text = head.header(headers::X_MS_DATE).or_else(|| head.header(headers::DATE));
    let Some(text) = text else {
        return Err(denied("Either the x-ms-date or the Date header is required."));
    };
    let Some(date) = Timestamp::parse_http_date(text).or_else(|| Timestamp::parse_iso(text)) else {
        return Err(denied(format!("The Date header in the request is incorrect: '{text}'.")));
    };
    if date < now.plus_seconds(-SKEW_SECONDS) || date > now.plus_seconds(SKEW_SECONDS) {
        return Err(denied(format!("Request date header too old: '{text}'.")));
    }
    Ok(())
}

/// The `x-ms-*` headers and the ways in which honest clients differ when they write the string.
struct Forms<'a> {
    /// In the service's order.
    headers: Vec<(&'a str, &'a HeaderValue)>,
    byte_order_differs: bool,
    white_space_folds: bool,
    /// The path with the account's primary name, where the secondary was addressed in path style.
    primary_path: Option<String>,
    query_has_words: bool,
}

#[derive(Clone, Copy, Default)]
struct Form {
    byte_order: bool,
    folded: bool,
    primary_path: bool,
    /// A part of the query without `=` is a value of the empty name. The .NET clients up to v11 sign it so, and their Put Page
    /// From URL sends one.
    words_are_values: bool,
}

impl<'a> Forms<'a> {
    fn of(head: &'a Head) -> Result<Self, Failure> {
        let mut headers: Vec<(&str, &HeaderValue)> = Vec::with_capacity(16);
        headers.extend(
            head.headers
                .iter()
                .map(|(name, value)| (name.as_str(), value))
                .filter(|(name, _)| name.starts_with("x-ms-")),
        );
        // The two orders rarely differ, and bytes are compared faster.
        headers.sort_unstable_by_key(|(name, _)| *name);
        // Of a header that comes twice, the one acted by might not be the one signed.
        if let Some(twice) = headers.windows(2).find(|pair| matches!(pair, [(a, _), (b, _)] if a == b)) {
            return Err(Failure::invalid_header(twice.first().map_or("", |(name, _)| *name), ""));
        }
        if !head.version.has(Feature::EmptyHeadersSigned) {
            headers.retain(|(_, value)| !value.is_empty());
        }
        let white_space_folds = headers.iter().any(|(_, value)| folds(value.as_bytes()));
        let byte_order_differs = !headers.is_sorted_by(|(a, _), (b, _)| header_order::compare(a, b).is_le());
        if byte_order_differs {
            headers.sort_unstable_by(|(a, _), (b, _)| header_order::compare(a, b).then_with(|| a.cmp(b)));
        }
        let primary_path = (head.target.secondary && head.target.path_style).then(|| {
            let path = head.raw_path.strip_prefix('/').unwrap_or(&head.raw_path);
            let rest = path.find('/').and_then(|slash| path.get(slash..)).unwrap_or_default();
            format!("/{}{rest}", head.target.account)
        });
        Ok(Self {
            headers,
            byte_order_differs,
            white_space_folds,
            primary_path,
            query_has_words: head.query.has_words(),
        })
    }

    /// The likeliest first. The others exist only where they give another string.
    fn iter(&self) -> impl Iterator<Item = Form> {
        let orders = if self.byte_order_differs { 2 } else { 1 };
        let folds = if self.white_space_folds { 2 } else { 1 };
        let paths = if self.primary_path.is_some() { 2 } else { 1 };
        let words = if self.query_has_words { 2 } else { 1 };
        (0..words).flat_map(move |word| {
            (0..paths).flat_map(move |path| {
                (0..folds).flat_map(move |fold| {
                    (0..orders).map(move |order| Form {
                        byte_order: order == 1,
                        folded: fold == 1,
                        primary_path: path == 1,
                        words_are_values: word == 1,
                    })
                })
            })
        })
    }
}

fn string_to_sign(scheme: Scheme, head: &Head, account: &str, forms: &Forms<'_>, form: Form) -> Vec<u8> {
    let mut out = Vec::with_capacity(768);
    let table = head.target.service == Service::Table;
    match (scheme, table) {
        (Scheme::SharedKey, false) => {
            line(&mut out, head.method.as_str());
            header_line(&mut out, head, headers::CONTENT_ENCODING);
            header_line(&mut out, head, headers::CONTENT_LANGUAGE);
            content_length(&mut out, head);
            header_line(&mut out, head, headers::CONTENT_MD5);
            header_line(&mut out, head, headers::CONTENT_TYPE);
            date_line(&mut out, head);
            header_line(&mut out, head, headers::IF_MODIFIED_SINCE);
            header_line(&mut out, head, headers::IF_MATCH);
            header_line(&mut out, head, headers::IF_NONE_MATCH);
            header_line(&mut out, head, headers::IF_UNMODIFIED_SINCE);
            header_line(&mut out, head, headers::RANGE);
            canonical_headers(&mut out, forms, form);
            canonical_path(&mut out, head, account, forms, form);
            canonical_query(&mut out, head, form);
        }
        (Scheme::SharedKeyLite, false) => {
            line(&mut out, head.method.as_str());
            header_line(&mut out, head, headers::CONTENT_MD5);
            header_line(&mut out, head, headers::CONTENT_TYPE);
            date_line(&mut out, head);
            canonical_headers(&mut out, forms, form);
            canonical_path(&mut out, head, account, forms, form);
            comp(&mut out, head);
        }
        (Scheme::SharedKey, true) => {
            line(&mut out, head.method.as_str());
            header_line(&mut out, head, headers::CONTENT_MD5);
            header_line(&mut out, head, headers::CONTENT_TYPE);
            table_date_line(&mut out, head);
            canonical_path(&mut out, head, account, forms, form);
            comp(&mut out, head);
        }
        (Scheme::SharedKeyLite, true) => {
            table_date_line(&mut out, head);
            canonical_path(&mut out, head, account, forms, form);
            comp(&mut out, head);
        }
    }
    out
}

fn line(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(b'\n');
}

fn header_line(out: &mut Vec<u8>, head: &Head, name: &str) {
    if let Some(value) = head.headers.find(name) {
        out.extend_from_slice(&utf8(value));
    }
    out.push(b'\n');
}

fn content_length(out: &mut Vec<u8>, head: &Head) {
    match head.headers.find(headers::CONTENT_LENGTH) {
        Some(value) if value == "0" && head.version.has(Feature::EmptyContentLengthSigned) => out.push(b'\n'),
        _ => header_line(out, head, headers::CONTENT_LENGTH),
    }
}

/// Empty when `x-ms-date` is sent: that one is signed among the other `x-ms-*` headers.
fn date_line(out: &mut Vec<u8>, head: &Head) {
    if head.headers.holds(headers::X_MS_DATE) {
        out.push(b'\n')
    } else {
        header_line(out, head, headers::DATE)
    }
}

/// The Table service signs no `x-ms-*` header, so the date stands here whichever header it came in.
fn table_date_line(out: &mut Vec<u8>, head: &Head) {
    header_line(
        out,
        head,
        if head.headers.holds(headers::X_MS_DATE) { headers::X_MS_DATE } else { headers::DATE },
    );
}

fn canonical_headers(out: &mut Vec<u8>, forms: &Forms<'_>, form: Form) {
    let mut in_byte_order;
    let headers = if form.byte_order {
        in_byte_order = forms.headers.clone();
        in_byte_order.sort_unstable_by_key(|(name, _)| *name);
        &in_byte_order
    } else {
        &forms.headers
    };
    for (name, value) in headers {
        out.extend_from_slice(name.as_bytes());
        out.push(b':');
        let value = utf8(value);
        if form.folded {
            fold_into(out, &value)
        } else {
            out.extend_from_slice(value.trim_ascii())
        }
        out.push(b'\n');
    }
}

fn canonical_path(out: &mut Vec<u8>, head: &Head, account: &str, forms: &Forms<'_>, form: Form) {
    let path = match &forms.primary_path {
        Some(primary) if form.primary_path => primary,
        _ => &head.raw_path,
    };
    out.push(b'/');
    out.extend_from_slice(account.as_bytes());
    out.extend_from_slice(if path.is_empty() { b"/" } else { path.as_bytes() });
}

/// Parameters by lower-case name, the values of one name sorted and joined by commas.
fn canonical_query(out: &mut Vec<u8>, head: &Head, form: Form) {
    let mut pairs: Vec<(Cow<'_, str>, &str)> = if form.words_are_values {
        head.query.pairs_of_dotnet().map(|(name, value)| (lower(name), value)).collect()
    } else {
        head.query.pairs().map(|(name, value)| (lower(name), value)).collect()
    };
    pairs.sort_unstable();
    let mut previous: Option<&str> = None;
    for (name, value) in &pairs {
        if previous == Some(name) {
            out.push(b',');
        } else {
            out.push(b'\n');
            out.extend_from_slice(name.as_bytes());
            out.push(b':');
        }
        out.extend_from_slice(value.as_bytes());
        previous = Some(name);
    }
}

fn comp(out: &mut Vec<u8>, head: &Head) {
    if let Some(value) = head.query.get("comp") {
        out.extend_from_slice(b"?comp=");
        out.extend_from_slice(value.as_bytes());
    }
}

fn lower(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        name.to_ascii_lowercase().into()
    } else {
        name.into()
    }
}

/// Clients sign text and send bytes: what is no UTF-8 was sent as Latin-1.
fn utf8(value: &HeaderValue) -> Cow<'_, [u8]> {
    let bytes = value.as_bytes();
    if std::str::from_utf8(bytes).is_ok() {
        return bytes.into();
    }
    bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes().into()
}

/// White space that the documented rule would change. Most clients sign it as it is.
fn folds(value: &[u8]) -> bool {
    value.contains(&b'\t') || value.windows(2).any(|pair| pair == b"  ")
}

/// Runs of white space become one space, except between quotes.
fn fold_into(out: &mut Vec<u8>, value: &[u8]) {
    let mut quoted = false;
    let mut space = false;
    for &byte in value.trim_ascii() {
        if byte == b'"' {
            quoted = !quoted;
        }
        if !quoted && (byte == b' ' || byte == b'\t') {
            space = true;
            continue;
        }
        if std::mem::take(&mut space) {
            out.push(b' ');
        }
        out.push(byte);
    }
}
