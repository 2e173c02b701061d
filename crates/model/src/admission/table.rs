//! If-Match of table entities.

use crate::error::{ErrorCode, Failure};
use crate::operation::Policy;
use crate::time::Timestamp;

use super::Admitted;

/// The value of If-Match on an entity. A weak ETag is opaque: it is compared letter by letter with what
/// was issued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntityMatch {
    Any,
    ETag(String),
}

impl EntityMatch {
    /// `*`, or `W/"…"` with anything inside: nonsense there is well-formed and matches nothing.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let text = text.trim();
        if text == "*" {
            return Ok(Self::Any);
        }
        let inner = text.strip_prefix("W/\"").and_then(|rest| rest.strip_suffix('"'));
        if inner.is_some_and(|inner| !inner.contains('"')) {
            return Ok(Self::ETag(text.to_owned()));
        }
        let message = format!(
            "The etag value '{text}' specified in one of the request headers is not valid. \
             Please make sure only one etag value is specified and is valid."
        );
        Err(Failure::new(ErrorCode::InvalidInput).with_message(message))
    }

    fn matches(&self, timestamp: Timestamp) -> bool {
        match self {
            Self::Any => true,
            Self::ETag(text) => *text == entity_etag(timestamp),
        }
    }
}

/// `W/"datetime'2021-03-23T18%3A28%3A39.049482Z'"`: the Timestamp, its colons encoded.
pub fn entity_etag(timestamp: Timestamp) -> String {
    format!("W/\"datetime'{}'\"", timestamp.iso_trimmed().replace(':', "%3A"))
}

pub trait Entity {
    fn timestamp(&self) -> Timestamp;
}

/// The same gate as [`admit`](super::admit), for an entity. That the table exists was found out before:
/// its absence outranks even a missing If-Match.
pub fn admit_entity<R: Entity>(
    policy: &Policy,
    given: Option<&EntityMatch>,
    record: Option<R>,
    now: Timestamp,
) -> Result<Admitted<R>, Failure> {
    if policy.needs_match && given.is_none() {
        return Err(Failure::missing_header("If-Match"));
    }
    match (&record, given) {
        (Some(_), _) if policy.only_creates => return Err(ErrorCode::EntityAlreadyExists.into()),
        // With an If-Match nothing is ever inserted.
        (None, Some(_)) if !policy.only_creates => return Err(ErrorCode::ResourceNotFound.into()),
        (None, None) if !policy.creates => return Err(ErrorCode::ResourceNotFound.into()),
        (Some(entity), Some(wanted)) if !wanted.matches(entity.timestamp()) => {
            return Err(ErrorCode::UpdateConditionNotSatisfied.into());
        }
        _ => {}
    }
    Ok(Admitted { record, noun: "entity", now })
}
