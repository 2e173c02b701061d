//! What is done to entries inside of a commit. The chain that leads to a slot was resolved by the same unit: all of it is
//! checked.

use lazuli_engine::{Reader, Scan, Value};

use super::{Chain, Entry, Slot, Tree, key};
use crate::fault::Answer;
use crate::store::content;
use crate::store::record::Record;
use crate::store::record::content::Shape;
use crate::store::record::place::PlaceRecord;
use crate::store::sparse;
use crate::store::unit::Changes;
use lazuli_model::time::Timestamp;

impl Tree {
    /// Puts a new entry where none is.
    pub fn insert<E: Entry, W: Changes>(&self, changes: &mut W, slot: &Slot, entry: &mut E) {
        entry.set_since(self.moment);
        changes.put(slot.key::<E>(), entry.to_value());
        if let Some(tag) = E::SPACE.place.filter(|_| entry.is_placed()) {
            let place = PlaceRecord { parent: slot.parent, folded: slot.folded.clone() };
            changes.put(key::place(tag, entry.node()), place.encode());
        }
    }

    /// Puts an entry that was changed, and that is not kept for a snapshot any more: see [`Self::preserve`].
    pub fn put<E: Entry, W: Changes>(&self, changes: &mut W, slot: &Slot, entry: &E) {
        debug_assert!(entry.since() >= self.moment, "what a snapshot shows was not kept");
        changes.put(slot.key::<E>(), entry.to_value());
    }

    /// Before an entry or its content is changed: keeps what it was, if a snapshot shows it, and gives the entry a content
    /// of its own over the one that the two share.
    pub async fn preserve<E: Entry, W: Changes>(
        &self,
        reader: &Reader,
        changes: &mut W,
        slot: &Slot,
        before: &E,
        entry: &mut E,
        now: Timestamp,
    ) -> Answer<()> {
        self.preserve_and_share(reader, changes, slot, before, entry, now, 0).await.map(drop)
    }

    /// The same where so many more will hold the old content, if it is kept; tells whether it is.
    pub async fn preserve_and_share<E: Entry, W: Changes>(
        &self,
        reader: &Reader,
        changes: &mut W,
        slot: &Slot,
        before: &E,
        entry: &mut E,
        now: Timestamp,
        more: u32,
    ) -> Answer<bool> {
        if entry.since() >= self.moment {
            return Ok(false);
        }
        entry.set_since(self.moment);
        if !self.keep(reader, changes, slot, before).await? {
            return Ok(false);
        }
        if let Some(shared) = before.content() {
            content::share_with(reader, changes, shared, 1 + more).await?;
            if shared.shape == Shape::Sparse {
                entry.set_content(sparse::push_layer(reader, changes, shared, true, now).await?);
            }
        }
        Ok(true)
    }

    /// Puts an entry with another content in place of one with the same identity.
    pub async fn replace<E: Entry, W: Changes>(
        &self,
        reader: &Reader,
        changes: &mut W,
        slot: &Slot,
        before: &E,
        entry: &mut E,
    ) -> Answer<()> {
        self.give_up(reader, changes, slot, before).await?;
        entry.set_since(self.moment);
        self.put(changes, slot, entry);
        Ok(())
    }

    /// Keeps what a snapshot shows, with its content; else gives the content back.
    async fn give_up<E: Entry, W: Changes>(
        &self,
        reader: &Reader,
        changes: &mut W,
        slot: &Slot,
        entry: &E,
    ) -> Answer<()> {
        if !self.keep(reader, changes, slot, entry).await?
            && let Some(content) = entry.content()
        {
            content::drop_holder(reader, changes, content).await?;
        }
        Ok(())
    }

    /// Whether nothing stands in a directory. What is inserted meanwhile makes the commit fail: every insertion has read
    /// the directory's entry as a check, and so that entry is the guard of the range.
    pub async fn is_empty<E: Entry>(&self, reader: &Reader, slot: &Slot, directory: &E) -> Answer<bool> {
        let range = key::entries(E::SPACE, directory.node(), "");
        let scan = Scan { limit: 1, keys_only: true, ..Scan::of(range.clone()) };
        let is_empty = reader.scan(scan).await?.items.is_empty();
        reader.check_range(range, slot.key::<E>()).await?;
        Ok(is_empty)
    }

    /// Takes an entry away: a file with the content that it holds, a directory only when it is empty.
    pub async fn unlink<E: Entry, W: Changes>(
        &self,
        reader: &Reader,
        changes: &mut W,
        slot: &Slot,
        entry: &E,
    ) -> Answer<()> {
        if entry.is_directory() && !self.is_empty(reader, slot, entry).await? {
            return Err(E::NOT_EMPTY.into());
        }
        self.remove(reader, changes, slot, entry).await
    }

    #[cfg_attr(not(test), expect(dead_code, reason = "hierarchical accounts come with Data Lake"))]
    /// Takes a directory away with everything below it, of a tree that never had a snapshot: the sweeper deletes the rest.
    pub async fn unlink_all<E: Entry, W: Changes>(
        &self,
        reader: &Reader,
        changes: &mut W,
        slot: &Slot,
        entry: &E,
    ) -> Answer<()> {
        if self.moment > 0 {
            return self.unlink(reader, changes, slot, entry).await;
        }
        if entry.is_directory() {
            changes.put(key::dead(E::SPACE, entry.node()), Value::new());
        }
        self.remove(reader, changes, slot, entry).await
    }

    async fn remove<E: Entry, W: Changes>(
        &self,
        reader: &Reader,
        changes: &mut W,
        slot: &Slot,
        entry: &E,
    ) -> Answer<()> {
        self.give_up(reader, changes, slot, entry).await?;
        self.forget_depth(reader, changes, entry).await?;
        changes.delete(slot.key::<E>());
        if let Some(tag) = E::SPACE.place {
            changes.delete(key::place(tag, entry.node()));
        }
        Ok(())
    }

    /// Gives an entry another name or another directory, in place of what stands there: a directory must be empty to be
    /// replaced. However much lies below the entry, this writes a handful of keys.
    ///
    /// `before` is what the entry was when it was found behind so many names, `entry` what it will be. Two renames that would put each other's
    /// directories below one another have each read the other's entry: one of them is decided again.
    pub async fn relink<E: Entry, W: Changes>(
        &self,
        reader: &Reader,
        changes: &mut W,
        (from, before, names): (&Slot, &E, usize),
        to: &Chain<E>,
        entry: &mut E,
        now: Timestamp,
    ) -> Answer<()> {
        let Some(slot) = to.slot() else { return Err(E::NO_PARENT.into()) };
        if to.leads_through(entry.node()) {
            return Err(E::INTO_ITSELF.into());
        }
        self.preserve(reader, changes, from, before, entry, now).await?;
        entry.rename(&to.name);
        if slot == *from {
            self.put(changes, &slot, entry);
            return Ok(());
        }
        if slot.parent != from.parent {
            self.take_in(reader, changes, to, before, Some(names)).await?;
        }
        if let Some(replaced) = &to.found {
            self.unlink(reader, changes, &slot, replaced).await?;
        }
        changes.delete(from.key::<E>());
        self.insert(changes, &slot, entry);
        Ok(())
    }
}
