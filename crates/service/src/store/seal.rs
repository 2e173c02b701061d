//! Bytes that are encrypted at rest, with a key of the customer's or with that of an encryption scope (decision 0030).
//!
//! A piece is sealed with AES-256-GCM in frames of a fixed size, so that a range is read by opening the frames that it
//! touches. Each piece has a key of its own, which HKDF derives from the given key, a random salt and the length of the
//! piece; the number of a frame is its nonce. The salt stands where the piece is named: bytes that were put in the place
//! of others, moved within a piece or cut off do not open.

use std::ops::Range;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hkdf::{HKDF_SHA256, Prk, Salt};
use bytes::{Bytes, BytesMut};
use lazuli_engine::{ChunkId, Corrupt, EngineError, Extents};
use lazuli_model::encryption::CustomerKey;

use crate::fault::Answer;

/// A frame as it is stored, with its tag: what the extents verify at a time.
const FRAME: u32 = 64 * 1024;
const TAG: u32 = 16;
/// The bytes that a whole frame holds.
pub const FRAME_BYTES: u32 = FRAME - TAG;
/// What a chunk holds, sealed, at the most.
pub const SEALED_CHUNK: usize = (lazuli_engine::MAX_CHUNK as u32 / FRAME * FRAME_BYTES) as usize;

/// How a piece is sealed, as it stands where the piece is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seal {
    pub key: KeyName,
    pub salt: u128,
}

/// Tells the keys of a server apart. It says nothing about the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyName(pub u64);

impl KeyName {
    pub fn of_scope(account: &str, scope: &str) -> Self {
        Self::of(&[b"scope\0", account.as_bytes(), b"\0", scope.as_bytes()].concat())
    }

    fn of(bytes: &[u8]) -> Self {
        let mut first = [0; 8];
        first.copy_from_slice(&digest(&SHA256, bytes).as_ref()[..8]);
        Self(u64::from_be_bytes(first))
    }
}

/// What keys of pieces are derived from.
#[derive(Clone)]
pub struct SealingKey {
    name: KeyName,
    derivation: Prk,
}

impl SealingKey {
    pub fn new(name: KeyName, secret: &[u8; 32]) -> Self {
        Self { name, derivation: Salt::new(HKDF_SHA256, b"lazuli sealing key").extract(secret) }
    }

    pub fn of_customer(key: &CustomerKey) -> Self {
        Self::new(KeyName::of(&[b"customer\0".as_slice(), &key.hash.0].concat()), key.secret())
    }

    pub fn name(&self) -> KeyName {
        self.name
    }

    fn of_piece(&self, salt: u128, len: u32) -> Answer<LessSafeKey> {
        let info: [&[u8]; 3] = [b"piece", &salt.to_be_bytes(), &len.to_be_bytes()];
        let derived = self.derivation.expand(&info, &AES_256_GCM).map_err(|_| failed())?;
        Ok(LessSafeKey::new(UnboundKey::from(derived)))
    }

    /// Seals a piece. Each part is let go when it has been taken in.
    pub fn seal(&self, parts: Vec<Bytes>) -> Answer<(Vec<Bytes>, Seal)> {
        let len = u32::try_from(parts.iter().map(Bytes::len).sum::<usize>()).map_err(|_| failed())?;
        let seal = Seal { key: self.name, salt: rand::random() };
        let key = self.of_piece(seal.salt, len)?;
        let mut sealed = Vec::with_capacity(len.div_ceil(FRAME_BYTES) as usize);
        let mut left = len;
        let mut frame = BytesMut::with_capacity(FRAME.min(len + TAG) as usize);
        for mut part in parts {
            while !part.is_empty() {
                let room = (FRAME_BYTES as usize - frame.len()).min(part.len());
                frame.extend_from_slice(&part.split_to(room));
                if frame.len() == FRAME_BYTES as usize {
                    left -= FRAME_BYTES;
                    let next = BytesMut::with_capacity(FRAME.min(left + TAG) as usize);
                    sealed.push(seal_frame(&key, sealed.len(), std::mem::replace(&mut frame, next))?);
                }
            }
        }
        if !frame.is_empty() {
            sealed.push(seal_frame(&key, sealed.len(), frame)?);
        }
        Ok((sealed, seal))
    }

    /// Opens what was read of a piece: whole frames, the first of which has this number.
    fn open(&self, seal: Seal, len: u32, first: u32, sealed: Bytes) -> Answer<BytesMut> {
        let key = self.of_piece(seal.salt, len)?;
        let mut opened = sealed.try_into_mut().unwrap_or_else(|shared| BytesMut::from(&shared[..]));
        // Frames are opened where they lie, and then moved together.
        let (mut from, mut to) = (0, 0);
        let mut number = first as usize;
        while from < opened.len() {
            let end = opened.len().min(from + FRAME as usize);
            let frame = opened.get_mut(from..end).ok_or_else(damaged)?;
            let plain = key.open_in_place(nonce(number), Aad::empty(), frame).map_err(|_| damaged())?.len();
            opened.copy_within(from..from + plain, to);
            (from, to, number) = (end, to + plain, number + 1);
        }
        opened.truncate(to);
        Ok(opened)
    }
}

