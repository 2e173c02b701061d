//! What SMB clients have open.

use lazuli_model::admission::sharing::{ByteRangeLock, Caching, Open, Rights};
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::first_shape;
use crate::store::key::Incarnation;
use crate::store::record::open::{OpenRecord, OpensRecord};

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

impl From<&OpenRecord> for OpenV1 {
    fn from(record: &OpenRecord) -> Self {
        let OpenRecord {
            account,
            share,
            open: Open { access, share: shares, locks },
            caching: Caching { read, write, handle },
            caching_key,
            delete_on_close,
            path,
            session,
            client_address,
            client_name,
            server,
            opened,
            reconnected,
        } = record;
        let lock = |ByteRangeLock { range, exclusive }: &ByteRangeLock| LockV1 {
            start: range.start,
            end: range.end,
            exclusive: *exclusive,
        };
        Self {
            account: account.clone(),
            share: share.clone(),
            access: (*access).into(),
            shares: (*shares).into(),
            locks: locks.iter().map(lock).collect(),
            caching: CachingV1 { read: *read, write: *write, handle: *handle },
            caching_key: *caching_key,
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

impl From<OpenV1> for OpenRecord {
    fn from(stored: OpenV1) -> Self {
        let lock = |LockV1 { start, end, exclusive }| ByteRangeLock { range: start..end, exclusive };
        let CachingV1 { read, write, handle } = stored.caching;
        Self {
            account: stored.account,
            share: stored.share,
            open: Open {
                access: stored.access.into(),
                share: stored.shares.into(),
                locks: stored.locks.into_iter().map(lock).collect(),
            },
            caching: Caching { read, write, handle },
            caching_key: stored.caching_key,
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
