//! What is open through this server: the clients to tell of breaks and ends, tasks that wait for a change, watches. Nothing is decided by it: what
//! an open is stands in rows, and the desk is told of them by the commits of this server and by letters of others (decision 0048).

mod look;
mod mail;
mod wait;
mod watch;

pub(crate) use watch::{News, Watcher};

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use lazuli_model::admission::caching::{Kept, LeaseOwner};
use lazuli_model::admission::sharing::Break;
use parking_lot::Mutex;
use tokio::sync::{Mutex as FairMutex, Notify, mpsc};

use super::key::{Generation, Incarnation};
use super::record::watch::Changed;
use super::share::OpenKey;
use super::tree::NodeId;
use crate::open_file::Notice;

/// A node of a share.
pub(crate) type Node = (Generation, NodeId);

/// What clients of SMB have to give up, by the handles of their opens.
#[derive(Clone, Debug)]
pub struct WantedBreaks {
    pub(in crate::store) account: String,
    pub(in crate::store) share: String,
    pub(in crate::store) node: Node,
    pub(in crate::store) breaks: Vec<(u64, Break)>,
}

/// What the desk is told of a commit.
#[derive(Default)]
pub(in crate::store) struct DeskNotes {
    /// Clients that have these open may have something to hear.
    pub looks: Vec<Node>,
    /// Tasks that wait for these may try again.
    pub wakes: Vec<Node>,
    pub changes: Vec<Changed>,
    /// Changes that others are told of.
    pub letters: u16,
}

#[derive(Default)]
pub(crate) struct Desk(Mutex<State>, [FairMutex<()>; LOOKERS]);

/// Of one node, one looks at a time: what is read later is told later.
const LOOKERS: usize = 16;

#[derive(Default)]
struct State {
    opens: HashMap<u64, Registered>,
    by_node: HashMap<Node, Vec<u64>>,
    /// What the client of each oplock and lease knows.
    kept: HashMap<Holder, Known>,
    /// The opens of each lease, whichever node they are of.
    by_lease: HashMap<LeaseOwner, Vec<u64>>,
    waiting: HashMap<Node, (usize, Arc<Notify>)>,
    watchers: HashMap<Generation, Vec<Arc<Watcher>>>,
    reads_mail: bool,
}

struct Registered {
    key: OpenKey,
    holder: Holder,
    server: Incarnation,
    notices: mpsc::UnboundedSender<Notice>,
}

/// What a client knows that it keeps, by so many opens.
#[derive(Clone, Copy, Default)]
struct Known {
    kept: Kept,
    opens: usize,
}

/// Who is told of a break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holder {
    Oplock(u64),
    Lease(LeaseOwner, Node),
}

impl Holder {
    fn of(handle: u64, kept: &Kept, node: Node) -> Self {
        kept.owner.map_or(Self::Oplock(handle), |owner| Self::Lease(owner, node))
    }
}

impl Desk {
    /// An open of this server's client. What happened to it since its commit is found by a look.
    pub fn register(
        &self,
        key: OpenKey,
        kept: &Kept,
        server: Incarnation,
        notices: mpsc::UnboundedSender<Notice>,
    ) {
        let mut state = self.0.lock();
        let (handle, node) = (key.handle, key.node());
        let holder = Holder::of(handle, kept, node);
        // Of a lease that others of the client's opens keep, a look finds out more than this commit knew.
        state.kept.entry(holder).or_insert(Known { kept: *kept, opens: 0 }).opens += 1;
        if let Some(owner) = kept.owner {
            state.by_lease.entry(owner).or_default().push(handle);
        }
        state.by_node.entry(node).or_default().push(handle);
        state.opens.insert(handle, Registered { key, holder, server, notices });
    }

    /// The client of this open is told nothing any more. False when it is not known.
    pub fn forget(&self, handle: u64) -> bool {
        self.0.lock().forget(handle)
    }

    /// An open of this server with a lease of this client.
    pub fn find_lease(&self, owner: LeaseOwner) -> Option<OpenKey> {
        let state = self.0.lock();
        let handle = state.by_lease.get(&owner)?.first()?;
        state.opens.get(handle).map(|registered| registered.key.clone())
    }

    fn is_idle(&self) -> bool {
        let state = self.0.lock();
        state.opens.is_empty() && state.watchers.is_empty()
    }
}

impl State {
    fn forget(&mut self, handle: u64) -> bool {
        let Some(Registered { key, holder, .. }) = self.opens.remove(&handle) else { return false };
        leave(&mut self.by_node, &key.node(), handle);
        if let Holder::Lease(owner, _) = holder {
            leave(&mut self.by_lease, &owner, handle);
        }
        if let Some(known) = self.kept.get_mut(&holder) {
            known.opens = known.opens.saturating_sub(1);
            if known.opens == 0 {
                self.kept.remove(&holder);
            }
        }
        true
    }
}

fn leave<K: Eq + Hash>(handles: &mut HashMap<K, Vec<u64>>, of: &K, handle: u64) {
    if let Some(all) = handles.get_mut(of) {
        all.retain(|other| *other != handle);
        if all.is_empty() {
            handles.remove(of);
        }
    }
}
