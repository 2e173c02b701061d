//! What an SMB client sees of a directory or file, as the headers of the File service write it (file.md section 3):
//! attributes, times, ids, and what a request asks to become of each.

mod access;
mod attributes;
mod gmt_token;
mod pattern;
mod posix;
mod wishes;

pub use access::AccessMask;
pub use attributes::FileAttributes;
pub use gmt_token::{gmt_token, parse_gmt_token};
pub use pattern::DosPattern;
pub use posix::{FileMode, FileType, PosixWishes};
pub use wishes::{Permission, SmbWishes};

use crate::time::Timestamp;

/// What a request says of one property. A word that an operation has no use for is a wrong value there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish<T> {
    /// This value.
    Value(T),
    /// `now`: the time at which the service carries out the request.
    Now,
    /// `preserve`: what there is already.
    Preserve,
    /// `inherit`: what the parent directory has.
    Inherit,
    /// `source`: what the source of a copy has.
    Source,
}

impl<T> Wish<T> {
    /// Reads one of the words, in any case, or what `value` makes of the text.
    pub fn parse(text: &str, value: impl FnOnce(&str) -> Option<T>) -> Option<Self> {
        let is = |word: &str| text.eq_ignore_ascii_case(word);
        if is("now") {
            return Some(Self::Now);
        }
        if is("preserve") {
            return Some(Self::Preserve);
        }
        if is("inherit") {
            return Some(Self::Inherit);
        }
        if is("source") {
            return Some(Self::Source);
        }
        value(text).map(Self::Value)
    }

    /// The word, for one that is no value.
    pub fn word(&self) -> Option<&'static str> {
        match self {
            Self::Value(_) => None,
            Self::Now => Some("now"),
            Self::Preserve => Some("preserve"),
            Self::Inherit => Some("inherit"),
            Self::Source => Some("source"),
        }
    }
}

/// A time as the headers have it: ISO 8601 in UTC, with seven digits of a second when printed and up to seven when read.
/// SMB counts from 1601, so nothing before that is a time.
pub fn parse_time(text: &str) -> Option<Timestamp> {
    Timestamp::parse_snapshot(text).filter(|at| *at >= Timestamp::YEAR_1601)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_in_any_case() {
        for (text, word) in
            [("Now", "now"), ("PRESERVE", "preserve"), ("inherit", "inherit"), ("Source", "source")]
        {
            assert_eq!(Wish::<()>::parse(text, |_| None).unwrap().word(), Some(word));
        }
        assert_eq!(Wish::parse("7", |text| text.parse::<u8>().ok()), Some(Wish::Value(7)));
        assert_eq!(Wish::parse("seven", |text| text.parse::<u8>().ok()), None);
    }

    /// As clients were recorded to send them, and what is none.
    #[test]
    fn times_have_up_to_seven_digits() {
        for text in ["2019-08-15T05:15:25.0600000Z", "2019-08-15T05:15:25.06Z"] {
            assert_eq!(parse_time(text).unwrap().iso7(), "2019-08-15T05:15:25.0600000Z");
        }
        assert_eq!(parse_time("2019-08-15T05:15:25Z").unwrap().iso7(), "2019-08-15T05:15:25.0000000Z");
        assert_eq!(parse_time("1601-01-01T00:00:00.0000000Z"), Some(Timestamp::YEAR_1601));
        for text in
            ["1600-12-31T23:59:59Z", "2019-08-15", "2019-08-15T05:15:25", "Thu, 15 Aug 2019 05:15:25 GMT", ""]
        {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }
}
