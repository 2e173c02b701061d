//! The columns of the operation table.

use super::{Op, Policy};
use crate::access::Access;
use crate::version::ApiVersion;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Service {
    Blob,
    Queue,
    Table,
    File,
    Dfs,
}

/// What the path of a request addresses, before query parameters are looked at. One exception: a blob path
/// of a single segment is a container if `restype` says `container` or `account`, else a blob of `$root`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Whatever the path is (preflight requests).
    Any,
    Account,
    Container,
    Blob,
    Queue,
    /// `/{queue}/messages`
    Messages,
    /// `/{queue}/messages/{id}`
    Message,
    /// `/Tables`
    Tables,
    /// `/Tables('{table}')`
    Table,
    /// `/{table}` or `/{table}()`
    EntitySet,
    /// `/{table}(PartitionKey='...',RowKey='...')`
    Entity,
    /// `/$batch`
    Batch,
    Share,
    /// A directory or file inside a share, a path inside a file system. The name of a share alone is its root directory,
    /// unless `restype` says `share`.
    Path,
    FileSystem,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    Get,
    Head,
    Put,
    Post,
    Delete,
    Merge,
    Patch,
    Options,
}

impl Method {
    pub const ALL: [Method; 8] = [
        Method::Get,
        Method::Head,
        Method::Put,
        Method::Post,
        Method::Delete,
        Method::Merge,
        Method::Patch,
        Method::Options,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Put => "PUT",
            Method::Post => "POST",
            Method::Delete => "DELETE",
            Method::Merge => "MERGE",
            Method::Patch => "PATCH",
            Method::Options => "OPTIONS",
        }
    }

    /// Methods are case-sensitive.
    pub fn parse(text: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.as_str() == text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Name {
    Query(&'static str),
    Header(&'static str),
}

/// What tells rows of one resource and method apart. Values are compared without case.
/// `comp` and `restype` that a row does not mention must be absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    Is(Name, &'static str),
    OneOf(Name, &'static [&'static str]),
    /// Absent, or another value.
    Not(Name, &'static str),
    /// Absent, or this value: it tells nothing.
    Maybe(Name, &'static str),
    Has(Name),
    Lacks(Name),
}

impl Mark {
    pub const fn name(self) -> Name {
        match self {
            Mark::Is(name, _) | Mark::Not(name, _) | Mark::Maybe(name, _) | Mark::OneOf(name, _) => name,
            Mark::Has(name) | Mark::Lacks(name) => name,
        }
    }

    pub fn fits(self, value: Option<&str>) -> bool {
        match self {
            Mark::Is(_, wanted) => value.is_some_and(|value| value.eq_ignore_ascii_case(wanted)),
            Mark::OneOf(_, wanted) => {
                value.is_some_and(|value| wanted.iter().any(|wanted| value.eq_ignore_ascii_case(wanted)))
            }
            Mark::Not(_, other) => !value.is_some_and(|value| value.eq_ignore_ascii_case(other)),
            Mark::Maybe(_, wanted) => value.is_none_or(|value| value.eq_ignore_ascii_case(wanted)),
            Mark::Has(_) => value.is_some(),
            Mark::Lacks(_) => value.is_none(),
        }
    }
}

pub(super) const COMP: Name = Name::Query("comp");
pub(super) const RESTYPE: Name = Name::Query("restype");
pub(super) const BLOB_TYPE: Name = Name::Header("x-ms-blob-type");
pub(super) const COPY_SOURCE: Name = Name::Header("x-ms-copy-source");
pub(super) const REQUIRES_SYNC: Name = Name::Header("x-ms-requires-sync");
pub(super) const PAGE_WRITE: Name = Name::Header("x-ms-page-write");
pub(super) const LEASE_ACTION: Name = Name::Header("x-ms-lease-action");
pub(super) const FILE_TYPE: Name = Name::Header("x-ms-type");
pub(super) const FILE_WRITE: Name = Name::Header("x-ms-write");
pub(super) const HANDLE_ID: Name = Name::Header("x-ms-handle-id");
pub(super) const RENAME_SOURCE: Name = Name::Header("x-ms-file-rename-source");
pub(super) const IF_MATCH: Name = Name::Header("If-Match");

pub(super) const fn query(name: &'static str) -> Name {
    Name::Query(name)
}

/// Beside the base blob or share, what else the operation can be asked of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// `snapshot=`, and `sharesnapshot=` of the File service
    pub snapshot: bool,
    /// `versionid=`
    pub version: bool,
}

pub(super) const BASE: Addresses = Addresses { snapshot: false, version: false };
pub(super) const SNAPSHOT: Addresses = Addresses { snapshot: true, version: false };
pub(super) const VERSION: Addresses = Addresses { snapshot: false, version: true };
pub(super) const SNAPSHOT_OR_VERSION: Addresses = Addresses { snapshot: true, version: true };

/// What the request carries after its headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    None,
    Xml,
    Json,
    Bytes,
    Multipart,
}

/// What tells a request of this operation from all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The title of the reference page. Pages that describe several requests have several rows.
    pub title: &'static str,
    pub since: ApiVersion,
    pub service: Service,
    pub resource: Resource,
    pub methods: &'static [Method],
    pub marks: &'static [Mark],
    pub addresses: Addresses,
    pub body: Body,
}

pub(super) const fn on(
    service: Service,
    resource: Resource,
    methods: &'static [Method],
    title: &'static str,
    since: ApiVersion,
) -> Route {
    Route { title, since, service, resource, methods, marks: &[], addresses: BASE, body: Body::None }
}

impl Route {
    pub(super) const fn marks(self, marks: &'static [Mark]) -> Self {
        Self { marks, ..self }
    }

    pub(super) const fn addresses(self, addresses: Addresses) -> Self {
        Self { addresses, ..self }
    }

    pub(super) const fn body(self, body: Body) -> Self {
        Self { body, ..self }
    }
}

/// What the answer to a request that was carried out looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The first is the one of an answer that says nothing else.
    pub status: &'static [u16],
    /// It carries ETag (and Last-Modified, except in tables).
    pub etag: bool,
    /// A line break stands behind the XML declaration, of refusals too: so the newer operations write it (recorded).
    pub breaks_line: bool,
    /// An answer without a body says that its length is 0. Set Blob Tags does not (recorded).
    pub says_empty: bool,
}

pub(super) const fn answers(status: &'static [u16]) -> Answer {
    Answer { status, etag: false, breaks_line: false, says_empty: true }
}

impl Answer {
    pub(super) const fn etag(self) -> Self {
        Self { etag: true, ..self }
    }

    pub(super) const fn breaks_line(self) -> Self {
        Self { breaks_line: true, ..self }
    }

    pub(super) const fn says_nothing(self) -> Self {
        Self { says_empty: false, ..self }
    }

    /// The status of the second kind of answer that the operation has, if it has two.
    pub fn other_status(&self) -> u16 {
        self.status.get(1).copied().unwrap_or(self.first_status())
    }

    pub fn first_status(&self) -> u16 {
        self.status.first().copied().unwrap_or(200)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub op: Op,
    pub route: Route,
    pub policy: Policy,
    pub access: Access,
    pub answer: Answer,
}

impl Row {
    pub const fn name(&self) -> &'static str {
        self.op.name()
    }
}
