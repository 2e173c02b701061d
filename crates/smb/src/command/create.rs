//! CREATE (MS-SMB2 3.3.5.9): a file or directory of a share, or a pipe.

use std::sync::Arc;

use bytes::{Buf, BufMut};
use lazuli_model::sddl::SecurityDescriptor;
use lazuli_model::smb::parse_gmt_token;
use lazuli_service::open_file::{
    AccessMask, CachingGranted, CachingWanted, Create, CreateOptions, Created, Disposition, DurableWanted,
    FileAttributes, Reconnect, Rights, ShareClient, parse_path,
};

use super::contexts::CreateContexts;
use super::create_answer::{FIXED, Told, answer};
use super::refusal::status;
use super::replay::{self, Before};
use crate::rpc::pipe::Pipe;
use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::server::notices::oplock_of;
use crate::server::open::{File, Open, Opened, Replay};
use crate::server::tree::Share;
use crate::server::{filetime, from_filetime};
use crate::status::NtStatus;
use crate::wire::text::utf16;

pub(super) const OPLOCK_LEASE: u8 = 0xFF;
/// Those that a client may name; a volume and a device are none of a file.
const ATTRIBUTES: u32 = 0x7FB7;

mod option {
    pub const DIRECTORY: u32 = 0x0000_0001;
    pub const WRITE_THROUGH: u32 = 0x0000_0002;
    pub const SEQUENTIAL_ONLY: u32 = 0x0000_0004;
    pub const NO_BUFFERING: u32 = 0x0000_0008;
    pub const NON_DIRECTORY: u32 = 0x0000_0040;
    pub const CREATE_TREE_CONNECTION: u32 = 0x0000_0080;
    pub const RANDOM_ACCESS: u32 = 0x0000_0800;
    pub const DELETE_ON_CLOSE: u32 = 0x0000_1000;
    pub const OPEN_BY_FILE_ID: u32 = 0x0000_2000;
    pub const RESERVE_OPFILTER: u32 = 0x0010_0000;
    /// Bits that mean nothing.
    pub const UNKNOWN: u32 = 0xFF00_0000;
}

struct Request {
    oplock: u8,
    desired_access: u32,
    attributes: u32,
    share_access: u32,
    impersonation: u32,
    disposition: u32,
    options: u32,
    name: String,
    contexts: CreateContexts,
}

impl Request {
    fn parse(call: &Call) -> Result<Self, NtStatus> {
        let mut at = call.body(57)?;
        let _security_flags = at.try_get_u8()?;
        let oplock = at.try_get_u8()?;
        let impersonation = at.try_get_u32_le()?;
        let _flags = (at.try_get_u64_le()?, at.try_get_u64_le()?);
        let desired_access = at.try_get_u32_le()?;
        let attributes = at.try_get_u32_le()?;
        let share_access = at.try_get_u32_le()?;
        let disposition = at.try_get_u32_le()?;
        let options = at.try_get_u32_le()?;
        let name_offset = usize::from(at.try_get_u16_le()?);
        let name_length = usize::from(at.try_get_u16_le()?);
        let contexts_offset = at.try_get_u32_le()? as usize;
        let contexts_length = at.try_get_u32_le()? as usize;
        let name = utf16(&call.part(name_offset, name_length)?).map_err(|_| NtStatus::OBJECT_NAME_INVALID)?;
        let contexts = CreateContexts::parse(&call.part(contexts_offset, contexts_length)?)?;
        Ok(Self {
            oplock,
            desired_access,
            attributes,
            share_access,
            impersonation,
            disposition,
            options,
            name,
            contexts,
        })
    }

    /// As the service understands it. Of an open that is taken up again nothing of this is looked at.
    fn into_create(self) -> Result<Create, NtStatus> {
        use option as o;
        if self.impersonation > 3 {
            return Err(NtStatus::BAD_IMPERSONATION_LEVEL);
        }
        let disposition = Disposition::ALL.get(self.disposition as usize).copied();
        let disposition = disposition.ok_or(NtStatus::INVALID_PARAMETER)?;
        if self.options & o::UNKNOWN != 0 {
            return Err(NtStatus::INVALID_PARAMETER);
        }
        if self.options & (o::OPEN_BY_FILE_ID | o::RESERVE_OPFILTER | o::CREATE_TREE_CONNECTION) != 0 {
            return Err(NtStatus::NOT_SUPPORTED);
        }
        if self.contexts.extended_attributes {
            return Err(NtStatus::EAS_NOT_SUPPORTED);
        }
        let has = |bit: u32| self.options & bit != 0;
        let makes_no_directory = disposition.overwrites();
        if has(o::DIRECTORY) && (has(o::NON_DIRECTORY) || makes_no_directory) {
            return Err(NtStatus::INVALID_PARAMETER);
        }
        let desired_access = AccessMask(self.desired_access);
        if !desired_access.is_valid() {
            return Err(NtStatus::ACCESS_DENIED);
        }
        if self.share_access & !7 != 0 || self.attributes & !ATTRIBUTES != 0 {
            return Err(NtStatus::INVALID_PARAMETER);
        }
        let (name, token) = previous_version(&self.name);
        let snapshot = token.or(self.contexts.previous_version.filter(|ticks| *ticks != 0));
        let caching = match self.oplock {
            OPLOCK_LEASE => self.contexts.lease.map_or(CachingWanted::None, CachingWanted::Lease),
            code => oplock_of(code).map_or(CachingWanted::None, CachingWanted::Oplock),
        };
        let security = self.contexts.security.as_deref().map(SecurityDescriptor::parse_bytes).transpose();
        Ok(Create {
            path: parse_path(&name).map_err(status)?,
            snapshot: snapshot.map(from_filetime),
            desired_access,
            share_access: Rights {
                read: self.share_access & 1 != 0,
                write: self.share_access & 2 != 0,
                delete: self.share_access & 4 != 0,
            },
            disposition,
            options: CreateOptions {
                directory: has(o::DIRECTORY),
                non_directory: has(o::NON_DIRECTORY),
                delete_on_close: has(o::DELETE_ON_CLOSE),
                write_through: has(o::WRITE_THROUGH),
                sequential_only: has(o::SEQUENTIAL_ONLY),
                no_intermediate_buffering: has(o::NO_BUFFERING),
                random_access: has(o::RANDOM_ACCESS),
            },
            attributes: FileAttributes::from_bits(self.attributes),
            security: security.map_err(|_| NtStatus::INVALID_SECURITY_DESCR)?,
            allocation_size: self.contexts.allocation_size.unwrap_or(0),
            caching,
            durable: self.contexts.durable,
        })
    }
}

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    let request = Request::parse(call)?;
    let tree = call.tree()?;
    call.session()?.may_open()?;
    match &tree.share {
        Share::Pipes => pipe(call, tree.id, &request.name),
        Share::Disk(share) => file(call, tree.id, share, request).await,
    }
}

