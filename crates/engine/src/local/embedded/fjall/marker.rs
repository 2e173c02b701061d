//! Marks around every batch in the log, by which a batch is recognised without reading the log in order.
//!
//! The log is read up to the first damage and cut there, without a word. A mark found behind the cut proves
//! that more was once durable. Marks carry the directory's secret id, so that no value that a client
//! stores can pass for one.

use crate::caps::OWN;
use crate::crc::crc64;
use crate::key::Key;
use crate::local::store::Group;
use crate::txn::{Ticks, TxnId};

/// Begin marks take turns on this many keys: as many groups can tell what became of their transactions.
const SLOTS: u64 = 1_024;

pub(crate) const BEGIN_ROWS: &[u8] = &[OWN, b'm'];
pub(crate) const END_ROW: &[u8] = &[OWN, b'z'];

/// Sixteen bytes of id, kind, three numbers, a CRC.
pub(crate) const LEN: usize = 16 + 1 + 3 * 8 + 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Begin,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    pub kind: Kind,
    /// Sequence numbers of the first and last transaction of the group.
    pub first: u64,
    pub last: u64,
    pub now: Ticks,
}

impl Marker {
    pub fn of(group: &Group, kind: Kind) -> Self {
        Self { kind, first: group.first, last: group.last, now: group.now }
    }

    pub fn encode(&self, id: u128) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(LEN);
        bytes.extend_from_slice(&id.to_be_bytes());
        bytes.push(match self.kind {
            Kind::Begin => b'B',
            Kind::End => b'E',
        });
        for number in [self.first, self.last, self.now.0] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        let crc = crc64(&bytes);
        bytes.extend_from_slice(&crc.to_be_bytes());
        bytes
    }

    /// The mark at the start of these bytes.
    pub fn decode(bytes: &[u8], id: u128) -> Option<Self> {
        let (body, rest) = bytes.split_at_checked(LEN - 8)?;
        let crc = rest.first_chunk()?;
        if crc64(body) != u64::from_be_bytes(*crc) {
            return None;
        }
        let (found, body) = body.split_first_chunk()?;
        if u128::from_be_bytes(*found) != id {
            return None;
        }
        let (kind, body) = body.split_first()?;
        let kind = match kind {
            b'B' => Kind::Begin,
            b'E' => Kind::End,
            _ => return None,
        };
        let mut numbers = body.as_chunks().0.iter().map(|chunk| u64::from_be_bytes(*chunk));
        let (first, last, now) = (numbers.next()?, numbers.next()?, numbers.next()?);
        Some(Self { kind, first, last, now: Ticks(now) })
    }
}

pub(crate) fn begin_key(group: &Group) -> Key {
    let slot = (group.last % SLOTS) as u16;
    [BEGIN_ROWS, &slot.to_be_bytes()].concat().into()
}

/// A begin mark with the ids of the group's transactions behind it.
pub(crate) fn begin_value(group: &Group, id: u128) -> Vec<u8> {
    let mut bytes = Marker::of(group, Kind::Begin).encode(id);
    for id in &group.ids {
        bytes.extend_from_slice(&id.0.to_be_bytes());
    }
    bytes
}

/// The transactions of a stored begin mark, with their sequence numbers.
pub(crate) fn begun(value: &[u8], id: u128) -> Option<(Marker, Vec<(u64, TxnId)>)> {
    let marker = Marker::decode(value, id)?;
    let ids = value.get(LEN..)?.as_chunks().0.iter().map(|chunk| TxnId(u128::from_be_bytes(*chunk)));
    Some((marker, (marker.first..).zip(ids).collect()))
}
