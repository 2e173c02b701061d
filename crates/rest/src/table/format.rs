//! How much an answer says about its types, and whether it repeats what was sent.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::version::ApiVersion;

use crate::head::Head;
use crate::headers;
use crate::reply::Reply;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    NoMetadata,
    Minimal,
    Full,
}

impl Level {
    /// From `$format`, else from `Accept`, else minimal.
    pub fn of(head: &Head) -> Result<Self, Failure> {
        let given = head.query("$format").or_else(|| head.header(headers::ACCEPT));
        let level = given.map_or(Ok(Level::Minimal), Self::parse)?;
        if head.version < ApiVersion::V2013_08_15 {
            return Err(ErrorCode::JsonFormatNotSupported.into());
        }
        Ok(level)
    }

    /// Of a list of media types, the first one of JSON.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let mut atom = false;
        for range in text.split(',') {
            let mut parts = range.split(';').map(|part| part.trim().to_ascii_lowercase());
            let media = parts.next().unwrap_or_default();
            match media.as_str() {
                "application/json" | "json" => {
                    let level = parts.find_map(|part| part.strip_prefix("odata=").map(str::to_owned));
                    return match level.as_deref() {
                        None | Some("minimalmetadata") => Ok(Level::Minimal),
                        Some("nometadata") => Ok(Level::NoMetadata),
                        Some("fullmetadata") => Ok(Level::Full),
                        Some(_) => Err(ErrorCode::MediaTypeNotSupported.into()),
                    };
                }
                "*/*" | "application/*" | "" => return Ok(Level::Minimal),
                "application/atom+xml" | "application/xml" | "atom" => atom = true,
                _ => {}
            }
        }
        let code = if atom { ErrorCode::AtomFormatNotSupported } else { ErrorCode::MediaTypeNotSupported };
        Err(code.into())
    }

    pub fn content_type(self) -> &'static str {
        match self {
            Level::NoMetadata => "application/json; odata=nometadata; streaming=true; charset=utf-8",
            Level::Minimal => "application/json; odata=minimalmetadata; streaming=true; charset=utf-8",
            Level::Full => "application/json; odata=fullmetadata; streaming=true; charset=utf-8",
        }
    }
}

/// `Prefer`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preference {
    Unsaid,
    Content,
    NoContent,
}

impl Preference {
    pub fn of(head: &Head) -> Self {
        match head.header(headers::PREFER) {
            Some(text) if text.eq_ignore_ascii_case("return-content") => Self::Content,
            Some(text) if text.eq_ignore_ascii_case("return-no-content") => Self::NoContent,
            _ => Self::Unsaid,
        }
    }

    pub fn wants_content(self) -> bool {
        self != Self::NoContent
    }

    pub fn applied(self, reply: Reply) -> Reply {
        match self {
            Self::Unsaid => reply,
            Self::Content => reply.header(headers::PREFERENCE_APPLIED, "return-content"),
            Self::NoContent => reply.header(headers::PREFERENCE_APPLIED, "return-no-content"),
        }
    }
}
