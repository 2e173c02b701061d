//! QUERY_DIRECTORY (MS-SMB2 3.3.5.18).

use bytes::Buf;
use lazuli_service::open_file::{AccessMask, DirectoryCursor, OpenFile};

use super::buffer_reply;
use super::directory_info::{DirectoryClass, encode};
use super::refusal::status;
use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::server::open::Listing;
use crate::status::NtStatus;
use crate::wire::pad;
use crate::wire::text::utf16;

const RESTART: u8 = 0x01;
const SINGLE: u8 = 0x02;
const REOPEN: u8 = 0x10;
/// Entries that are asked of the service at a time.
const PAGE: usize = 256;
/// Parts of the directory without a match that one request looks at.
const EMPTY_PARTS_MAX: usize = 10_000;

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    let mut at = call.body(33)?;
    let class = at.try_get_u8()?;
    let flags = at.try_get_u8()?;
    let _index = at.try_get_u32_le()?;
    let id = call.take_file_id(&mut at)?;
    let name_offset = usize::from(at.try_get_u16_le()?);
    let name_length = usize::from(at.try_get_u16_le()?);
    let room = at.try_get_u32_le()?;
    call.paid_for(room)?;
    let open = call.open(id).await?;
    let file = open.file()?;
    if !file.file.is_directory() {
        return Err(NtStatus::INVALID_PARAMETER.into());
    }
    if !file.file.granted_access().has(AccessMask::READ_DATA) {
        return Err(NtStatus::ACCESS_DENIED.into());
    }
    let class = DirectoryClass::from_wire(class).ok_or(NtStatus::INVALID_INFO_CLASS)?;
    let pattern = utf16(&call.part(name_offset, name_length)?).map_err(|_| NtStatus::OBJECT_NAME_INVALID)?;
    let mut listing = file.listing.lock().await;
    if flags & REOPEN != 0 {
        *listing = Listing::default();
    }
    if flags & RESTART != 0 {
        *listing = Listing { pattern: listing.pattern.take(), ..Listing::default() };
    }
    // The pattern of the first request holds until the listing is begun anew.
    if listing.pattern.is_none() || (flags & (RESTART | REOPEN) != 0 && !pattern.is_empty()) {
        let text = if pattern.is_empty() { "*" } else { &pattern };
        listing.pattern = Some(OpenFile::pattern(text).map_err(status)?);
    }
    let single = flags & SINGLE != 0;
    let held = call.answer_memory(room as usize).await?;
    let buffer = fill(&file.file, &mut listing, class, room as usize, single).await?;
    Ok(Reply { held, file: Some(id), ..buffer_reply(&buffer) })
}

async fn fill(
    file: &OpenFile,
    listing: &mut Listing,
    class: DirectoryClass,
    room: usize,
    single: bool,
) -> Result<Vec<u8>, NtStatus> {
    let Some(pattern) = listing.pattern.clone() else { return Err(NtStatus::INVALID_PARAMETER) };
    let mut buffer = Vec::new();
    let mut last = None;
    let mut empty = 0;
    'parts: while !listing.finished {
        let limit = if single { 1 } else { PAGE };
        let part = file.list(&pattern, &listing.cursor, limit).await.map_err(status)?;
        empty = if part.entries.is_empty() { empty + 1 } else { 0 };
        for entry in part.entries {
            let bytes = encode(class, &entry.info);
            let start = buffer.len().next_multiple_of(8);
            if start + bytes.len() > room {
                match last {
                    None => return Err(NtStatus::INFO_LENGTH_MISMATCH),
                    Some(_) => break 'parts,
                }
            }
            pad(&mut buffer, 8);
            link(&mut buffer, last, start);
            buffer.extend_from_slice(&bytes);
            last = Some(start);
            listing.cursor = entry.cursor;
            listing.found = true;
            if single {
                break 'parts;
            }
        }
        match part.next {
            None => listing.finished = true,
            Some(next) => listing.cursor = next,
        }
        if empty > EMPTY_PARTS_MAX {
            return Err(NtStatus::INSUFF_SERVER_RESOURCES);
        }
    }
    match (last.is_some(), listing.found) {
        (true, _) => Ok(buffer),
        (false, true) => Err(NtStatus::NO_MORE_FILES),
        (false, false) => {
            listing.cursor = DirectoryCursor::Start;
            listing.finished = true;
            listing.found = true;
            Err(NtStatus::NO_SUCH_FILE)
        }
    }
}

/// Tells the entry before how far this one is.
fn link(buffer: &mut [u8], last: Option<usize>, start: usize) {
    if let Some(last) = last
        && let Some(place) = buffer.get_mut(last..last + 4)
    {
        place.copy_from_slice(&((start - last) as u32).to_le_bytes());
    }
}
