//! A client that logged on. It lasts for as long as one of the connections that are bound to it.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use lazuli_service::open_file::{LeaseVersion, Notice};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::Server;
use super::connection::Connection;
use super::limits::{CHANNELS_MAX, OPENS_MAX, TREES_MAX};
use super::negotiated::Negotiated;
use super::open::{FileId, Open, Opened, OpenedBy};
use super::replays::{CreateName, Made, Replays};
use super::sequence::Sequence;
use super::stats::Stats;
use super::tree::{Share, Tree};
use crate::auth::ntlm::NtHash;
use crate::crypto::{Cipher, CipherId, SessionKeys, Signer, SigningAlgorithm};
use crate::status::NtStatus;
use crate::wire::negotiate::Dialect;

pub struct Session {
    pub id: u64,
    pub account: Arc<str>,
    /// Signs what goes over the connection that it was made over, and what binds another one to it.
    pub signer: Arc<Signer>,
    /// Encrypts on all of its connections, where the first one negotiated a cipher.
    pub cipher: Option<Cipher>,
    /// Everything is encrypted.
    pub encrypt: bool,
    /// What the client proved to have; a key that is rotated away ends its sessions.
    pub proved: NtHash,
    /// What its first connection negotiated.
    pub dialect: Dialect,
    pub client_guid: [u8; 16],
    pub cipher_id: Option<CipherId>,
    pub signing: SigningAlgorithm,
    /// Where the service tells of breaks and ends.
    pub notices: mpsc::UnboundedSender<Notice>,
    /// Those that are bound to it.
    connections: Mutex<Vec<Weak<Connection>>>,
    trees: Mutex<HashMap<u32, Arc<Tree>>>,
    opens: Mutex<HashMap<u64, Arc<Open>>>,
    /// Guids of CREATEs that are being carried out.
    creating: Mutex<HashSet<u128>>,
    next_tree: AtomicU32,
    next_open: AtomicU64,
    ended: AtomicBool,
    stats: Arc<Stats>,
    replays: Arc<Replays>,
}

pub struct Creating {
    session: Arc<Session>,
    guid: u128,
}

impl Drop for Creating {
    fn drop(&mut self) {
        self.session.creating.lock().remove(&self.guid);
    }
}

/// Why what a session has open ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client said so.
    Closed,
    /// The connection is gone, or the session: durable opens are kept for a while.
    Lost,
}

impl Session {
    pub fn new(
        id: u64,
        account: Arc<str>,
        keys: SessionKeys,
        encrypt: bool,
        proved: NtHash,
        negotiated: &Negotiated,
        notices: mpsc::UnboundedSender<Notice>,
        server: &Server,
    ) -> Self {
        let stats = server.stats();
        stats.session_opened();
        Self {
            id,
            account,
            signer: keys.signer,
            cipher: keys.cipher,
            encrypt,
            proved,
            dialect: negotiated.dialect,
            client_guid: negotiated.client_guid,
            cipher_id: negotiated.cipher,
            signing: negotiated.signing,
            notices,
            connections: Mutex::default(),
            trees: Mutex::default(),
            opens: Mutex::default(),
            creating: Mutex::default(),
            next_tree: AtomicU32::new(1),
            next_open: AtomicU64::new(1),
            ended: AtomicBool::new(false),
            stats,
            replays: Arc::clone(&server.replays),
        }
    }

    /// What this client's CREATE with this guid is known by.
    pub fn create_name(&self, guid: u128) -> CreateName {
        CreateName { account: Arc::clone(&self.account), client: self.client_guid, guid }
    }

    /// The connection carries it from now on. Refused where it has ended, or has too many.
    pub fn bind(&self, connection: &Arc<Connection>) -> Result<(), NtStatus> {
        let mut connections = self.connections.lock();
        if self.ended.load(Ordering::Acquire) {
            return Err(NtStatus::USER_SESSION_DELETED);
        }
        if connections.len() >= CHANNELS_MAX {
            return Err(NtStatus::INSUFFICIENT_RESOURCES);
        }
        connections.push(Arc::downgrade(connection));
        Ok(())
    }

    /// The connection is gone. True where it was the last one: then so is the session.
    pub fn unbind(&self, connection: &Arc<Connection>) -> bool {
        let mut connections = self.connections.lock();
        connections.retain(|bound| !std::ptr::eq(bound.as_ptr(), Arc::as_ptr(connection)));
        connections.is_empty()
    }

    /// Those that are there: `first` before the others, if it is one of them.
    pub fn connections(&self, first: Option<&Weak<Connection>>) -> Vec<Arc<Connection>> {
        let mut connections: Vec<_> = self.connections.lock().iter().filter_map(Weak::upgrade).collect();
        connections
            .sort_by_key(|one| first.is_none_or(|first| !std::ptr::eq(first.as_ptr(), Arc::as_ptr(one))));
        connections
    }

    pub fn tree(&self, id: u32) -> Option<Arc<Tree>> {
        self.trees.lock().get(&id).cloned()
    }

    pub fn add_tree(&self, share: Share) -> Result<Arc<Tree>, NtStatus> {
        let mut trees = self.trees.lock();
        if self.ended.load(Ordering::Acquire) {
            return Err(NtStatus::USER_SESSION_DELETED);
        }
        if trees.len() >= TREES_MAX {
            return Err(NtStatus::INSUFFICIENT_RESOURCES);
        }
        let id = self.next_tree.fetch_add(1, Ordering::Relaxed);
        let tree = Arc::new(Tree { id, share });
        trees.insert(id, Arc::clone(&tree));
        Ok(tree)
    }

