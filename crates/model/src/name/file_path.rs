//! Paths of directories and files inside a share (file.md section 2).

use std::fmt;

use crate::error::{ErrorCode, Failure};

/// UTF-16 code units of one name.
const NAME_MAX: usize = 255;
/// UTF-16 code units of a whole path, its separators included.
const PATH_MAX: usize = 2048;
/// Names of a path.
pub const DEPTH_MAX: usize = 250;
const FORBIDDEN: [char; 9] = ['"', '\\', '/', ':', '|', '<', '>', '*', '?'];
const RESERVED: [&str; 5] = ["CON", "PRN", "AUX", "NUL", "CLOCK$"];

/// What becomes of dots at the end of a name: they are cut off, unless the request says that they count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrailingDots {
    CutOff,
    Kept,
}

/// The names on the way from the root of a share to a directory or file; none for the root itself. Every name is good.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct FilePath(Vec<String>);

impl FilePath {
    pub const ROOT: FilePath = FilePath(Vec::new());

    /// A path as decoded from an address. A slash at its end says nothing.
    pub fn parse(text: &str, dots: TrailingDots) -> Result<Self, Failure> {
        let text = text.strip_suffix('/').unwrap_or(text);
        if text.is_empty() {
            return Ok(Self::ROOT);
        }
        if text.encode_utf16().count() > PATH_MAX || text.split('/').count() > DEPTH_MAX {
            return Err(ErrorCode::InvalidFileOrDirectoryPathName.into());
        }
        text.split('/').map(|name| file_name(name, dots)).collect::<Result<_, _>>().map(Self)
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// From the root down.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// The last name; `None` for the root.
    pub fn name(&self) -> Option<&str> {
        self.0.last().map(String::as_str)
    }

    /// The directory that holds it; `None` for the root.
    pub fn parent(&self) -> Option<FilePath> {
        self.0.split_last().map(|(_, above)| Self(above.to_vec()))
    }
}

/// With slashes between the names; empty for the root.
impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("/"))
    }
}

/// One name of a directory or file, as it will be kept.
pub fn file_name(name: &str, dots: TrailingDots) -> Result<String, Failure> {
    let kept = match dots {
        TrailingDots::Kept => name,
        TrailingDots::CutOff => name.trim_end_matches('.'),
    };
    let bad = kept.is_empty()
        || name == "."
        || name == ".."
        || kept.encode_utf16().count() > NAME_MAX
        || kept.chars().any(|c| c.is_control() || FORBIDDEN.contains(&c))
        || is_reserved(kept);
    if bad { Err(ErrorCode::InvalidResourceName.into()) } else { Ok(kept.to_owned()) }
}

/// Names of devices, which Windows would open in place of the file.
fn is_reserved(name: &str) -> bool {
    let numbered = |device: &str| {
        let rest = name.get(..3).filter(|start| start.eq_ignore_ascii_case(device)).and(name.get(3..));
        matches!(rest.map(str::as_bytes), Some([b'1'..=b'9']))
    };
    RESERVED.iter().any(|device| name.eq_ignore_ascii_case(device)) || numbered("COM") || numbered("LPT")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, dots: TrailingDots) -> Result<String, &'static str> {
        FilePath::parse(text, dots).map(|path| path.to_string()).map_err(|failure| failure.code.name())
    }

    #[test]
    fn a_path_is_its_names() {
        let path = FilePath::parse("dir/sub dir/file.txt", TrailingDots::CutOff).unwrap();
        assert_eq!(path.names(), ["dir", "sub dir", "file.txt"]);
        assert_eq!(
            (path.name(), path.parent().unwrap().to_string()),
            (Some("file.txt"), "dir/sub dir".into())
        );
        assert_eq!(parse("dir/", TrailingDots::CutOff), Ok("dir".into()));
        for root in ["", "/"] {
            let root = FilePath::parse(root, TrailingDots::CutOff).unwrap();
            assert!(root.is_root() && root.parent().is_none() && root.name().is_none());
        }
    }

    #[test]
    fn dots_at_the_end_of_a_name_are_cut_off_or_kept() {
        assert_eq!(parse("dir./file...", TrailingDots::CutOff), Ok("dir/file".into()));
        assert_eq!(parse("dir./file...", TrailingDots::Kept), Ok("dir./file...".into()));
        assert_eq!(parse(".hidden/a.b", TrailingDots::CutOff), Ok(".hidden/a.b".into()));
        assert_eq!(parse("...", TrailingDots::CutOff), Err("InvalidResourceName"));
        assert_eq!(parse("...", TrailingDots::Kept), Ok("...".into()));
    }

    #[test]
    fn names_that_cannot_be() {
        for dots in [TrailingDots::CutOff, TrailingDots::Kept] {
            for name in [
                ".", "..", "a/../b", "a//b", "//", "a\\b", "a:b", "a|b", "a<b", "a>b", "a*b", "a?b", "a\"b",
                "a\tb", "a\u{7f}", "con", "PRN", "Aux", "nul", "CLOCK$", "com1", "LPT9", "dir/CON",
            ] {
                assert_eq!(parse(name, dots), Err("InvalidResourceName"), "{name}");
            }
            for name in
                ["com", "com0", "com10", "console", "é", "CON.txt", "lpté", "a\u{fffe}", "$x", "~", " "]
            {
                assert_eq!(parse(name, dots), Ok(name.into()), "{name}");
            }
        }
    }

    #[test]
    fn names_and_paths_have_limits() {
        assert!(parse(&"é".repeat(255), TrailingDots::CutOff).is_ok());
        assert_eq!(parse(&"é".repeat(256), TrailingDots::CutOff), Err("InvalidResourceName"));
        // A character outside of the first plane is two.
        assert_eq!(parse(&"\u{1f600}".repeat(128), TrailingDots::CutOff), Err("InvalidResourceName"));
        // Eight names of 255 and the slashes between them are 2047.
        let long = vec!["n".repeat(255); 8].join("/");
        assert!(parse(&format!("{long}/"), TrailingDots::CutOff).is_ok());
        assert_eq!(parse(&format!("{long}/nn"), TrailingDots::CutOff), Err("InvalidFileOrDirectoryPathName"));
        assert!(parse(&vec!["d"; 250].join("/"), TrailingDots::CutOff).is_ok());
        assert_eq!(
            parse(&vec!["d"; 251].join("/"), TrailingDots::CutOff),
            Err("InvalidFileOrDirectoryPathName")
        );
    }
}
