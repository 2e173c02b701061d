//! The rows of what is open of one node, together: changed as one, written as one.

use lazuli_engine::Value;
use lazuli_model::admission::caching::{Breaking, LeaseOwner};
use lazuli_model::admission::sharing::{Break, Caching, Open};
use lazuli_model::operation::Mode;
use lazuli_model::time::Timestamp;

use super::key;
use super::opens::write_opens;
use crate::fault::Answer;
use crate::store::desk::Node;
use crate::store::key::Incarnation;
use crate::store::record::Record as _;
use crate::store::record::open::{OpenRecord, OpensRecord};
use crate::store::unit::{Changes as _, Unit};
use crate::{Members, Services};

pub(in crate::store) struct OpenRows {
    pub node: Node,
    pub all: OpensRecord,
    /// Those that count.
    pub rows: Vec<(u64, OpenRecord)>,
    dirty: Vec<u64>,
    /// Servers whose clients have something to hear.
    tell: Vec<Incarnation>,
}

/// What became of breaks that were asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct Applied {
    /// A client has to acknowledge one that is waited for.
    pub waits: bool,
    /// The client of this open would have to be asked, and is not connected.
    pub disconnected: Option<u64>,
}

impl<M: Mode> Unit<M> {
    pub(in crate::store) async fn open_rows(&self, node: Node) -> Answer<OpenRows> {
        let (mut rows, all) = self.opens_of(node.0, node.1).await?;
        // A client that has not acknowledged a break in time keeps nothing, and can acknowledge it no more.
        for (_, row) in &mut rows {
            let kept = &mut row.open.kept;
            if kept.breaking.is_some() && kept.now(self.now()).is_none() {
                (kept.held, kept.breaking) = (Caching::NONE, None);
            }
        }
        Ok(OpenRows { node, all, rows, dirty: Vec::new(), tell: Vec::new() })
    }
}

impl OpenRows {
    /// Of a node that was made just now.
    pub fn none(node: Node) -> Self {
        Self { node, all: OpensRecord::default(), rows: Vec::new(), dirty: Vec::new(), tell: Vec::new() }
    }

    /// As they are judged by.
    pub fn opens(&self) -> Vec<Open> {
        self.rows.iter().map(|(_, row)| row.open.clone()).collect()
    }

    /// Whose clients have it open.
    pub fn servers(&self) -> Vec<Incarnation> {
        let mut servers: Vec<Incarnation> = self.rows.iter().map(|(_, row)| row.server).collect();
        servers.sort_unstable();
        servers.dedup();
        servers
    }

    pub fn get(&self, handle: u64) -> Option<&OpenRecord> {
        self.rows.iter().find(|(own, _)| *own == handle).map(|(_, row)| row)
    }

    pub fn change(&mut self, handle: u64, change: impl FnOnce(&mut OpenRecord)) -> bool {
        let Some((_, row)) = self.rows.iter_mut().find(|(own, _)| *own == handle) else { return false };
        change(row);
        self.dirty.push(handle);
        true
    }

    /// All opens that keep one lease.
    pub fn change_lease(&mut self, owner: LeaseOwner, change: impl Fn(&mut OpenRecord)) {
        for (handle, row) in &mut self.rows {
            if row.open.kept.owner == Some(owner) {
                change(row);
                self.dirty.push(*handle);
            }
        }
    }

    pub fn insert(&mut self, handle: u64, row: OpenRecord) {
        self.all.count += 1;
        self.rows.push((handle, row));
        self.dirty.push(handle);
    }

    /// Writes down what clients are to give up. One that is asked already is not asked again before it has answered.
    pub fn apply(&mut self, breaks: &[(u64, Break)], now: Timestamp) -> Applied {
        let mut applied = Applied::default();
        for (handle, change) in breaks {
            let Some(row) = self.get(*handle) else { continue };
            let kept = row.open.kept;
            if row.open.is_disconnected {
                applied.disconnected = Some(*handle);
                continue;
            }
            if kept.breaking.is_some() {
                applied.waits |= change.waits;
                continue;
            }
            if change.to.has(kept.held) {
                continue;
            }
            applied.waits |= change.waits;
            let is_acknowledged = kept.held.write || kept.held.handle;
            let change = |row: &mut OpenRecord| {
                match is_acknowledged {
                    true => row.open.kept.breaking = Some(Breaking { to: change.to, since: now }),
                    false => row.open.kept.held = change.to,
                }
                if let Some(lease) = &mut row.lease {
                    lease.epoch = lease.epoch.wrapping_add(1);
                }
            };
            self.tell.push(row.server);
            match kept.owner {
                Some(owner) => {
                    let servers = self.rows.iter().filter(|(_, row)| row.open.kept.owner == Some(owner));
                    self.tell.extend(servers.map(|(_, row)| row.server));
                    self.change_lease(owner, change);
                }
                None => drop(self.change(*handle, change)),
            }
        }
        applied
    }

    /// An open whose client is not connected, and cannot be asked, does not count any more; the sweeper closes it.
    pub fn give_up(&mut self, handle: u64) {
        self.change(handle, |row| {
            if let Some(durable) = &mut row.durable {
                durable.milliseconds = 0;
            }
        });
    }

    /// Puts what was changed.
    pub fn write(&mut self, unit: &mut Unit) {
        self.dirty.sort_unstable();
        self.dirty.dedup();
        if self.dirty.is_empty() {
            return;
        }
        let (generation, node) = self.node;
        for handle in std::mem::take(&mut self.dirty) {
            if let Some(row) = self.get(handle) {
                unit.put(key::open(generation, node, handle), row.encode());
            }
        }
        self.all = write_opens(unit, generation, node, self.all);
        unit.notes().desk.wakes.push(self.node);
        self.tell.sort_unstable();
        self.tell.dedup();
        for server in std::mem::take(&mut self.tell) {
            unit.tell_of_opens(server, self.node);
        }
    }
}

impl Unit {
    /// Once this is committed, the server looks at the opens of a node.
    pub(in crate::store) fn tell_of_opens(&mut self, server: Incarnation, node: Node) {
        let is_own =
            |services: &Services| services.members() == Members::Alone || services.incarnation() == server;
        if is_own(self.services()) {
            self.notes().desk.looks.push(node);
        } else {
            self.put(key::letter_of_opens(server, node.0, node.1), Value::new());
        }
    }
}
