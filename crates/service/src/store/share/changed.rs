//! Changes are told to the watches of the directories above them.

use lazuli_model::operation::Mode;

use super::key;
use crate::Members;
use crate::fault::Answer;
use crate::open_file::{ChangeAction, ChangeFilter};
use crate::store::key::{Generation, Incarnation};
use crate::store::record::Record as _;
use crate::store::record::path::PathRecord;
use crate::store::record::place::PlaceRecord;
use crate::store::record::watch::{Changed, Watchers};
use crate::store::tree::{self, Entry as _, NodeId, Slot, Tree};
use crate::store::unit::{Changes as _, Unit};

/// Directories above an entry that are looked for; a path has fewer.
const HIGHEST: usize = 500;

/// What the change of a record counts as.
pub(super) fn difference(before: &PathRecord, after: &PathRecord) -> ChangeFilter {
    let mut filter = 0;
    let mut note = |differs: bool, bit: ChangeFilter| filter |= if differs { bit.0 } else { 0 };
    note(before.attributes != after.attributes, ChangeFilter::ATTRIBUTES);
    note(before.length() != after.length(), ChangeFilter::SIZE);
    note(before.times.last_written != after.times.last_written, ChangeFilter::LAST_WRITE);
    note(before.times.created != after.times.created, ChangeFilter::CREATION);
    note(before.times.last_accessed != after.times.last_accessed, ChangeFilter::LAST_ACCESS);
    note(before.permission != after.permission, ChangeFilter::SECURITY);
    ChangeFilter(filter)
}

pub(super) fn name_filter(record: &PathRecord) -> ChangeFilter {
    if record.is_directory() { ChangeFilter::DIRECTORY_NAME } else { ChangeFilter::FILE_NAME }
}

impl<M: Mode> Unit<M> {
    /// The other servers on which directories of the share are watched. What begins to be watched at this very time may see the
    /// change or not.
    async fn watching(&self, generation: Generation) -> Answer<Vec<Incarnation>> {
        if self.services().members() == Members::Alone {
            return Ok(Vec::new());
        }
        let own = self.services().incarnation();
        Ok(match self.reader().get_untracked(key::watchers(generation)).await? {
            None => Vec::new(),
            Some(entry) => {
                let Watchers { servers } = Watchers::decode(&entry.value)?;
                servers.into_iter().filter(|server| *server != own).collect()
            }
        })
    }
}

impl Unit {
    /// Something happened to the entry of this name in a directory.
    pub(super) async fn note_change(
        &mut self,
        tree: &Tree,
        parent: NodeId,
        name: &str,
        action: ChangeAction,
        filter: ChangeFilter,
    ) -> Answer<()> {
        let others = self.watching(tree.generation).await?;
        let is_own = self.services().opens().is_watched(tree.generation);
        if filter.0 == 0 || (others.is_empty() && !is_own) {
            return Ok(());
        }
        let mut seen_from = vec![(parent, name.to_owned())];
        let (mut at, mut path) = (parent, name.to_owned());
        let Some(tag) = PathRecord::SPACE.place else { return Ok(()) };
        while at != tree.root && seen_from.len() < HIGHEST {
            let reader = self.reader();
            let Some(place) = reader.get_untracked(tree::key::place(tag, at)).await? else { break };
            let PlaceRecord { parent, folded } = PlaceRecord::decode(&place.value)?;
            let slot = Slot { parent, folded };
            let Some(entry) = reader.get_untracked(slot.key::<PathRecord>()).await? else { break };
            path = format!("{}\\{path}", PathRecord::decode(&entry.value)?.name);
            at = slot.parent;
            seen_from.push((at, path.clone()));
        }
        let changed = Changed { generation: tree.generation, seen_from, action, filter };
        for server in others {
            // Read in the order of what happened: by the time, and within a commit one after the other.
            let order = {
                let mut notes = self.notes();
                notes.desk.letters = notes.desk.letters.wrapping_add(1);
                u64::from(notes.desk.letters) << 48 | u64::from(rand::random::<u32>())
            };
            let number = u128::from(self.now().0) << 64 | u128::from(order);
            self.put(key::letter_of_change(server, number), changed.encode());
        }
        if is_own {
            self.notes().desk.changes.push(changed);
        }
        Ok(())
    }

    /// This server watches a directory of the share.
    pub(crate) async fn join_watchers(&mut self, generation: Generation) -> Answer<()> {
        if self.services().members() == Members::Alone {
            return Ok(());
        }
        let (own, at) = (self.services().incarnation(), key::watchers(generation));
        let mut watchers = match self.reader().get(at.clone()).await? {
            None => Watchers::default(),
            Some(entry) => Watchers::decode(&entry.value)?,
        };
        if watchers.servers.contains(&own) {
            return Ok(());
        }
        // Servers that died have not taken themselves out of it.
        let mut living = Vec::new();
        for server in watchers.servers {
            if self.reader().get(crate::store::key::server(server)).await?.is_some() {
                living.push(server);
            }
        }
        living.push(own);
        watchers = Watchers { servers: living };
        self.put(at, watchers.encode());
        Ok(())
    }

    /// It watches none any more.
    pub(crate) async fn leave_watchers(&mut self, generation: Generation) -> Answer<()> {
        let (own, at) = (self.services().incarnation(), key::watchers(generation));
        let Some(entry) = self.reader().get(at.clone()).await? else { return Ok(()) };
        let mut watchers = Watchers::decode(&entry.value)?;
        watchers.servers.retain(|server| *server != own);
        match watchers.servers.is_empty() {
            true => self.delete(at),
            false => self.put(at, watchers.encode()),
        }
        Ok(())
    }
}