fn seal_frame(key: &LessSafeKey, number: usize, mut frame: BytesMut) -> Answer<Bytes> {
    let tag =
        key.seal_in_place_separate_tag(nonce(number), Aad::empty(), &mut frame).map_err(|_| failed())?;
    frame.extend_from_slice(tag.as_ref());
    Ok(frame.freeze())
}

/// No key seals two frames of one number.
fn nonce(number: usize) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[NONCE_LEN - 8..].copy_from_slice(&(number as u64).to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

/// How long a piece is as it is stored.
pub fn stored_length(len: u32) -> u32 {
    len + TAG * len.div_ceil(FRAME_BYTES)
}

/// A part of a piece that lies in a chunk. `len` is the length of the piece.
pub async fn read_chunk(
    extents: &Extents,
    key: &SealingKey,
    chunk: ChunkId,
    len: u32,
    seal: Seal,
    wanted: Range<u32>,
) -> Answer<Bytes> {
    let (first, end) = (wanted.start / FRAME_BYTES, wanted.end.div_ceil(FRAME_BYTES));
    let stored = first * FRAME..(end * FRAME).min(stored_length(len));
    let sealed = extents.read(chunk, stored).await?;
    let opened = key.open(seal, len, first, sealed)?.freeze();
    cut(opened, wanted.start - first * FRAME_BYTES, wanted)
}

/// A part of a piece that is stored in a key.
pub fn read_inline(
    key: &SealingKey,
    value: Bytes,
    len: u32,
    seal: Seal,
    wanted: Range<u32>,
) -> Answer<Bytes> {
    cut(key.open(seal, len, 0, value)?.freeze(), wanted.start, wanted)
}

fn cut(opened: Bytes, at: u32, wanted: Range<u32>) -> Answer<Bytes> {
    let (start, end) = (at as usize, (at + (wanted.end - wanted.start)) as usize);
    if end > opened.len() { Err(damaged()) } else { Ok(opened.slice(start..end)) }
}

fn damaged() -> crate::fault::Fault {
    EngineError::Corrupt(Corrupt("encrypted bytes do not open with their key".into())).into()
}

fn failed() -> crate::fault::Fault {
    lazuli_model::Failure::new(lazuli_model::ErrorCode::InternalError)
        .cause("bytes cannot be encrypted")
        .into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(byte: u8) -> SealingKey {
        SealingKey::new(KeyName(u64::from(byte)), &[byte; 32])
    }

    fn parts(bytes: &[u8], at: usize) -> Vec<Bytes> {
        let (one, two) = bytes.split_at(at.min(bytes.len()));
        vec![Bytes::copy_from_slice(one), Bytes::copy_from_slice(two)]
    }

    fn joined(parts: &[Bytes]) -> Bytes {
        parts.concat().into()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        /// What is sealed opens, as a whole and in each part, and has the length that it should.
        #[test]
        fn sealed_bytes_open(len in 1usize..200_000, cut_at in 0usize..200_000, from in 0usize..200_000, size in 0usize..70_000) {
            let bytes: Vec<u8> = (0..len).map(|at| (at * 7 % 251) as u8).collect();
            let (sealed, seal) = key(1).seal(parts(&bytes, cut_at)).expect("sealed");
            prop_assert!(sealed.iter().all(|frame| frame.len() <= FRAME as usize));
            let sealed = joined(&sealed);
            prop_assert_eq!(sealed.len() as u32, stored_length(len as u32));
            let start = from.min(len - 1);
            let end = (start + size).min(len);
            let wanted = start as u32..end as u32;
            let opened = read_inline(&key(1), sealed, len as u32, seal, wanted).expect("opened");
            prop_assert_eq!(&opened[..], &bytes[start..end]);
        }
    }

    #[test]
    fn nothing_else_opens() {
        let bytes = vec![9; 2 * FRAME_BYTES as usize + 100];
        let len = bytes.len() as u32;
        let (frames, seal) = key(1).seal(vec![bytes.clone().into()]).expect("sealed");
        assert_eq!(frames.len(), 3);
        let open = |key: &SealingKey, seal: Seal, len: u32, frames: &[Bytes]| {
            key.open(seal, len, 0, joined(frames)).is_ok()
        };
        assert!(open(&key(1), seal, len, &frames), "as it was sealed");
        assert!(!open(&key(2), seal, len, &frames), "another key");
        assert!(!open(&key(1), Seal { salt: seal.salt ^ 1, ..seal }, len, &frames), "another piece");
        assert!(!open(&key(1), seal, len - 1, &frames), "another length");
        let [a, b, c] = &frames[..] else { panic!("three frames") };
        assert!(!open(&key(1), seal, len, &[b.clone(), a.clone(), c.clone()]), "moved");
        let mut bad = joined(&frames).to_vec();
        bad[70_000] ^= 1;
        assert!(!open(&key(1), seal, len, &[bad.into()]), "damaged");
        let (again, other) = key(1).seal(vec![bytes.into()]).expect("sealed");
        assert_ne!(other.salt, seal.salt);
        assert_ne!(joined(&again), joined(&frames), "the same bytes are not seen to be the same");
        assert!(!open(&key(1), other, len, &frames), "the bytes of another piece");
    }

    #[test]
    fn the_largest_sealed_piece_fills_a_chunk() {
        assert_eq!(stored_length(SEALED_CHUNK as u32), lazuli_engine::MAX_CHUNK as u32);
    }
}
