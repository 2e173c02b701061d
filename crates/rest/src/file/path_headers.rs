//! What requests that create directories and files carry, and what answers tell of one.

use lazuli_model::error::Failure;
use lazuli_model::smb::{FileAttributes, FileMode, FileType};
use lazuli_model::version::{ApiVersion, Feature};
use lazuli_service::file::{Described, NewBody, NewPath, PathBody, PathRecord, Posix};

use super::posix_headers::{self, PosixProperties};
use super::smb_headers::{self, SmbProperties, Use};
use crate::decode;
use crate::head::Head;
use crate::headers::{self, name};
use crate::reply::Reply;

/// A new directory or file as a request describes it.
pub fn new_path(head: &Head, used: Use, body: NewBody) -> Result<NewPath, Failure> {
    Ok(NewPath {
        smb: smb_headers::wishes(head, used)?,
        restores: restores(head)?,
        metadata: decode::metadata(head)?,
        posix: posix_headers::wishes(head)?,
        body,
    })
}

/// Links have no content; a request may say so.
pub fn refuse_content(head: &Head) -> Result<(), Failure> {
    for name in [headers::CONTENT_LENGTH, headers::X_MS_CONTENT_LENGTH] {
        if let Some(text) = head.header(name).filter(|text| text.trim() != "0") {
            return Err(Failure::invalid_header(headers::spelled(name), text));
        }
    }
    Ok(())
}

/// `x-ms-file-property-semantics`: whether the properties are to be as they are given.
fn restores(head: &Head) -> Result<bool, Failure> {
    const NAME: &str = headers::X_MS_FILE_PROPERTY_SEMANTICS;
    match head.header(NAME) {
        None => Ok(false),
        Some(text) if text.eq_ignore_ascii_case("new") => Ok(false),
        Some(text) if text.eq_ignore_ascii_case("restore") => Ok(true),
        Some(text) => Err(Failure::invalid_header(NAME, text)),
    }
}

/// What every answer about a directory or file tells of it: what clients of SMB see, or those of NFS.
pub fn tell(reply: Reply, version: ApiVersion, described: &Described) -> Reply {
    let record = &described.record;
    let reply = reply.stamped(record.stamped());
    match &record.posix {
        _ if !version.has(Feature::SmbHeaders) => reply,
        None => smb(described).tell(reply),
        Some(posix) => tell_posix(reply, described, posix),
    }
}

/// The root of a share stands under no name.
pub fn is_root(record: &PathRecord) -> bool {
    record.name.is_empty()
}

fn smb(described: &Described) -> SmbProperties {
    let Described { record, id, parent_id } = described;
    SmbProperties {
        attributes: FileAttributes::from_bits(record.attributes),
        creation_time: record.times.created,
        last_write_time: record.times.last_written,
        change_time: record.times.changed,
        permission_key: (!is_root(record) || record.permission.is_some()).then(|| record.permission_key()),
        id: *id,
        parent_id: *parent_id,
    }
}

/// Attributes and security descriptors are of SMB; times and ids are of both.
fn tell_posix(reply: Reply, described: &Described, posix: &Posix) -> Reply {
    let Described { record, id, parent_id } = described;
    let (file_type, link_count) = match &record.body {
        PathBody::Directory => (FileType::Directory, None),
        PathBody::SymbolicLink { .. } => (FileType::SymLink, None),
        PathBody::File(file) => (FileType::Regular, Some(u64::from(file.links))),
        PathBody::Name => (FileType::Regular, None),
    };
    let mode = FileMode::from_bits(posix.mode & 0o7777);
    let told = mode.map(|mode| PosixProperties {
        owner: posix.owner,
        group: posix.group,
        mode,
        file_type,
        link_count,
    });
    let reply = reply
        .header(headers::X_MS_FILE_CREATION_TIME, record.times.created.iso7())
        .header(headers::X_MS_FILE_LAST_WRITE_TIME, record.times.last_written.iso7())
        .header(headers::X_MS_FILE_CHANGE_TIME, record.times.changed.iso7())
        .header(headers::X_MS_FILE_ID, id.to_string())
        .header(headers::X_MS_FILE_PARENT_ID, parent_id.to_string());
    match told {
        Some(told) => told.tell(reply),
        None => reply,
    }
}

/// Of what a request has written.
pub fn encrypted(reply: Reply) -> Reply {
    reply.header(name::X_MS_REQUEST_SERVER_ENCRYPTED, true)
}
