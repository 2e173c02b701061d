//! What entries were at the moments of snapshots.
//!
//! An entry holds for the snapshots after `since`. When it changes, or goes, after a later snapshot that still is there,
//! its old value is kept under the moment of the last snapshot that shows it. So the value at a moment is the oldest kept
//! one that holds as long, if it began early enough; else the entry itself, if that did.

use lazuli_engine::{Reader, Scan, Value};

use super::{Entry, NodeId, Slot, Tree, key};
use crate::fault::Answer;
use crate::store::record::Record as _;
use crate::store::record::place::PlaceRecord;
use crate::store::unit::Changes;

impl Tree {
    /// What stands in a slot: now, as a check of the commit, or at the moment of a snapshot.
    pub async fn look<E: Entry>(&self, reader: &Reader, slot: &Slot, at: Option<u64>) -> Answer<Option<E>> {
        if let Some(moment) = at {
            let range = key::earlier_from(E::SPACE, slot, moment);
            let page = reader.scan(Scan { limit: 1, ..Scan::of(range) }).await?;
            if let Some((_, kept)) = page.items.first() {
                let kept = E::from_value(&kept.value)?;
                return Ok((kept.since() < moment).then_some(kept));
            }
        }
        let Some(entry) = reader.get(slot.key::<E>()).await? else { return Ok(None) };
        let entry = E::from_value(&entry.value)?;
        Ok(Some(entry).filter(|entry| at.is_none_or(|moment| entry.since() < moment)))
    }

    /// Keeps what an entry is, if a snapshot shows it; then the kept one has its content too. Every snapshot that is taken
    /// or deleted changes the record of the tree, which is a check of every commit below it.
    pub(super) async fn keep<E: Entry, W: Changes>(
        &self,
        reader: &Reader,
        changes: &mut W,
        slot: &Slot,
        entry: &E,
    ) -> Answer<bool> {
        let Some(shown) = self.last_snapshot_after::<E>(reader, entry.since()).await? else {
            return Ok(false);
        };
        changes.put(key::earlier(E::SPACE, slot, shown), entry.to_value());
        changes.put(key::by_moment(E::SPACE, self.generation, shown, slot), Value::new());
        if let Some(tag) = E::SPACE.earlier_place.filter(|_| entry.is_placed()) {
            let place = PlaceRecord { parent: slot.parent, folded: slot.folded.clone() };
            changes.put(key::earlier_place(tag, entry.node(), shown), place.encode());
        }
        Ok(true)
    }

    /// What a node was at the moment of a snapshot, if something was kept of it since then, wherever it stood.
    pub async fn look_for_node<E: Entry>(&self, reader: &Reader, node: NodeId, at: u64) -> Answer<Option<E>> {
        let Some(tag) = E::SPACE.earlier_place else { return Ok(None) };
        // It stood there from the snapshot before on: what it was elsewhere was kept for that one.
        let range = key::earlier_places_from(tag, node, at);
        let page = reader.scan(Scan { limit: 1, ..Scan::of(range) }).await?;
        let Some((_, place)) = page.items.first() else { return Ok(None) };
        let PlaceRecord { parent, folded } = PlaceRecord::decode(&place.value)?;
        let found = self.look::<E>(reader, &Slot { parent, folded }, Some(at)).await?;
        Ok(found.filter(|found| found.node() == node))
    }

    /// The last snapshot that is there and shows what was written after this moment.
    async fn last_snapshot_after<E: Entry>(&self, reader: &Reader, since: u64) -> Answer<Option<u64>> {
        if since >= self.moment {
            return Ok(None);
        }
        let range = key::snapshots_within(E::SPACE, self.generation, since, self.moment);
        let scan = Scan { limit: 1, reverse: true, keys_only: true, ..Scan::of(range) };
        let page = reader.scan(scan).await?;
        Ok(page.items.first().and_then(|(key, _)| key::moment_of(key)))
    }
}
