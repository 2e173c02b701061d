//! The headers that say what an SMB client sees of a directory or file, both ways.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lazuli_model::error::Failure;
use lazuli_model::sddl::{PermissionFormat, PermissionKey, SecurityDescriptor};
use lazuli_model::smb::{FileAttributes, Permission, SmbWishes, Wish, parse_time};
use lazuli_model::time::Timestamp;
use lazuli_model::version::Feature;

use crate::head::Head;
use crate::headers;
use crate::reply::Reply;

/// The longest permission that a header may carry; a longer one is stored with the share first (Create Permission).
const PERMISSION_MAX: usize = 8 * 1024;

/// What the operation does with the properties: it decides what a header may say, and what its absence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    CreateFile,
    CreateDirectory,
    /// Set Properties of a file or directory.
    Set,
    /// Copy File: what is not given is as at the creation of a file.
    Copy,
    /// Rename: what is not given stays.
    Rename,
}

/// Before the headers were made, nothing is read from them. For a while a create had to send all of them.
pub fn wishes(head: &Head, used: Use) -> Result<SmbWishes, Failure> {
    let defaults = defaults(used);
    if !head.version.has(Feature::SmbHeaders) {
        return Ok(defaults);
    }
    let creates = matches!(used, Use::CreateFile | Use::CreateDirectory);
    if creates && !head.version.has(Feature::SmbHeadersOptional) {
        for name in [
            headers::X_MS_FILE_ATTRIBUTES,
            headers::X_MS_FILE_CREATION_TIME,
            headers::X_MS_FILE_LAST_WRITE_TIME,
        ] {
            head.required_header(name)?;
        }
        if head.header(headers::X_MS_FILE_PERMISSION_KEY).is_none() {
            head.required_header(headers::X_MS_FILE_PERMISSION)?;
        }
    }
    let time = |name| wish(head, name, time_words(used), parse_time);
    Ok(SmbWishes {
        attributes: wish(head, headers::X_MS_FILE_ATTRIBUTES, attribute_words(used), FileAttributes::parse)?
            .unwrap_or(defaults.attributes),
        creation_time: time(headers::X_MS_FILE_CREATION_TIME)?.unwrap_or(defaults.creation_time),
        last_write_time: time(headers::X_MS_FILE_LAST_WRITE_TIME)?.unwrap_or(defaults.last_write_time),
        change_time: time(headers::X_MS_FILE_CHANGE_TIME)?.unwrap_or(defaults.change_time),
        permission: permission(head, used)?.unwrap_or(defaults.permission),
    })
}

fn defaults(used: Use) -> SmbWishes {
    match used {
        Use::CreateDirectory => {
            SmbWishes { attributes: Wish::Value(FileAttributes::DIRECTORY), ..SmbWishes::NEW }
        }
        Use::CreateFile => SmbWishes::NEW,
        // A copy has the attributes that it is given; one that is given none is marked for the next backup (recorded).
        Use::Copy => SmbWishes { attributes: Wish::Value(FileAttributes::ARCHIVE), ..SmbWishes::NEW },
        Use::Set | Use::Rename => SmbWishes::UNCHANGED,
    }
}

fn attribute_words(used: Use) -> &'static [&'static str] {
    match used {
        Use::CreateFile | Use::CreateDirectory => &[],
        Use::Set | Use::Rename => &["preserve"],
        Use::Copy => &["source"],
    }
}

fn time_words(used: Use) -> &'static [&'static str] {
    match used {
        Use::CreateFile | Use::CreateDirectory => &["now"],
        Use::Set | Use::Rename => &["now", "preserve"],
        Use::Copy => &["now", "source"],
    }
}

fn permission_words(used: Use) -> &'static [&'static str] {
    match used {
        Use::CreateFile | Use::CreateDirectory => &["inherit"],
        Use::Set | Use::Rename => &["preserve", "inherit"],
        Use::Copy => &["inherit", "source"],
    }
}