fn pipe(call: &Call, tree: u32, name: &str) -> Result<Reply, Failure> {
    let pipe = Pipe::open(name).ok_or(NtStatus::OBJECT_NAME_NOT_FOUND)?;
    let open = call.session()?.add_open(tree, None, Opened::Pipe(pipe.into()), call.opened_by());
    let open = open.map_err(|refused| refused.0)?;
    let mut body = Vec::with_capacity(FIXED);
    body.put_u16_le(89);
    body.put_u16_le(0);
    body.put_u32_le(1);
    body.put_bytes(0, 32);
    body.put_u64_le(4096);
    body.put_u64_le(0);
    body.put_u32_le(0x80);
    body.put_u32_le(0);
    open.id.write(&mut body);
    body.put_u64_le(0);
    Ok(Reply { body, file: Some(open.id), ..Reply::default() })
}

async fn file(call: &Call, tree: u32, share: &ShareClient, request: Request) -> Result<Reply, Failure> {
    let asked = request.contexts.clone();
    let reconnecting = asked.reconnect;
    let guid = match asked.durable {
        Some(DurableWanted::Two { create_guid, .. }) => Some(create_guid),
        Some(DurableWanted::One) | None => None,
    };
    let _creating = guid.map(|guid| replay::begin(call, guid)).transpose()?;
    let before = match guid {
        Some(guid) => replay::before(call, share, guid, &asked, &request.name).await?,
        None => Before::New,
    };
    let created = match reconnecting {
        None => match before {
            Before::New => share.create(request.into_create()?).await,
            Before::Lost(created) => Ok(*created),
            Before::Answered(open, told) => return Ok(answer(&open, &asked, &told)),
        },
        Some(reconnecting) => {
            let reconnect = Reconnect {
                handle: reconnecting.id.persistent,
                create_guid: reconnecting.create_guid,
                lease_key: asked.lease.map(|lease| lease.key),
                path: parse_path(&request.name).unwrap_or_default(),
            };
            call.connection.server.lost_connections_ended().await;
            share.reconnect(reconnect).await
        }
    };
    let Created { file, action, info, maximal_access, caching, durable } = created.map_err(status)?;
    let handle = file.handle();
    // Leases of directories are not offered: see the capabilities.
    let caching = if info.is_directory { CachingGranted::None } else { caching };
    let lease = match caching {
        CachingGranted::Lease { key, version, .. } => Some((key, version)),
        CachingGranted::None | CachingGranted::Oplock(_) => None,
    };
    let kept = durable.is_some() || reconnecting.is_some();
    let opened = Opened::File(File::new(file, lease, kept));
    let added = call.session()?.add_open(tree, Some(handle), opened, call.opened_by());
    let open: Arc<Open> = match added {
        Ok(open) => open,
        Err(refused) => {
            let (status, what) = *refused;
            // The session ended while the file was being opened.
            if let Opened::File(file) = what {
                let _ = file.file.close().await;
            }
            return Err(status.into());
        }
    };
    let durable = durable.filter(|_| reconnecting.is_none());
    let told = Told { action, info, maximal_access, caching, durable };
    if let (Some(guid), Opened::File(file)) = (guid, &open.what) {
        *file.replay.lock() = Some(Box::new(Replay { guid, action, maximal_access, durable }));
    }
    Ok(answer(&open, &asked, &told))
}

/// A path through `@GMT-2026.11.18-10.30.00` is one in the snapshot of that second: the path without it, and the time.
fn previous_version(path: &str) -> (String, Option<u64>) {
    let mut found = None;
    let mut rest = Vec::new();
    for name in path.split('\\') {
        match parse_gmt_token(name) {
            None => rest.push(name),
            Some(moment) => found = Some(filetime(moment)),
        }
    }
    (rest.join("\\"), found)
}
