//! The document of List Directories and Files.

use lazuli_model::error::Failure;
use lazuli_model::etag::ETag;
use lazuli_model::sddl::PermissionKey;
use lazuli_model::smb::FileAttributes;
use lazuli_model::time::Timestamp;
use lazuli_model::version::Feature;

use crate::blob::list::{asked, encoded, text};
use crate::decode;
use crate::head::Head;
use crate::headers;
use crate::xml::{Writer, is_legal};

/// What is told of each entry, beside its name and its length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Told {
    pub timestamps: bool,
    pub etag: bool,
    pub attributes: bool,
    pub permission_key: bool,
    /// The values are those of now, and not what a client of SMB has not written back yet.
    pub current: bool,
}

/// `include=`, and the header that asks for values of now, which `include` implies.
pub fn told(head: &Head) -> Result<Told, Failure> {
    let words = decode::include(head, &["Timestamps", "Etag", "Attributes", "PermissionKey"])?;
    let has = |word: &str| words.iter().any(|own| own.eq_ignore_ascii_case(word));
    Ok(Told {
        timestamps: has("Timestamps"),
        etag: has("Etag"),
        attributes: has("Attributes"),
        permission_key: has("PermissionKey"),
        current: head.flag(headers::X_MS_FILE_EXTENDED_INFO)? || !words.is_empty(),
    })
}

/// A directory or file as a list tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    pub id: u64,
    /// Of a file; a directory has none.
    pub length: Option<u64>,
    pub creation_time: Timestamp,
    pub last_access_time: Timestamp,
    pub last_write_time: Timestamp,
    pub change_time: Timestamp,
    pub last_modified: Timestamp,
    pub etag: ETag,
    pub attributes: FileAttributes,
    pub permission_key: PermissionKey,
}

/// The directory that is listed.
pub struct Directory<'a> {
    pub endpoint: &'a str,
    pub share: &'a str,
    /// The snapshot that the request names.
    pub snapshot: Option<Timestamp>,
    /// From the root of the share; empty for the root itself.
    pub path: &'a str,
    pub id: u64,
}

/// Up to the entries; they and the marker behind them are [`crate::blob::list::Entries`] of [`entry`].
pub fn open(head: &Head, directory: &Directory<'_>) -> Writer {
    let Directory { endpoint, share, snapshot, path, id } = directory;
    let snapshot = snapshot.map(Timestamp::iso7);
    let mut attributes = vec![("ServiceEndpoint", *endpoint), ("ShareName", *share)];
    if let Some(snapshot) = &snapshot {
        attributes.push(("ShareSnapshot", snapshot));
    }
    let hidden;
    match is_legal(path) {
        true => attributes.push(("DirectoryPath", path)),
        false => {
            hidden = encoded(path);
            attributes.extend([("Encoded", "true"), ("DirectoryPath", hidden.as_str())]);
        }
    }
    let mut writer = Writer::new();
    writer.open_with("EnumerationResults", &attributes);
    asked(&mut writer, head, &["prefix", "marker", "maxresults"]);
    if head.version.has(Feature::FileIdsListed) {
        writer.number("DirectoryId", *id);
    }
    writer
}

/// One entry. The order of its elements is recorded.
pub fn entry(writer: &mut Writer, head: &Head, told: Told, listed: &Listed) {
    let element = if listed.length.is_some() { "File" } else { "Directory" };
    writer.open(element);
    text(writer, "Name", &listed.name);
    if head.version.has(Feature::FileIdsListed) {
        writer.number("FileId", listed.id);
    }
    if listed.length.is_none() && !told.timestamps && !told.etag {
        writer.empty("Properties");
    } else {
        properties(writer, told, listed);
    }
    if told.attributes {
        writer.element("Attributes", &listed.attributes.to_string());
    }
    if told.permission_key {
        writer.element("PermissionKey", &listed.permission_key.to_string());
    }
    writer.close(element);
}

fn properties(writer: &mut Writer, told: Told, listed: &Listed) {
    writer.open("Properties");
    if let Some(length) = listed.length {
        writer.number("Content-Length", length);
    }
    if told.timestamps {
        writer.element("CreationTime", &listed.creation_time.iso7());
        writer.element("LastAccessTime", &listed.last_access_time.iso7());
        writer.element("LastWriteTime", &listed.last_write_time.iso7());
        writer.element("ChangeTime", &listed.change_time.iso7());
        writer.element("Last-Modified", &listed.last_modified.rfc1123());
    }
    if told.etag {
        writer.element("Etag", &listed.etag.quoted());
    }
    writer.close("Properties");
}

#[cfg(test)]
mod tests;
