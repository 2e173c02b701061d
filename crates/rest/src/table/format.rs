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
        let is = |word: &str, known: &str| word.eq_ignore_ascii_case(known);
        for range in text.split(',') {
            let mut parts = range.split(';').map(str::trim);
            let media = parts.next().unwrap_or_default();
            if is(media, "application/json") || is(media, "json") {
                let level = |part: &&str| part.get(..6).is_some_and(|name| is(name, "odata="));
                return match parts.find(level).and_then(|part| part.get(6..)) {
                    None => Ok(Level::Minimal),
                    Some(level) if is(level, "minimalmetadata") => Ok(Level::Minimal),
                    Some(level) if is(level, "nometadata") => Ok(Level::NoMetadata),
                    Some(level) if is(level, "fullmetadata") => Ok(Level::Full),
                    Some(_) => Err(ErrorCode::MediaTypeNotSupported.into()),
                };
            }
            if ["*/*", "application/*", ""].iter().any(|any| is(media, any)) {
                return Ok(Level::Minimal);
            }
            atom |= ["application/atom+xml", "application/xml", "atom"].iter().any(|old| is(media, old));
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
