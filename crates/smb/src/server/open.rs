//! What a client has open, by the id that it uses.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock, Weak};

use bytes::{Buf, BufMut};
use lazuli_service::open_file::{
    AccessMask, CreateAction, DirectoryCursor, DosPattern, DurableGranted, LeaseVersion, OpenFile,
};
use tokio::sync::{Mutex, OwnedRwLockReadGuard, RwLock};

use super::connection::Connection;
use super::sequence::Sequence;
use crate::rpc::pipe::Pipe;
use crate::status::Malformed;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    /// Known to the service: durable opens are found by it.
    pub persistent: u64,
    /// Of this session.
    pub volatile: u64,
}

impl FileId {
    /// In a related request: the one of the request before.
    pub const PREVIOUS: Self = Self { persistent: u64::MAX, volatile: u64::MAX };

    pub fn take(from: &mut &[u8]) -> Result<Self, Malformed> {
        Ok(Self { persistent: from.try_get_u64_le()?, volatile: from.try_get_u64_le()? })
    }

    pub fn write(self, to: &mut Vec<u8>) {
        to.put_u64_le(self.persistent);
        to.put_u64_le(self.volatile);
    }
}

pub struct Open {
    pub id: FileId,
    pub tree: u32,
    pub what: Opened,
    /// The one that it was opened over: breaks go there, as long as it lasts.
    pub connection: Weak<Connection>,
    pub sequence: Arc<Sequence>,
    /// Held by requests while they use it: CLOSE waits for those that were sent before it.
    pub users: Arc<RwLock<()>>,
}

/// What a CREATE says of the way that it came.
pub struct OpenedBy {
    pub connection: Weak<Connection>,
    /// The channel sequence.
    pub sequence: u16,
}

/// An open that is not closed while this is held.
pub struct InUse {
    pub open: Arc<Open>,
    pub held: OwnedRwLockReadGuard<()>,
}

impl Deref for InUse {
    type Target = Open;

    fn deref(&self) -> &Open {
        &self.open
    }
}

pub enum Opened {
    File(File),
    Pipe(Mutex<Pipe>),
}

pub struct File {
    pub file: OpenFile,
    /// What it keeps is a lease with this key, not an oplock.
    pub lease: Option<(u128, LeaseVersion)>,
    pub durable: AtomicBool,
    /// The CREATE that made it, where the client gave that a name (`DH2Q`). A client that has used the open has had its answer: from
    /// then on there is none.
    pub replay: parking_lot::Mutex<Option<Box<Replay>>>,
    pub listing: Mutex<Listing>,
    /// `FilePositionInformation`, which a client may set and ask for again.
    pub position: AtomicU64,
    /// `FileModeInformation`, likewise.
    pub mode: AtomicU64,
    pub lock_sequences: Mutex<LockSequences>,
    /// What the first watch had room for; later ones get no more than that, as on Windows.
    pub watch_room: OnceLock<u32>,
}

impl File {
    pub fn new(file: OpenFile, lease: Option<(u128, LeaseVersion)>, durable: bool) -> Self {
        let options = file.options();
        let mut mode = 0;
        for (set, bit) in [
            (options.write_through, 0x02),
            (options.sequential_only, 0x04),
            (options.no_intermediate_buffering, 0x08),
            (options.delete_on_close, 0x1000),
        ] {
            mode |= if set { bit } else { 0 };
        }
        Self {
            file,
            lease,
            durable: AtomicBool::new(durable),
            replay: parking_lot::Mutex::default(),
            listing: Mutex::default(),
            position: AtomicU64::new(0),
            mode: AtomicU64::new(mode),
            lock_sequences: Mutex::new([None; 64]),
            watch_room: OnceLock::new(),
        }
    }
}

/// What a CREATE that is sent again is answered with.
#[derive(Clone, Copy)]
pub struct Replay {
    pub guid: u128,
    pub action: CreateAction,
    pub maximal_access: AccessMask,
    pub durable: Option<DurableGranted>,
}

/// Where QUERY_DIRECTORY goes on.
#[derive(Default)]
pub struct Listing {
    pub pattern: Option<DosPattern>,
    pub cursor: DirectoryCursor,
    pub finished: bool,
    /// Something was given: the end is then the end, and not that there is nothing.
    pub found: bool,
}

/// Locks that were answered, by the bucket that the client counts them in: one that is sent again is not done twice.
pub type LockSequences = [Option<u8>; 64];