fn wish<T>(
    head: &Head,
    name: &'static str,
    words: &[&str],
    value: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<Wish<T>>, Failure> {
    let Some(text) = head.header(name) else { return Ok(None) };
    let read = Wish::parse(text, value).filter(|wish| wish.word().is_none_or(|word| words.contains(&word)));
    read.map(Some).ok_or_else(|| Failure::invalid_header(name, text))
}

/// `x-ms-file-last-write-time` of a write to a range: now, or as it was.
pub fn keeps_last_write_time(head: &Head) -> Result<bool, Failure> {
    const NAME: &str = headers::X_MS_FILE_LAST_WRITE_TIME;
    if !head.version.has(Feature::SmbHeadersOptional) {
        return Ok(false);
    }
    let given: Option<Wish<()>> = wish(head, NAME, &["now", "preserve"], |_| None)?;
    Ok(given == Some(Wish::Preserve))
}

/// A permission or the key of one, not both.
fn permission(head: &Head, used: Use) -> Result<Option<Wish<Permission>>, Failure> {
    const NAME: &str = headers::X_MS_FILE_PERMISSION;
    const KEY: &str = headers::X_MS_FILE_PERMISSION_KEY;
    match (head.header(NAME), head.header(KEY)) {
        (None, None) => Ok(None),
        (None, Some(_)) => permission_key(head).map(|key| key.map(Permission::Key).map(Wish::Value)),
        (Some(_), Some(key)) => Err(Failure::invalid_header(KEY, key)),
        (Some(text), None) if text.len() > PERMISSION_MAX => {
            // What is too long is not sent back.
            Err(Failure::new(lazuli_model::ErrorCode::InvalidHeaderValue).detail("HeaderName", NAME))
        }
        (Some(text), None) => {
            if let Some(word) = wish(head, NAME, permission_words(used), |_| None).ok().flatten() {
                return Ok(Some(word));
            }
            descriptor(text, permission_format(head)?).map(Permission::Descriptor).map(Wish::Value).map(Some)
        }
    }
}

/// `x-ms-file-permission-key`
pub fn permission_key(head: &Head) -> Result<Option<PermissionKey>, Failure> {
    const NAME: &str = headers::X_MS_FILE_PERMISSION_KEY;
    let Some(text) = head.header(NAME) else { return Ok(None) };
    PermissionKey::parse(text).map(Some).ok_or_else(|| Failure::invalid_header(NAME, text))
}

/// `x-ms-file-permission-format`
pub fn permission_format(head: &Head) -> Result<PermissionFormat, Failure> {
    const NAME: &str = headers::X_MS_FILE_PERMISSION_FORMAT;
    let Some(text) = head.header(NAME).filter(|_| head.version.has(Feature::BinaryPermissions)) else {
        return Ok(PermissionFormat::Sddl);
    };
    PermissionFormat::parse(text).ok_or_else(|| Failure::invalid_header(NAME, text))
}

/// A permission as a header or a document carries it, as the service keeps it.
pub fn descriptor(text: &str, format: PermissionFormat) -> Result<SecurityDescriptor, Failure> {
    let read = match format {
        PermissionFormat::Sddl => SecurityDescriptor::parse_text(text),
        PermissionFormat::Binary => match BASE64_STANDARD.decode(text) {
            Ok(bytes) => SecurityDescriptor::parse_bytes(&bytes),
            Err(_) => return Err(lazuli_model::ErrorCode::FileInvalidPermission.into()),
        },
    };
    read.and_then(SecurityDescriptor::for_file).map_err(|bad| bad.code().into())
}

/// The other way.
pub fn permission_text(descriptor: &SecurityDescriptor, format: PermissionFormat) -> Result<String, Failure> {
    let written = match format {
        PermissionFormat::Sddl => descriptor.to_text(),
        PermissionFormat::Binary => descriptor.to_bytes().map(|bytes| BASE64_STANDARD.encode(bytes)),
    };
    written.map_err(|bad| bad.code().into())
}

/// What every answer about a directory or file tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmbProperties {
    pub attributes: FileAttributes,
    pub creation_time: Timestamp,
    pub last_write_time: Timestamp,
    pub change_time: Timestamp,
    /// None of a root that was given none.
    pub permission_key: Option<PermissionKey>,
    pub id: u64,
    pub parent_id: u64,
}

impl SmbProperties {
    /// All seven headers (recorded), and of a root that was given no permission six.
    pub fn tell(&self, reply: Reply) -> Reply {
        reply
            .header(headers::X_MS_FILE_ATTRIBUTES, self.attributes.to_string())
            .header(headers::X_MS_FILE_CREATION_TIME, self.creation_time.iso7())
            .header(headers::X_MS_FILE_LAST_WRITE_TIME, self.last_write_time.iso7())
            .header(headers::X_MS_FILE_CHANGE_TIME, self.change_time.iso7())
            .maybe(headers::X_MS_FILE_PERMISSION_KEY, self.permission_key.map(|key| key.to_string()))
            .header(headers::X_MS_FILE_ID, self.id.to_string())
            .header(headers::X_MS_FILE_PARENT_ID, self.parent_id.to_string())
    }
}

#[cfg(test)]
mod tests;
