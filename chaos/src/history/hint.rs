//! What ETags tell of the order in which a subject was changed and seen.
//!
//! The server makes an ETag from the moment of a change, and those of one part of a subject grow. Of two parts they tell
//! little, because a change is committed some time after its moment. The search for an order is led by these hints and
//! believes only the model, so an ETag that lies costs time and nothing else.

use std::time::{Duration, SystemTime};

use lazuli_model::etag::ETag;
use lazuli_model::time::Timestamp;

use crate::arena::Moment;

/// No subject has more parts: entities of a partition, names of a directory.
pub const PARTS: usize = 3;

/// Of each part of the subject.
pub type Hints = [Option<Hint>; PARTS];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The operation changed the part at this moment.
    Made(Moment),
    /// The operation found the part as the change of this moment left it.
    Seen(Moment),
}

impl Hint {
    /// Of the change that made the part, or left it as it was found.
    pub fn moment(self) -> Moment {
        self.place().0
    }

    /// The order of hints on one part: a change comes before those who find what it left.
    pub fn place(self) -> (Moment, bool) {
        match self {
            Self::Made(at) => (at, false),
            Self::Seen(at) => (at, true),
        }
    }
}

/// `kind`: what an answer with these ETags says of their parts.
pub fn read(
    etags: impl IntoIterator<Item = (usize, String)>,
    kind: fn(Moment) -> Hint,
    moment_of: impl Fn(SystemTime) -> Moment,
) -> Hints {
    let mut hints = Hints::default();
    for (part, etag) in etags {
        if let (Some(hint), Some(time)) = (hints.get_mut(part), time_of(&etag)) {
            *hint = Some(kind(moment_of(time)));
        }
    }
    hints
}

/// Of a blob or a file the ticks in hexadecimal, of an entity the time as text.
fn time_of(etag: &str) -> Option<SystemTime> {
    let timestamp = match etag.strip_prefix("W/\"datetime'") {
        Some(time) => Timestamp::parse_iso(&time.strip_suffix("'\"")?.replace("%3A", ":"))?,
        None => ETag::parse(etag.trim_matches('"'))?.timestamp(),
    };
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(timestamp.to_unix_ticks().saturating_mul(100)))
}

#[cfg(test)]
mod tests;
