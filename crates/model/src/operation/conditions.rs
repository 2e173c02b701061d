//! The set of conditions that an operation honours.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions(u16);

impl Conditions {
    pub const NONE: Conditions = Conditions(0);
    pub const IF_MATCH: Conditions = Conditions(1);
    pub const IF_NONE_MATCH: Conditions = Conditions(1 << 1);
    pub const IF_MODIFIED_SINCE: Conditions = Conditions(1 << 2);
    pub const IF_UNMODIFIED_SINCE: Conditions = Conditions(1 << 3);
    /// `x-ms-if-tags`
    pub const TAGS: Conditions = Conditions(1 << 4);
    /// `x-ms-if-sequence-number-le`, `-lt`, `-eq`
    pub const SEQUENCE: Conditions = Conditions(1 << 5);
    /// `x-ms-blob-condition-appendpos`
    pub const APPEND_POSITION: Conditions = Conditions(1 << 6);
    /// `x-ms-blob-condition-maxsize`
    pub const MAX_SIZE: Conditions = Conditions(1 << 7);
    /// `x-ms-access-tier-if-modified-since`, `-if-unmodified-since`
    pub const TIER_TIME: Conditions = Conditions(1 << 8);
    /// The four HTTP conditions come as `x-ms-blob-if-*`.
    pub const BLOB_PREFIXED: Conditions = Conditions(1 << 9);

    /// E of the contract: If-Match and If-None-Match.
    pub const E: Conditions = Self::IF_MATCH.and(Self::IF_NONE_MATCH);
    /// T: both dates.
    pub const T: Conditions = Self::IF_MODIFIED_SINCE.and(Self::IF_UNMODIFIED_SINCE);
    pub const ET: Conditions = Self::E.and(Self::T);
    /// The usual set of a blob operation: E, T and x-ms-if-tags.
    pub const ETG: Conditions = Self::ET.and(Self::TAGS);

    #[must_use]
    pub const fn and(self, other: Conditions) -> Conditions {
        Conditions(self.0 | other.0)
    }

    pub const fn has(self, other: Conditions) -> bool {
        self.0 & other.0 == other.0
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The single conditions with their letters, in the order in which they are printed.
    pub const LETTERS: [(Conditions, char); 10] = [
        (Self::IF_MATCH, 'M'),
        (Self::IF_NONE_MATCH, 'N'),
        (Self::IF_MODIFIED_SINCE, 'I'),
        (Self::IF_UNMODIFIED_SINCE, 'U'),
        (Self::TAGS, 'G'),
        (Self::SEQUENCE, 'Q'),
        (Self::APPEND_POSITION, 'P'),
        (Self::MAX_SIZE, 'X'),
        (Self::TIER_TIME, 'A'),
        (Self::BLOB_PREFIXED, 'B'),
    ];
}

/// Letters; E stands for M and N together, T for I and U.
impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters: String =
            Self::LETTERS.iter().filter(|(one, _)| self.has(*one)).map(|(_, letter)| letter).collect();
        f.write_str(&letters.replace("MN", "E").replace("IU", "T"))
    }
}
