//! The desk looks at rows that were changed, and tells the clients of this server what has become of theirs.

use lazuli_model::admission::caching::{Kept, OplockLevel};
use lazuli_model::admission::sharing::Caching;

use super::{DeskNotes, Holder, Node, State};
use crate::Services;
use crate::fault::Answer;
use crate::open_file::{Notice, Outcome};
use crate::store::record::Record as _;
use crate::store::record::open::OpenRecord;
use crate::store::share::{OpenKey, key};

impl Services {
    /// What a commit of this server did.
    pub(in crate::store) fn tell_desk(&self, notes: DeskNotes) {
        let DeskNotes { looks, wakes, changes, letters: _ } = notes;
        for node in wakes.iter().chain(&looks) {
            self.opens().wake(*node);
        }
        for node in looks {
            if self.opens().has_open(node) {
                let services = self.clone();
                tokio::spawn(async move { services.look_at_opens(node).await });
            }
        }
        for change in changes {
            self.opens().deliver(&change);
        }
    }

    /// Reads the rows of this server's opens of a node, and tells their clients what is new in them.
    pub(crate) async fn look_at_opens(&self, node: Node) {
        let _alone = self.opens().looker(node).lock().await;
        let handles = self.opens().handles(node);
        match self.read_opens(node, &handles).await {
            Ok((rows, pending)) => {
                self.opens().tell_pending(node, pending);
                self.opens().compare(node, &rows);
            }
            // The next look says it; until then a break waits no longer than its time.
            Err(fault) => tracing::warn!(cause = ?fault.0.cause, "opens could not be looked at"),
        }
    }

    /// A client acknowledges a break: what the commit leaves it with, and anything else that the commit tells. Nothing is told to the
    /// client between the commit and the desk's knowing of it: what others break of the rest afterwards is news.
    pub(crate) async fn acknowledge<T>(
        &self,
        open: &OpenKey,
        commit: impl Future<Output = Outcome<(Kept, T)>>,
    ) -> Outcome<(Kept, T)> {
        let node = open.node();
        let alone = self.opens().looker(node).lock().await;
        let acknowledged = commit.await;
        if let Ok((kept, _)) = &acknowledged {
            self.opens().know(open.handle, kept, node);
        }
        drop(alone);
        self.look_at_opens(node).await;
        acknowledged
    }

    /// The rows, and whether the node is pending deletion.
    async fn read_opens(
        &self,
        node: Node,
        handles: &[u64],
    ) -> Answer<(Vec<(u64, Option<OpenRecord>)>, bool)> {
        let reader = self.engine().reader().await?;
        let pending = reader.get_untracked(key::pending(node.0, node.1)).await?.is_some();
        let keys = handles.iter().map(|handle| key::open(node.0, node.1, *handle)).collect();
        let mut rows = Vec::with_capacity(handles.len());
        for (handle, entry) in handles.iter().zip(reader.get_untracked_many(keys).await?) {
            let row = entry.map(|entry| OpenRecord::decode(&entry.value)).transpose()?;
            rows.push((*handle, row));
        }
        Ok((rows, pending))
    }
}

impl super::Desk {
    fn looker(&self, node: Node) -> &tokio::sync::Mutex<()> {
        let [first, ..] = &self.1;
        self.1.get(node.1.number() as usize % self.1.len()).unwrap_or(first)
    }

    fn has_open(&self, node: Node) -> bool {
        self.0.lock().by_node.contains_key(&node)
    }

    fn handles(&self, node: Node) -> Vec<u64> {
        self.0.lock().by_node.get(&node).cloned().unwrap_or_default()
    }

    pub(super) fn all_nodes(&self) -> Vec<Node> {
        self.0.lock().by_node.keys().copied().collect()
    }

    /// What the client of an open knows now.
    fn know(&self, handle: u64, kept: &Kept, node: Node) {
        if let Some(known) = self.0.lock().kept.get_mut(&Holder::of(handle, kept, node)) {
            known.kept = *kept;
        }
    }

    fn compare(&self, node: Node, rows: &[(u64, Option<OpenRecord>)]) {
        let mut state = self.0.lock();
        for (handle, row) in rows {
            match row {
                Some(row) if state.opens.get(handle).is_some_and(|own| own.server == row.server) => {
                    state.tell_break(*handle, row, node);
                }
                _ => state.tell_closed(*handle),
            }
        }
    }
}

impl State {
    fn tell_closed(&mut self, handle: u64) {
        let Some(registered) = self.opens.get(&handle) else { return };
        // A connection that is gone needs no word.
        let _ = registered.notices.send(Notice::Closed { handle });
        self.forget(handle);
    }

    /// One word for all opens of a lease.
    fn tell_break(&mut self, handle: u64, row: &OpenRecord, node: Node) {
        let now = &row.open.kept;
        let holder = Holder::of(handle, now, node);
        let Some(known) = self.kept.get_mut(&holder) else { return };
        let before = std::mem::replace(&mut known.kept, *now);
        let Some((to, acknowledge)) = news(&before, now) else { return };
        let notice = match now.owner {
            None => Notice::OplockBreak { handle, to: OplockLevel::of(to), acknowledge },
            Some(owner) => Notice::LeaseBreak {
                key: owner.key,
                from: if acknowledge { now.held } else { before.held },
                to,
                epoch: row.lease.map_or(0, |lease| lease.epoch),
                acknowledge,
            },
        };
        if let Some(registered) = self.opens.get(&handle) {
            let _ = registered.notices.send(notice);
        }
    }
}

/// What a client has to be told that knows one state where another is true; whether it has to acknowledge it.
fn news(before: &Kept, now: &Kept) -> Option<(Caching, bool)> {
    match (before.breaking, now.breaking) {
        (known, Some(breaking)) if known != Some(breaking) => Some((breaking.to, true)),
        // It was acknowledged.
        (Some(_), None) => None,
        (None, None) if before.held != now.held && before.held.has(now.held) => Some((now.held, false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use lazuli_model::admission::caching::Breaking;
    use lazuli_model::time::Timestamp;

    use super::*;

    #[test]
    fn what_a_client_is_told() {
        let kept = |held, breaking: Option<Caching>| Kept {
            held,
            owner: None,
            breaking: breaking.map(|to| Breaking { to, since: Timestamp(1) }),
        };
        let (rwh, rh, none) = (Caching::RWH, Caching::RH, Caching::NONE);
        assert_eq!(news(&kept(rwh, None), &kept(rwh, Some(rh))), Some((rh, true)));
        assert_eq!(news(&kept(rwh, Some(rh)), &kept(rwh, Some(rh))), None, "once");
        assert_eq!(news(&kept(rwh, Some(rh)), &kept(rh, None)), None, "acknowledged");
        assert_eq!(news(&kept(Caching::R, None), &kept(none, None)), Some((none, false)));
        assert_eq!(news(&kept(Caching::R, None), &kept(rh, None)), None, "it got more");
        assert_eq!(news(&kept(rh, None), &kept(rh, None)), None);
    }
}
