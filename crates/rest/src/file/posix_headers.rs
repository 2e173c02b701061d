//! The headers that say what an NFS client sees of a directory or file, both ways.

use lazuli_model::error::Failure;
use lazuli_model::smb::{FileMode, FileType, PosixWishes};

use crate::head::Head;
use crate::headers;
use crate::reply::Reply;

/// `x-ms-owner`, `x-ms-group` and `x-ms-mode`, those that were sent.
pub fn wishes(head: &Head) -> Result<PosixWishes, Failure> {
    const MODE: &str = headers::X_MS_MODE;
    let mode = match head.header(MODE) {
        None => None,
        Some(text) => Some(FileMode::parse(text).ok_or_else(|| Failure::invalid_header(MODE, text))?),
    };
    Ok(PosixWishes {
        owner: head.number(headers::X_MS_OWNER)?,
        group: head.number(headers::X_MS_GROUP)?,
        mode,
    })
}

/// `x-ms-file-file-type`, if it was sent.
pub fn file_type(head: &Head) -> Result<Option<FileType>, Failure> {
    const NAME: &str = headers::X_MS_FILE_FILE_TYPE;
    match head.header(NAME) {
        None => Ok(None),
        Some(text) => FileType::parse(text).map(Some).ok_or_else(|| Failure::invalid_header(NAME, text)),
    }
}

/// What answers about a directory or file of an NFS share tell of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PosixProperties {
    pub owner: u32,
    pub group: u32,
    pub mode: FileMode,
    pub file_type: FileType,
    /// Of files.
    pub link_count: Option<u64>,
}

impl PosixProperties {
    pub fn tell(&self, reply: Reply) -> Reply {
        reply
            .header(headers::X_MS_OWNER, self.owner.to_string())
            .header(headers::X_MS_GROUP, self.group.to_string())
            .header(headers::X_MS_MODE, self.mode.to_string())
            .header(headers::X_MS_FILE_FILE_TYPE, self.file_type.as_str())
            .maybe(headers::X_MS_LINK_COUNT, self.link_count.map(|count| count.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::head;

    #[test]
    fn owner_group_and_mode_are_read() {
        let sent = head(&[("x-ms-owner", "1000"), ("x-ms-group", "0"), ("x-ms-mode", "rwxr-x---")]);
        let read = wishes(&sent).unwrap();
        assert_eq!(
            (read.owner, read.group, read.mode.map(FileMode::bits)),
            (Some(1000), Some(0), Some(0o750))
        );
        assert_eq!(wishes(&head(&[])).unwrap(), PosixWishes::default());
        for (name, value) in [("x-ms-owner", "root"), ("x-ms-group", "-1"), ("x-ms-mode", "999")] {
            let failure = wishes(&head(&[(name, value)])).unwrap_err();
            assert_eq!(failure.details, [("HeaderName", name.to_owned()), ("HeaderValue", value.to_owned())]);
        }
        assert_eq!(file_type(&head(&[("x-ms-file-file-type", "symlink")])).unwrap(), Some(FileType::SymLink));
        assert!(file_type(&head(&[("x-ms-file-file-type", "pipe")])).is_err());
    }
}
