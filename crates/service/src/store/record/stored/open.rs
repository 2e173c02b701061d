//! What SMB clients have open.

use lazuli_model::admission::caching::{Breaking, Kept, LeaseOwner};
use lazuli_model::admission::sharing::{ByteRangeLock, Caching, Open, Rights};
use lazuli_model::smb::AccessMask;
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Shape, first_shape};
use crate::store::key::Incarnation;
use crate::store::record::open::{Durable, LeaseDetail, OpenRecord, OpensRecord};

#[derive(Serialize, Deserialize)]
pub struct OpenV1 {
    account: String,
    share: String,
    access: RightsV1,
    shares: RightsV1,
    locks: Vec<LockV1>,
    caching: CachingV1,
    caching_key: Option<u128>,
    delete_on_close: bool,
    path: String,
    session: u64,
    client_address: String,
    client_name: Option<String>,
    server: Incarnation,
    opened: u64,
    reconnected: Option<u64>,
}

#[derive(Serialize, Deserialize)]
pub struct OpensV1 {
    count: u32,
    changes: u64,
    delete_pending: bool,
}

first_shape!(OpenV1, OpensV1);

#[derive(Serialize, Deserialize)]
struct RightsV1 {
    read: bool,
    write: bool,
    delete: bool,
}

#[derive(Serialize, Deserialize)]
struct LockV1 {
    start: u64,
    end: u64,
    exclusive: bool,
}

#[derive(Serialize, Deserialize)]
struct CachingV1 {
    read: bool,
    write: bool,
    handle: bool,
}

impl From<Rights> for RightsV1 {
    fn from(Rights { read, write, delete }: Rights) -> Self {
        Self { read, write, delete }
    }
}

impl From<RightsV1> for Rights {
    fn from(RightsV1 { read, write, delete }: RightsV1) -> Self {
        Self { read, write, delete }
    }
}

/// With what the client keeps, a break that is under way, and whether the open outlives its connection. Locks have a length.
#[derive(Serialize, Deserialize)]
pub struct OpenV2 {
    account: String,
    share: String,
    access: RightsV1,
    shares: RightsV1,
    granted: u32,
    options: u32,
    locks: Vec<LockV2>,
    held: CachingV1,
    breaking: Option<BreakingV2>,
    client: u128,
    lease: Option<LeaseV2>,
    durable: Option<DurableV2>,
    delete_on_close: bool,
    path: String,
    session: u64,
    client_address: String,
    client_name: Option<String>,
    server: Incarnation,
    opened: u64,
    reconnected: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct LockV2 {
    offset: u64,
    length: u64,
    exclusive: bool,
}

#[derive(Serialize, Deserialize)]
struct BreakingV2 {
    to: CachingV1,
    since: u64,
}

#[derive(Serialize, Deserialize)]
struct LeaseV2 {
    key: u128,
    is_second_version: bool,
    parent: Option<u128>,
    epoch: u16,
}

#[derive(Serialize, Deserialize)]
struct DurableV2 {
    create_guid: Option<u128>,
    milliseconds: u32,
    disconnected: Option<u64>,
}

impl Shape for OpenV2 {
    const NUMBER: u8 = 2;
    type Before = OpenV1;

