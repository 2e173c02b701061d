//! The contexts of CREATE (MS-SMB2 2.2.13.2): what a client asks for beside the fixed fields.

use std::time::Duration;

use bytes::{Buf, BufMut, Bytes};
use lazuli_service::open_file::{DurableWanted, LeaseVersion, LeaseWanted};

use crate::server::notices::caching_of;
use crate::server::open::FileId;
use crate::status::{Malformed, NtStatus};
use crate::wire::{pad, take_array};

const CONTEXTS_MAX: usize = 64;
/// Names have four bytes, those of later versions sixteen.
const NAME_MIN: usize = 4;
const PARENT_LEASE_KEY_SET: u32 = 4;
const PERSISTENT: u32 = 2;

#[derive(Clone, Debug, Default)]
pub struct CreateContexts {
    pub maximal_access: bool,
    pub disk_id: bool,
    pub lease: Option<LeaseWanted>,
    pub durable: Option<DurableWanted>,
    pub reconnect: Option<Reconnecting>,
    /// A previous version, in ticks since 1601.
    pub previous_version: Option<u64>,
    pub allocation_size: Option<u64>,
    pub security: Option<Bytes>,
    pub extended_attributes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reconnecting {
    pub id: FileId,
    /// Of version 2; zeros for an open of version 1.
    pub create_guid: Option<u128>,
}

impl CreateContexts {
    pub fn parse(buffer: &Bytes) -> Result<Self, NtStatus> {
        let mut contexts = Self::default();
        let mut seen = Seen::default();
        let mut start = 0;
        for _ in 0..CONTEXTS_MAX {
            if buffer.is_empty() {
                return Ok(contexts);
            }
            let entry =
                buffer.get(start..).map(|_| buffer.slice(start..)).ok_or(NtStatus::INVALID_PARAMETER)?;
            let mut at: &[u8] = &entry;
            let next = at.try_get_u32_le()? as usize;
            let name_offset = usize::from(at.try_get_u16_le()?);
            let name_length = usize::from(at.try_get_u16_le()?);
            let _reserved = at.try_get_u16_le()?;
            let data_offset = usize::from(at.try_get_u16_le()?);
            let data_length = at.try_get_u32_le()? as usize;
            let end = if next == 0 { entry.len() } else { next };
            if end > entry.len() || !next.is_multiple_of(8) || name_length < NAME_MIN {
                return Err(NtStatus::INVALID_PARAMETER);
            }
            let name = within(&entry, name_offset, name_length, end)?;
            let data = within(&entry, data_offset, data_length, end)?;
            contexts.take(&name, &data, &mut seen)?;
            if next == 0 {
                return contexts.check(&seen);
            }
            start += next;
        }
        Err(NtStatus::INVALID_PARAMETER)
    }

    fn take(&mut self, name: &[u8], data: &Bytes, seen: &mut Seen) -> Result<(), NtStatus> {
        match name {
            b"MxAc" => {
                // Either nothing or the time of the client's last copy.
                if !matches!(data.len(), 0 | 8) {
                    return Err(NtStatus::INVALID_PARAMETER);
                }
                self.maximal_access = true;
            }
            b"QFid" => self.disk_id = true,
            b"RqLs" => self.lease = lease(data)?,
            b"DHnQ" => {
                let _reserved: [u8; 16] = take_array(&mut &data[..])?;
                seen.durable_v1 = true;
                self.durable.get_or_insert(DurableWanted::One);
            }
            b"DH2Q" => {
                let mut at: &[u8] = data;
                let timeout = Duration::from_millis(at.try_get_u32_le()?.into());
                let _persistent = at.try_get_u32_le()? & PERSISTENT != 0;
                let _reserved = at.try_get_u64_le()?;
                let create_guid = u128::from_le_bytes(take_array(&mut at)?);
                seen.durable_v2 = true;
                self.durable = Some(DurableWanted::Two { create_guid, timeout });
            }
            b"DHnC" => {
                let id = FileId::take(&mut &data[..])?;
                seen.reconnect_v1 = true;
                self.reconnect.get_or_insert(Reconnecting { id, create_guid: None });
            }
            b"DH2C" => {
                let mut at: &[u8] = data;
                let id = FileId::take(&mut at)?;
                let guid = u128::from_le_bytes(take_array(&mut at)?);
                let _flags = at.try_get_u32_le()?;
                seen.reconnect_v2 = true;
                self.reconnect = Some(Reconnecting { id, create_guid: Some(guid) });
            }
            b"TWrp" => self.previous_version = Some((&data[..]).try_get_u64_le()?),
            b"AlSi" => self.allocation_size = Some((&data[..]).try_get_u64_le()?),
            b"SecD" => self.security = Some(data.clone()),
            b"ExtA" => self.extended_attributes = true,
            // Of other systems and later versions: clients do without what is not answered.
            _ => {}
        }
        Ok(())
    }

