//! LOCK (MS-SMB2 3.3.5.14).

use bytes::Buf;
use lazuli_service::open_file::{LockRange, Refusal};

use super::refusal::status;
use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::status::NtStatus;
use crate::wire::negotiate::capability;

const SHARED: u32 = 1;
const EXCLUSIVE: u32 = 2;
const UNLOCK: u32 = 4;
const FAIL_IMMEDIATELY: u32 = 16;
const LOCKS_MAX: u16 = 1024;
/// The fixed part, and elements of 24 bytes.
pub const LONGEST: usize = 24 + 24 * LOCKS_MAX as usize;

struct Element {
    offset: u64,
    length: u64,
    flags: u32,
}

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    let mut at = call.body(48)?;
    let count = at.try_get_u16_le()?;
    let sequence = at.try_get_u32_le()?;
    let id = call.take_file_id(&mut at)?;
    if count == 0 || count > LOCKS_MAX {
        return Err(NtStatus::INVALID_PARAMETER.into());
    }
    let mut elements = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        let (offset, length) = (at.try_get_u64_le()?, at.try_get_u64_le()?);
        let flags = at.try_get_u32_le()?;
        let _reserved = at.try_get_u32_le()?;
        elements.push(Element { offset, length, flags });
    }
    let open = call.open_unheld(id)?;
    let file = open.file()?;
    // Only opens that may outlive their connection count their locks (MS-SMB2 3.3.5.14).
    let has_channels = call.negotiated()?.server_capabilities & capability::MULTI_CHANNEL != 0;
    let outlives = has_channels || file.durable.load(std::sync::atomic::Ordering::Relaxed);
    let counted = outlives.then_some(sequence).and_then(bucket);
    let mut sequences = file.lock_sequences.lock().await;
    if let Some((index, number)) = counted {
        let place = sequences.get_mut(index).ok_or(NtStatus::INVALID_PARAMETER)?;
        if *place == Some(number) {
            return Ok(Reply { file: Some(id), ..Reply::done() });
        }
        *place = None;
    }
    // A lock that waits must not hold up the unlock that it waits for.
    drop(sequences);
    if elements.first().is_some_and(|first| first.flags & UNLOCK != 0) {
        // One after the other: those before one that is not right are unlocked.
        let right = elements.iter().take_while(|element| element.flags == UNLOCK);
        let ranges: Vec<(u64, u64)> = right.map(|element| (element.offset, element.length)).collect();
        file.file.unlock(&ranges).await.map_err(status)?;
        if ranges.len() < elements.len() {
            return Err(NtStatus::INVALID_PARAMETER.into());
        }
    } else {
        let waits = elements.first().is_some_and(|first| first.flags & FAIL_IMMEDIATELY == 0);
        let ranges = elements.iter().map(|element| range(element, elements.len()));
        let ranges = ranges.collect::<Result<Vec<_>, NtStatus>>()?;
        file.file.lock(&ranges, waits).await.map_err(|refusal| match refusal {
            // Of a lock that waited while its file was closed.
            Refusal::FileClosed if waits => NtStatus::RANGE_NOT_LOCKED,
            refusal => status(refusal),
        })?;
    }
    if let Some((index, number)) = counted
        && let Some(place) = file.lock_sequences.lock().await.get_mut(index)
    {
        *place = Some(number);
    }
    Ok(Reply { file: Some(id), ..Reply::done() })
}

fn range(element: &Element, count: usize) -> Result<LockRange, NtStatus> {
    let exclusive = match element.flags & !FAIL_IMMEDIATELY {
        SHARED => false,
        EXCLUSIVE => true,
        _ => return Err(NtStatus::INVALID_PARAMETER),
    };
    // Several are had at once or not at all: they cannot be waited for.
    if count > 1 && element.flags & FAIL_IMMEDIATELY == 0 {
        return Err(NtStatus::INVALID_PARAMETER);
    }
    Ok(LockRange { offset: element.offset, length: element.length, exclusive })
}

/// Where the client counts this lock, and at what.
fn bucket(sequence: u32) -> Option<(usize, u8)> {
    let (index, number) = ((sequence >> 4) as usize, (sequence & 0xF) as u8);
    (1..=64).contains(&index).then(|| (index - 1, number))
}
