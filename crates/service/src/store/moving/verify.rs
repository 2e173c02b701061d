//! What was moved is what was there.

use lazuli_engine::{ChunkId, Key, KeyRange, Scan, Value, crc64};

use super::chunks::named;
use super::{Done, Move, MoveError, PARTS, page_of, stays};

impl Move<'_> {
    pub(super) async fn verify(&mut self) -> Done<()> {
        for (start, end) in PARTS {
            let (mut after, mut behind) = (None, Some(Key::from_static(start)));
            while let Some(page) = page_of(self.from, start, end, after.clone()).await? {
                after = page.last().map(|(key, _)| key.clone());
                self.moved.verified += page.len() as u64;
                let page: Vec<(Key, Value)> = page.into_iter().filter(|(key, _)| !stays(key)).collect();
                let known = self.chunks_of(&page).await?;
                let mut expected = Vec::new();
                for (key, value) in page {
                    expected.push(self.renamed(key, value, &known)?);
                }
                let keys = expected.iter().map(|(key, _)| key.clone()).collect();
                let found = self.to.reader().await?.get_untracked_many(keys).await?;
                for ((key, value), found) in expected.iter().zip(found) {
                    if found.is_none_or(|found| found.value != value) {
                        return Err(differs("it was not moved as it is", key));
                    }
                }
                // Nothing else stands between them. Fragments are in another order by now.
                if start != b"f".as_slice()
                    && let (Some(from), Some(to)) = (&behind, &after)
                {
                    let between = self.between(from, to).await?;
                    if let Some(key) =
                        between.iter().find(|key| !expected.iter().any(|(known, _)| known == *key))
                    {
                        return Err(differs("it was not there before", key));
                    }
                    behind.clone_from(&after);
                }
                (self.tell)(self.moved);
            }
            // Nor behind the last of them: it was deleted where it is moved from, after it was copied.
            if let Some(last) = behind.filter(|_| start != b"f".as_slice())
                && let Some(key) = self.between(&last, &Key::from_static(end)).await?.first()
            {
                return Err(differs("it was not there before", key));
            }
        }
        // Those of fragments are in another order. Each was found, so there is no other if there are as many.
        let (start, end) = (Key::from_static(b"f"), Key::from_static(b"g"));
        let there = self.count_in(self.to, start.clone(), end.clone()).await?;
        if self.count(start.clone(), end).await? != there {
            return Err(differs("there are more or fewer than were moved", &start));
        }
        self.verify_chunks().await
    }

    /// The keys from the first on and up to the second, which is among them.
    async fn between(&self, from: &Key, to: &Key) -> Done<Vec<Key>> {
        let end = [&to[..], &[0]].concat();
        let (mut keys, mut after): (Vec<Key>, Option<Key>) = (Vec::new(), None);
        loop {
            let range = KeyRange::new(from.clone(), end.clone());
            let page =
                self.to.reader().await?.scan(Scan { after, keys_only: true, ..Scan::of(range) }).await?;
            after = page.items.last().map(|(key, _)| key.clone());
            keys.extend(page.items.into_iter().map(|(key, _)| key).filter(|key| !stays(key) && key != from));
            if !page.more {
                return Ok(keys);
            }
        }
    }

    /// Every chunk is read where it is now, which verifies it, and has the checksum that it had.
    async fn verify_chunks(&mut self) -> Done<()> {
        let mut after = None;
        while let Some(page) = page_of(self.to, b"lmc", b"lmd", after.clone()).await? {
            for (key, value) in &page {
                let old = key.get(3..).and_then(|id| id.try_into().ok()).map(u128::from_be_bytes);
                let (Some(old), (new, len)) = (old, named(value)?) else {
                    return Err(differs("a note is damaged", key));
                };
                let was = self.from.extents().crc64(ChunkId(old)).await?;
                let bytes = self.to.extents().read(ChunkId(new), 0..len).await?;
                if was != crc64(&bytes) {
                    return Err(differs("the bytes of a chunk differ", key));
                }
            }
            after = page.last().map(|(key, _)| key.clone());
            (self.tell)(self.moved);
        }
        Ok(())
    }
}

fn differs(how: &str, key: &[u8]) -> MoveError {
    MoveError::Refused(format!("{how}: {:.80}", key.escape_ascii().to_string()))
}
