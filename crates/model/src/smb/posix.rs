//! What an NFS client sees of a directory or file: `x-ms-mode` and `x-ms-file-file-type`.

use std::fmt;

/// `x-ms-mode`: the twelve permission bits, as four octal digits (`0755`) or as letters (`rwxr-xr-x`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileMode(u16);

const MODE_MAX: u16 = 0o7777;

impl FileMode {
    pub const fn bits(self) -> u16 {
        self.0
    }

    pub fn from_bits(bits: u16) -> Option<Self> {
        (bits <= MODE_MAX).then_some(Self(bits))
    }

    /// Three or four octal digits, or nine letters.
    pub fn parse(text: &str) -> Option<Self> {
        let octal = matches!(text.len(), 3 | 4) && text.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
        if octal {
            return u16::from_str_radix(text, 8).ok().and_then(Self::from_bits);
        }
        let letters: [u8; 9] = text.as_bytes().try_into().ok()?;
        let mut bits = 0;
        for (class, letters) in letters.chunks(3).enumerate() {
            let &[read, write, run] = letters else { return None };
            // The owner's, the group's, everybody's.
            let shift = 6 - 3 * class;
            let special = 0o4000 >> class;
            let (runs, is_special) = match (run, class) {
                (b'x', _) => (1, false),
                (b'-', _) => (0, false),
                (b's', 0 | 1) | (b't', 2) => (1, true),
                (b'S', 0 | 1) | (b'T', 2) => (0, true),
                _ => return None,
            };
            let flag = |letter: u8, wanted: u8, bit: u16| match letter {
                b'-' => Some(0),
                letter if letter == wanted => Some(bit),
                _ => None,
            };
            bits |= (flag(read, b'r', 4)? | flag(write, b'w', 2)? | runs) << shift;
            bits |= if is_special { special } else { 0 };
        }
        Some(Self(bits))
    }
}

/// Four octal digits.
impl fmt::Display for FileMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04o}", self.0)
    }
}

/// What a request wants of an owner, a group and a mode: those that it names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PosixWishes {
    pub owner: Option<u32>,
    pub group: Option<u32>,
    pub mode: Option<FileMode>,
}

impl PosixWishes {
    pub const NONE: PosixWishes = PosixWishes { owner: None, group: None, mode: None };
}

/// `x-ms-file-file-type`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileType {
    Regular,
    Directory,
    SymLink,
}

impl FileType {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Regular => "Regular",
            Self::Directory => "Directory",
            Self::SymLink => "SymLink",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Regular, Self::Directory, Self::SymLink]
            .into_iter()
            .find(|kind| kind.as_str().eq_ignore_ascii_case(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_digits_or_letters() {
        for (text, bits) in [
            ("0755", 0o755),
            ("755", 0o755),
            ("7777", 0o7777),
            ("rwxr-xr-x", 0o755),
            ("rw-r-----", 0o640),
            ("rwsr-sr-t", 0o7755),
            ("rwSr-Sr-T", 0o7644),
            ("---------", 0),
        ] {
            assert_eq!(FileMode::parse(text).map(FileMode::bits), Some(bits), "{text}");
        }
        for text in
            ["", "75", "0855", "00755", "rwxrwxrwxrwx", "wrxr-xr-x", "rwxr-xr-s", "rwtr-xr-x", "+755", "rwx"]
        {
            assert_eq!(FileMode::parse(text), None, "{text}");
        }
        assert_eq!(FileMode::parse("rw-r--r--").unwrap().to_string(), "0644");
    }

    #[test]
    fn every_mode_comes_back() {
        for bits in 0..=MODE_MAX {
            let mode = FileMode::from_bits(bits).unwrap();
            assert_eq!(FileMode::parse(&mode.to_string()), Some(mode));
        }
        assert_eq!(FileMode::from_bits(0o10000), None);
    }

    #[test]
    fn types_come_back() {
        for kind in [FileType::Regular, FileType::Directory, FileType::SymLink] {
            assert_eq!(FileType::parse(&kind.as_str().to_lowercase()), Some(kind));
        }
        assert_eq!(FileType::parse("Socket"), None);
    }
}
