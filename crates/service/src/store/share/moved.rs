//! A file or directory that is open gets another name.

use lazuli_engine::{KeyRange, Scan};
use lazuli_model::admission::caching::breaks_of_conflict;
use lazuli_model::admission::sharing::{self, Rights};
use lazuli_model::admission::{Preconditions, lease};
use lazuli_model::operation::Writes;
use lazuli_model::smb::{FileAttributes, SmbWishes};

use super::opened::{DEEPEST, Opened};
use super::{key, opens};
use crate::file::{FileAddress, Renamed};
use crate::open_file::{Outcome, Refusal};
use crate::store::found::Found;
use crate::store::record::Record as _;
use crate::store::record::open::OpenRecord;
use crate::store::record::path::{ExistingPath, PathRecord};
use crate::store::record::place::PlaceRecord;
use crate::store::tree::{self, Entry as _, NodeId};

/// What stands where a file is to be renamed to.
pub(crate) struct Destination {
    found: Found<ExistingPath>,
}

/// What keeps a rename from its new name.
pub(crate) enum InTheWay {
    Nothing(Box<Destination>),
    /// Clients of what stands there were asked whether they have it open still.
    Wait,
}

impl Opened<Writes> {
    /// Judges what stands at the new name ([MS-FSA] section 2.1.5.14.11).
    pub async fn destination(&self, to: &[String], replaces: bool) -> Outcome<InTheWay> {
        let share = self.place.share_name.clone();
        let found = self.unit.path(&FileAddress { share, snapshot: None, path: to.to_vec() }).await?;
        // To put a name into a directory is to open that for writing, for a moment, sharing it for reading and writing, but not for deletion.
        let parent = (self.place.share.generation, found.place().parent());
        let above = self.unit.open_rows(parent).await?.opens();
        let shares = Rights::READ.and(Rights::WRITE);
        if !above.iter().all(|open| sharing::agree(Rights::WRITE, shares, open)) {
            return Err(Refusal::SharingViolation);
        }
        let Some(there) = found.record() else {
            return Ok(InTheWay::Nothing(Box::new(Destination { found })));
        };
        if there.record.node == self.record.node {
            return Ok(InTheWay::Nothing(Box::new(Destination { found })));
        }
        if !replaces {
            return Err(Refusal::ObjectNameCollision);
        }
        let read_only = FileAttributes::from_bits(there.record.attributes).has(FileAttributes::READ_ONLY);
        if there.record.is_directory() || there.delete_pending || read_only {
            return Err(Refusal::AccessDenied);
        }
        let is_leased = there
            .record
            .file()
            .is_some_and(|file| lease::state(file.lease.as_ref(), self.unit.now()).is_locked());
        if is_leased {
            return Err(Refusal::SharingViolation);
        }
        let node = (self.place.share.generation, there.record.node);
        let mut rows = self.unit.open_rows(node).await?;
        let opens = rows.opens();
        if opens.is_empty() {
            return Ok(InTheWay::Nothing(Box::new(Destination { found })));
        }
        let breaks = breaks_of_conflict(opens.iter(), self.unit.now());
        if breaks.is_empty() {
            return Err(Refusal::AccessDenied);
        }
        let mut unit = self.unit.clone();
        match rows.apply(&breaks, unit.now()).disconnected {
            Some(handle) => drop(opens::close_in(&mut unit, &self.place.share, node.1, handle).await?),
            None => rows.write(&mut unit),
        }
        Ok(InTheWay::Wait)
    }

    pub async fn rename(self, to: Destination, replaces: bool) -> Outcome<()> {
        let Destination { found } = to;
        let admitted = found.admit(super::open::Made, &Preconditions::default())?;
        let renamed = Renamed { smb: SmbWishes::UNCHANGED, metadata: None, content_type: None };
        self.present().rename(admitted, replaces, &renamed).await?;
        Ok(())
    }

    /// Whether a client has something open below the directory.
    pub async fn has_opens_below(&self) -> Outcome<bool> {
        if !self.record.is_directory() {
            return Ok(false);
        }
        let (reader, generation) = (self.unit.reader(), self.place.share.generation);
        let mut after = None;
        loop {
            let range = KeyRange::prefix(key::all_opens(generation));
            let page = reader.scan(Scan { after, ..Scan::of(range) }).await?;
            for (at, entry) in &page.items {
                let Some((_, node, _)) = key::open_of(at) else { continue };
                if node == self.record.node || OpenRecord::decode(&entry.value)?.is_over(self.unit.now()) {
                    continue;
                }
                if self.stands_above(node).await? {
                    return Ok(true);
                }
            }
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.more {
                return Ok(false);
            }
        }
    }

    /// Whether a node stands below this directory. No check of the commit: what is opened at this very time moves with it.
    async fn stands_above(&self, node: NodeId) -> Outcome<bool> {
        let Some(tag) = PathRecord::SPACE.place else { return Ok(false) };
        let mut at = node;
        for _ in 0..DEEPEST {
            if at == self.record.node {
                return Ok(true);
            }
            let Some(place) = self.unit.reader().get_untracked(tree::key::place(tag, at)).await? else {
                return Ok(false);
            };
            at = PlaceRecord::decode(&place.value)?.parent;
        }
        Ok(false)
    }
}