    /// The two versions of durable opens do not mix (MS-SMB2 3.3.5.9.6 to 3.3.5.9.12).
    fn check(mut self, seen: &Seen) -> Result<Self, NtStatus> {
        let v1 = seen.durable_v1 || seen.reconnect_v1;
        let v2 = seen.durable_v2 || seen.reconnect_v2;
        let twice = seen.durable_v2 && seen.reconnect_v2;
        if v1 && v2 || twice {
            return Err(NtStatus::INVALID_PARAMETER);
        }
        if self.reconnect.is_some() {
            self.durable = None;
        }
        Ok(self)
    }
}

#[derive(Default)]
struct Seen {
    durable_v1: bool,
    durable_v2: bool,
    reconnect_v1: bool,
    reconnect_v2: bool,
}

fn within(entry: &Bytes, offset: usize, length: usize, end: usize) -> Result<Bytes, Malformed> {
    if length == 0 {
        return Ok(Bytes::new());
    }
    let stop = offset.checked_add(length).filter(|stop| *stop <= end && offset >= 16).ok_or(Malformed)?;
    Ok(entry.slice(offset..stop))
}

/// None for a state that a lease cannot have: nothing is then kept.
fn lease(data: &[u8]) -> Result<Option<LeaseWanted>, Malformed> {
    let mut at = data;
    let key = u128::from_le_bytes(take_array(&mut at)?);
    let state = at.try_get_u32_le()?;
    let flags = at.try_get_u32_le()?;
    let _duration = at.try_get_u64_le()?;
    let (version, parent, epoch) = match data.len() {
        32 => (LeaseVersion::One, None, 0),
        52 => {
            let parent = u128::from_le_bytes(take_array(&mut at)?);
            let set = flags & PARENT_LEASE_KEY_SET != 0;
            (LeaseVersion::Two, set.then_some(parent), at.try_get_u16_le()?)
        }
        _ => return Err(Malformed),
    };
    Ok(caching_of(state & 7).map(|state| LeaseWanted { key, state, version, parent, epoch }))
}

/// The contexts of an answer, one after the other.
#[derive(Default)]
pub struct ContextWriter {
    bytes: Vec<u8>,
    last: Option<usize>,
}

impl ContextWriter {
    pub fn add(&mut self, name: &[u8; 4], data: &[u8]) {
        pad(&mut self.bytes, 8);
        let start = self.bytes.len();
        if let Some(last) = self.last
            && let Some(place) = self.bytes.get_mut(last..last + 4)
        {
            place.copy_from_slice(&((start - last) as u32).to_le_bytes());
        }
        self.last = Some(start);
        self.bytes.put_u32_le(0);
        self.bytes.put_u16_le(16);
        self.bytes.put_u16_le(4);
        self.bytes.put_u16_le(0);
        self.bytes.put_u16_le(24);
        self.bytes.put_u32_le(data.len() as u32);
        self.bytes.put_slice(name);
        self.bytes.put_u32_le(0);
        self.bytes.put_slice(data);
    }

    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut writer = ContextWriter::default();
        writer.add(b"MxAc", &[]);
        writer.add(b"AlSi", &77u64.to_le_bytes());
        writer.add(b"AAPL", b"something else");
        let bytes = Bytes::from(writer.finish());
        let read = CreateContexts::parse(&bytes).expect("well formed");
        assert!(read.maximal_access && !read.disk_id);
        assert_eq!(read.allocation_size, Some(77));
        for length in 1..bytes.len() {
            let _ = CreateContexts::parse(&bytes.slice(..length));
        }
    }

    #[test]
    fn the_versions_of_durable_opens_do_not_mix() {
        let mut writer = ContextWriter::default();
        writer.add(b"DHnQ", &[0; 16]);
        writer.add(b"DH2Q", &[0; 32]);
        let refused = CreateContexts::parse(&writer.finish().into());
        assert_eq!(refused.map(|_| ()), Err(NtStatus::INVALID_PARAMETER));
    }
}
