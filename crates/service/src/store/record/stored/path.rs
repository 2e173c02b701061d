//! A file, a directory or a symbolic link of a share.

use lazuli_model::etag::ETag;
use lazuli_model::metadata::Metadata;
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::blob::ContentHeadersV1;
use super::blob_extras::CopyStateV2;
use super::content::ContentV1;
use super::first_shape;
use super::lease::LeaseV1;
use crate::store::record::path::{FileBody, FileTimes, PathBody, PathRecord, Posix};
use crate::store::tree::NodeId;

#[derive(Serialize, Deserialize)]
pub struct PathV1 {
    node: u128,
    name: String,
    since: u64,
    etag: u64,
    last_modified: u64,
    /// Created, last written, changed, last accessed.
    times: [u64; 4],
    attributes: u32,
    permission: Option<u128>,
    metadata: Vec<(String, String)>,
    posix: Option<PosixV1>,
    body: PathBodyV1,
}

first_shape!(PathV1);

#[derive(Serialize, Deserialize)]
struct PosixV1 {
    owner: u32,
    group: u32,
    mode: u16,
}

#[derive(Serialize, Deserialize)]
enum PathBodyV1 {
    Directory,
    File(Box<FileBodyV1>),
    SymbolicLink { target: String },
    Name,
}

#[derive(Serialize, Deserialize)]
struct FileBodyV1 {
    content: ContentV1,
    headers: ContentHeadersV1,
    lease: Option<LeaseV1>,
    copy: Option<CopyStateV2>,
    links: u32,
}

impl From<&PathRecord> for PathV1 {
    fn from(path: &PathRecord) -> Self {
        let PathRecord {
            node,
            name,
            since,
            etag,
            last_modified,
            times: FileTimes { created, last_written, changed, last_accessed },
            attributes,
            permission,
            metadata,
            posix,
            body,
        } = path;
        Self {
            node: node.0,
            name: name.clone(),
            since: *since,
            etag: etag.0,
            last_modified: last_modified.0,
            times: [created.0, last_written.0, changed.0, last_accessed.0],
            attributes: *attributes,
            permission: *permission,
            metadata: metadata.clone().into_pairs(),
            posix: posix.as_ref().map(|Posix { owner, group, mode }| PosixV1 {
                owner: *owner,
                group: *group,
                mode: *mode,
            }),
            body: match body {
                PathBody::Directory => PathBodyV1::Directory,
                PathBody::File(file) => PathBodyV1::File(Box::new(FileBodyV1::of(file))),
                PathBody::SymbolicLink { target } => PathBodyV1::SymbolicLink { target: target.clone() },
                PathBody::Name => PathBodyV1::Name,
            },
        }
    }
}

impl From<PathV1> for PathRecord {
    fn from(stored: PathV1) -> Self {
        let [created, last_written, changed, last_accessed] = stored.times.map(Timestamp);
        Self {
            node: NodeId(stored.node),
            name: stored.name,
            since: stored.since,
            etag: ETag(stored.etag),
            last_modified: Timestamp(stored.last_modified),
            times: FileTimes { created, last_written, changed, last_accessed },
            attributes: stored.attributes,
            permission: stored.permission,
            metadata: Metadata::from_stored(stored.metadata),
            posix: stored.posix.map(|PosixV1 { owner, group, mode }| Posix { owner, group, mode }),
            body: match stored.body {
                PathBodyV1::Directory => PathBody::Directory,
                PathBodyV1::File(file) => PathBody::File(Box::new(file.into_body())),
                PathBodyV1::SymbolicLink { target } => PathBody::SymbolicLink { target },
                PathBodyV1::Name => PathBody::Name,
            },
        }
    }
}

impl FileBodyV1 {
    fn of(file: &FileBody) -> Self {
        let FileBody { content, headers, lease, copy, links } = file;
        Self {
            content: content.into(),
            headers: headers.into(),
            lease: lease.as_ref().map(LeaseV1::from),
            copy: copy.clone().map(CopyStateV2::from),
            links: *links,
        }
    }

    fn into_body(self) -> FileBody {
        FileBody {
            content: self.content.into(),
            headers: self.headers.into(),
            lease: self.lease.map(Into::into),
            copy: self.copy.map(Into::into),
            links: self.links,
        }
    }
}
