//! What is noted when all was compared, for a later try that can compare nothing any more.

use lazuli_engine::{Key, KeyRange, Scan, Txn};
use md5::{Digest as _, Md5};

use super::{COMPARED, Done, Move, MoveError, Place, note, stays};

/// The state of the source, and what was moved: the notes of chunks are deleted from now on.
pub(super) struct Compared {
    source: [u8; 16],
    chunks: u64,
    bytes: u64,
}

impl Compared {
    fn encode(&self) -> Key {
        [&self.source[..], &self.chunks.to_be_bytes(), &self.bytes.to_be_bytes()].concat().into()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (source, rest) = bytes.split_first_chunk()?;
        let (chunks, rest) = rest.split_first_chunk()?;
        let bytes = u64::from_be_bytes(rest.try_into().ok()?);
        Some(Self { source: *source, chunks: u64::from_be_bytes(*chunks), bytes })
    }
}

impl Move<'_> {
    /// A digest of what would be moved: of every key and of the commit that wrote it last. Whatever is written, and whatever is
    /// deleted, changes it.
    pub(super) async fn source_state(&self) -> Done<[u8; 16]> {
        let (mut state, mut after) = (Md5::new(), None);
        loop {
            let range = KeyRange::new(Key::from_static(b"\x01"), Key::from_static(b"\xff\xff"));
            let reader = self.from.reader().await?;
            let page = reader.scan(Scan { after, keys_only: true, ..Scan::of(range) }).await?;
            for (key, entry) in page.items.iter().filter(|(key, _)| !stays(key)) {
                state.update((key.len() as u64).to_be_bytes());
                state.update(key);
                state.update(entry.version.0.to_be_bytes());
            }
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.more {
                return Ok(state.finalize().into());
            }
        }
    }

    pub(super) async fn note_compared(&self, source: [u8; 16]) -> Done<()> {
        let compared = Compared { source, chunks: self.moved.chunks, bytes: self.moved.bytes };
        let mut txn = Txn::new(self.to.new_txn_id());
        txn.writes.push(note(&Place { part: COMPARED, after: Some(compared.encode()) }));
        self.to.commit(txn).await?;
        (self.tell)(self.moved);
        Ok(())
    }

    /// An earlier try has compared everything. That is worth something as long as the source is as it was.
    pub(super) async fn still_compared(&mut self, place: &Place) -> Done<[u8; 16]> {
        let compared = place.after.as_deref().and_then(Compared::decode);
        let Some(compared) = compared else {
            return Err(MoveError::Refused("the note of what was compared is damaged".to_owned()));
        };
        if self.source_state().await? != compared.source {
            return Err(MoveError::Refused(
                "the store that is moved was written since it was compared with what it is moved to: empty \
                 what it is moved to, and move again"
                    .to_owned(),
            ));
        }
        (self.moved.rows, self.moved.verified) = (self.moved.of, self.moved.of);
        (self.moved.chunks, self.moved.bytes) = (compared.chunks, compared.bytes);
        Ok(compared.source)
    }
}
