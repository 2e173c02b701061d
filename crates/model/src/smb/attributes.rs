//! `x-ms-file-attributes`: the file attributes of SMB that the File service keeps.

use std::fmt;

/// Bits as [MS-FSCC] section 2.6 numbers them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct FileAttributes(u32);

/// In the order in which the service prints them (recorded: `ReadOnly | Archive`, `Archive | Temporary`).
const NAMES: [(&str, u32); 10] = [
    ("ReadOnly", 0x0001),
    ("Hidden", 0x0002),
    ("System", 0x0004),
    ("None", 0x0080),
    ("Directory", 0x0010),
    ("Archive", 0x0020),
    ("Temporary", 0x0100),
    ("Offline", 0x1000),
    ("NotContentIndexed", 0x2000),
    ("NoScrubData", 0x0002_0000),
];

impl FileAttributes {
    /// No attribute at all, which prints as `None`.
    pub const NONE: FileAttributes = FileAttributes(0);
    pub const READ_ONLY: FileAttributes = FileAttributes(0x0001);
    pub const HIDDEN: FileAttributes = FileAttributes(0x0002);
    pub const SYSTEM: FileAttributes = FileAttributes(0x0004);
    pub const DIRECTORY: FileAttributes = FileAttributes(0x0010);
    pub const ARCHIVE: FileAttributes = FileAttributes(0x0020);
    pub const TEMPORARY: FileAttributes = FileAttributes(0x0100);
    pub const OFFLINE: FileAttributes = FileAttributes(0x1000);
    pub const NOT_CONTENT_INDEXED: FileAttributes = FileAttributes(0x2000);
    pub const NO_SCRUB_DATA: FileAttributes = FileAttributes(0x0002_0000);

    const NORMAL: u32 = 0x0080;

    /// The attributes among these bits that the service keeps. `NORMAL` says only that there is no other.
    pub fn from_bits(bits: u32) -> Self {
        let known = NAMES.iter().fold(0, |known, (_, bit)| known | bit);
        Self(bits & known & !Self::NORMAL)
    }

    pub const fn bits(self) -> u32 {
        self.0
    }

    pub const fn has(self, other: FileAttributes) -> bool {
        self.0 & other.0 == other.0
    }

    #[must_use]
    pub const fn and(self, other: FileAttributes) -> FileAttributes {
        FileAttributes(self.0 | other.0)
    }

    #[must_use]
    pub const fn without(self, other: FileAttributes) -> FileAttributes {
        FileAttributes(self.0 & !other.0)
    }

    /// Names between bars, in any case, with or without blanks around the bars.
    pub fn parse(text: &str) -> Option<Self> {
        let bit =
            |name: &str| NAMES.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, bit)| *bit);
        let bits = text.split('|').try_fold(0, |bits, name| Some(bits | bit(name.trim())?))?;
        Some(Self::from_bits(bits))
    }
}

impl fmt::Display for FileAttributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> =
            NAMES.iter().filter(|(_, bit)| self.0 & bit != 0).map(|(name, _)| *name).collect();
        match names.is_empty() {
            true => f.write_str("None"),
            false => f.write_str(&names.join(" | ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_forms() {
        for (sent, told) in [
            ("None", "None"),
            ("Archive", "Archive"),
            ("ReadOnly|Archive", "ReadOnly | Archive"),
            ("Archive|Temporary", "Archive | Temporary"),
            ("ReadOnly|Directory", "ReadOnly | Directory"),
            ("readonly | DIRECTORY", "ReadOnly | Directory"),
            ("None|Archive", "Archive"),
        ] {
            assert_eq!(FileAttributes::parse(sent).unwrap().to_string(), told, "{sent}");
        }
    }

    #[test]
    fn every_name_is_its_constant_and_comes_back() {
        let all = FileAttributes::parse(
            "ReadOnly|Hidden|System|Directory|Archive|Temporary|Offline|NotContentIndexed|NoScrubData",
        )
        .unwrap();
        for one in [
            FileAttributes::READ_ONLY,
            FileAttributes::HIDDEN,
            FileAttributes::SYSTEM,
            FileAttributes::DIRECTORY,
            FileAttributes::ARCHIVE,
            FileAttributes::TEMPORARY,
            FileAttributes::OFFLINE,
            FileAttributes::NOT_CONTENT_INDEXED,
            FileAttributes::NO_SCRUB_DATA,
        ] {
            assert!(all.has(one) && !all.without(one).has(one));
            assert_eq!(FileAttributes::parse(&one.to_string()), Some(one));
        }
        assert_eq!(FileAttributes::parse(&all.to_string()), Some(all));
        assert_eq!(FileAttributes::from_bits(u32::MAX), all);
    }

    #[test]
    fn what_is_no_attribute() {
        for text in ["", "|", "Archive|", "ReadOnly,Archive", "Compressed", "ReadOnly Archive"] {
            assert_eq!(FileAttributes::parse(text), None, "{text}");
        }
    }
}