    /// No server that wrote the first shape kept anything for a client.
    fn step(before: OpenV1) -> Self {
        let lock = |LockV1 { start, end, exclusive }| LockV2 {
            offset: start,
            length: end.saturating_sub(start),
            exclusive,
        };
        Self {
            account: before.account,
            share: before.share,
            access: before.access,
            shares: before.shares,
            granted: 0,
            options: 0,
            locks: before.locks.into_iter().map(lock).collect(),
            held: CachingV1 { read: false, write: false, handle: false },
            breaking: None,
            client: 0,
            lease: None,
            durable: None,
            delete_on_close: before.delete_on_close,
            path: before.path,
            session: before.session,
            client_address: before.client_address,
            client_name: before.client_name,
            server: before.server,
            opened: before.opened,
            reconnected: before.reconnected,
        }
    }
}

impl From<Caching> for CachingV1 {
    fn from(Caching { read, write, handle }: Caching) -> Self {
        Self { read, write, handle }
    }
}

impl From<CachingV1> for Caching {
    fn from(CachingV1 { read, write, handle }: CachingV1) -> Self {
        Self { read, write, handle }
    }
}

impl From<&OpenRecord> for OpenV2 {
    fn from(record: &OpenRecord) -> Self {
        let OpenRecord {
            account,
            share,
            // The handle stands in the key, and whether the client is connected follows from the rest.
            open: Open { handle: _, access, share: shares, locks, kept, is_disconnected: _ },
            granted,
            options,
            client,
            lease,
            durable,
            delete_on_close,
            path,
            session,
            client_address,
            client_name,
            server,
            opened,
            reconnected,
        } = record;
        let Kept { held, owner, breaking } = kept;
        let lock = |ByteRangeLock { offset, length, exclusive }: &ByteRangeLock| LockV2 {
            offset: *offset,
            length: *length,
            exclusive: *exclusive,
        };
        let lease = lease.as_ref().map(|LeaseDetail { is_second_version, parent, epoch }| LeaseV2 {
            key: owner.map_or(0, |owner| owner.key),
            is_second_version: *is_second_version,
            parent: *parent,
            epoch: *epoch,
        });
        let durable = durable.as_ref().map(|Durable { create_guid, milliseconds, disconnected }| DurableV2 {
            create_guid: *create_guid,
            milliseconds: *milliseconds,
            disconnected: disconnected.map(|since| since.0),
        });
        Self {
            account: account.clone(),
            share: share.clone(),
            access: (*access).into(),
            shares: (*shares).into(),
            granted: granted.0,
            options: *options,
            locks: locks.iter().map(lock).collect(),
            held: (*held).into(),
            breaking: breaking.map(|Breaking { to, since }| BreakingV2 { to: to.into(), since: since.0 }),
            client: *client,
            lease,
            durable,
            delete_on_close: *delete_on_close,
            path: path.clone(),
            session: *session,
            client_address: client_address.clone(),
            client_name: client_name.clone(),
            server: *server,
            opened: opened.0,
            reconnected: reconnected.map(|at| at.0),
        }
    }
}

impl From<OpenV2> for OpenRecord {
    fn from(stored: OpenV2) -> Self {
        let lock = |LockV2 { offset, length, exclusive }| ByteRangeLock { offset, length, exclusive };
        let client = stored.client;
        let owner = stored.lease.as_ref().map(|lease| LeaseOwner { client, key: lease.key });
        let breaking = stored
            .breaking
            .map(|BreakingV2 { to, since }| Breaking { to: to.into(), since: Timestamp(since) });
        let durable = stored.durable.map(|DurableV2 { create_guid, milliseconds, disconnected }| Durable {
            create_guid,
            milliseconds,
            disconnected: disconnected.map(Timestamp),
        });
        Self {
            account: stored.account,
            share: stored.share,
            open: Open {
                handle: 0,
                access: stored.access.into(),
                share: stored.shares.into(),
                locks: stored.locks.into_iter().map(lock).collect(),
                kept: Kept { held: stored.held.into(), owner, breaking },
                is_disconnected: durable.is_some_and(|durable| durable.disconnected.is_some()),
            },
            granted: AccessMask(stored.granted),
            options: stored.options,
            client,
            lease: stored.lease.map(|LeaseV2 { key: _, is_second_version, parent, epoch }| LeaseDetail {
                is_second_version,
                parent,
                epoch,
            }),
            durable,
            delete_on_close: stored.delete_on_close,
            path: stored.path,
            session: stored.session,
            client_address: stored.client_address,
            client_name: stored.client_name,
            server: stored.server,
            opened: Timestamp(stored.opened),
            reconnected: stored.reconnected.map(Timestamp),
        }
    }
}

impl From<&OpensRecord> for OpensV1 {
    fn from(opens: &OpensRecord) -> Self {
        let OpensRecord { count, changes, delete_pending } = *opens;
        Self { count, changes, delete_pending }
    }
}

impl From<OpensV1> for OpensRecord {
    fn from(OpensV1 { count, changes, delete_pending }: OpensV1) -> Self {
        Self { count, changes, delete_pending }
    }
}