    pub fn has_opens(&self) -> bool {
        !self.opens.lock().is_empty()
    }

    /// Whether another open would be one too many.
    pub fn may_open(&self) -> Result<(), NtStatus> {
        match self.opens.lock().len() < OPENS_MAX {
            true => Ok(()),
            false => Err(NtStatus::TOO_MANY_OPENED_FILES),
        }
    }

    /// Refused where the session or the tree ended meanwhile: the caller closes what it opened.
    pub fn add_open(
        &self,
        tree: u32,
        persistent: Option<u64>,
        what: Opened,
        by: OpenedBy,
    ) -> Result<Arc<Open>, Box<(NtStatus, Opened)>> {
        let volatile = self.next_open.fetch_add(1, Ordering::Relaxed);
        let trees = self.trees.lock();
        let mut opens = self.opens.lock();
        if self.ended.load(Ordering::Acquire) || !trees.contains_key(&tree) {
            return Err(Box::new((NtStatus::NETWORK_NAME_DELETED, what)));
        }
        let id = FileId { persistent: persistent.unwrap_or(volatile), volatile };
        let sequence = Arc::new(Sequence::new(by.sequence));
        let open =
            Arc::new(Open { id, tree, what, connection: by.connection, sequence, users: Arc::default() });
        opens.insert(volatile, Arc::clone(&open));
        self.stats.file_opened();
        Ok(open)
    }

    pub fn open(&self, tree: u32, id: FileId) -> Option<Arc<Open>> {
        let opens = self.opens.lock();
        let open = opens.get(&id.volatile)?;
        (open.id == id && open.tree == tree).then(|| Arc::clone(open))
    }

    /// On whichever of its trees.
    pub fn open_anywhere(&self, id: FileId) -> Option<Arc<Open>> {
        self.opens.lock().get(&id.volatile).filter(|open| open.id == id).cloned()
    }

    pub fn open_by_handle(&self, handle: u64) -> Option<Arc<Open>> {
        self.opens.lock().values().find(|open| open.id.persistent == handle).cloned()
    }

    /// One that has the lease with this key, and the version of that.
    pub fn open_by_lease(&self, key: u128) -> Option<(Arc<Open>, LeaseVersion)> {
        let lease = |open: &Arc<Open>| match &open.what {
            Opened::File(file) => {
                file.lease.filter(|(own, _)| *own == key).map(|(_, version)| (Arc::clone(open), version))
            }
            Opened::Pipe(_) => None,
        };
        self.opens.lock().values().find_map(lease)
    }

    /// What a CREATE with this guid has opened.
    pub fn open_by_create_guid(&self, guid: u128) -> Option<Arc<Open>> {
        let is_it = |open: &&Arc<Open>| match &open.what {
            Opened::File(file) => file.replay.lock().as_ref().is_some_and(|replay| replay.guid == guid),
            Opened::Pipe(_) => false,
        };
        self.opens.lock().values().find(is_it).cloned()
    }

    /// A CREATE with this guid is carried out until the guard is dropped. None where one is already, over this connection or another.
    pub fn creating(self: &Arc<Self>, guid: u128) -> Option<Creating> {
        self.creating.lock().insert(guid).then(|| Creating { session: Arc::clone(self), guid })
    }

    pub fn forget_open(&self, id: FileId) -> Option<Arc<Open>> {
        let open = self.opens.lock().remove(&id.volatile);
        if open.is_some() {
            self.stats.file_closed();
        }
        open
    }

    pub async fn end_tree(&self, id: u32) -> Option<()> {
        self.trees.lock().remove(&id)?;
        self.end_opens(|open| open.tree == id, End::Closed).await;
        Some(())
    }

    /// True the first time: then everything that it has open ends, too, and no connection is bound to it any more.
    pub async fn end(&self, why: End) -> bool {
        let bound = {
            let mut connections = self.connections.lock();
            if self.ended.swap(true, Ordering::AcqRel) {
                return false;
            }
            std::mem::take(&mut *connections)
        };
        for connection in bound.iter().filter_map(Weak::upgrade) {
            connection.drop_channel(self.id);
        }
        self.trees.lock().clear();
        self.end_opens(|_| true, why).await;
        self.stats.session_closed();
        true
    }

    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    async fn end_opens(&self, which: impl Fn(&Open) -> bool, why: End) {
        let ending: Vec<Arc<Open>> = {
            let mut opens = self.opens.lock();
            let mut ids: Vec<u64> = opens.iter().filter(|(_, open)| which(open)).map(|(id, _)| *id).collect();
            // In the order in which they were opened.
            ids.sort_unstable();
            ids.iter().filter_map(|id| opens.remove(id)).collect()
        };
        for open in ending {
            self.stats.file_closed();
            let Opened::File(file) = &open.what else { continue };
            match why {
                End::Lost => {
                    let replay = file.replay.lock().as_deref().copied();
                    if let Some(replay) = replay.filter(|replay| replay.durable.is_some()) {
                        let made = Made { handle: file.file.handle(), action: replay.action };
                        self.replays.remember(self.create_name(replay.guid), made);
                    }
                    file.file.disconnect().await;
                }
                End::Closed => {
                    if let Err(refusal) = file.file.close().await {
                        tracing::debug!(?refusal, "an open of a session that ends could not be closed");
                    }
                }
            }
        }
    }
}
