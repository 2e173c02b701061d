//! CHANGE_NOTIFY (MS-SMB2 3.3.5.19).

use bytes::{Buf, BufMut};
use lazuli_service::open_file::{AccessMask, Change, ChangeAction, ChangeFilter, Changes};

use super::buffer_reply;
use super::refusal::status;
use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::server::limits::TRANSFER_MAX;
use crate::server::open::FileId;
use crate::status::NtStatus;
use crate::wire::pad;
use crate::wire::text::to_utf16;

const WATCH_TREE: u16 = 1;

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    let mut at = call.body(32)?;
    let flags = at.try_get_u16_le()?;
    let room = at.try_get_u32_le()?;
    let id = call.take_file_id(&mut at)?;
    let filter = at.try_get_u32_le()?;
    if room > TRANSFER_MAX {
        return Err(NtStatus::INVALID_PARAMETER.into());
    }
    let open = call.open_unheld(id)?;
    let file = open.file()?;
    if !file.file.is_directory() {
        return Err(NtStatus::INVALID_PARAMETER.into());
    }
    if !file.file.granted_access().has(AccessMask::READ_DATA) {
        return Err(NtStatus::ACCESS_DENIED.into());
    }
    let room = room.min(*file.watch_room.get_or_init(|| room));
    let below = flags & WATCH_TREE != 0;
    match file.file.changes(ChangeFilter(filter), below).await.map_err(status)? {
        Changes::These(changes) => {
            let buffer = encode(&changes);
            match buffer.len() <= room as usize {
                true => Ok(told(call, id, &buffer).await),
                false => Ok(without_changes(NtStatus::NOTIFY_ENUM_DIR)),
            }
        }
        Changes::TooMany => Ok(without_changes(NtStatus::NOTIFY_ENUM_DIR)),
        Changes::Closed => Ok(without_changes(NtStatus::NOTIFY_CLEANUP)),
        Changes::Deleted => Err(NtStatus::DELETE_PENDING.into()),
    }
}

/// Where there is no memory to tell the changes, the client is told to look for itself.
async fn told(call: &Call, id: FileId, buffer: &[u8]) -> Reply {
    match call.answer_memory(buffer.len()).await {
        Ok(held) => Reply { held, file: Some(id), ..buffer_reply(buffer) },
        Err(_) => without_changes(NtStatus::NOTIFY_ENUM_DIR),
    }
}

fn without_changes(status: NtStatus) -> Reply {
    Reply { status: Some(status), ..buffer_reply(&[]) }
}

fn encode(changes: &[Change]) -> Vec<u8> {
    let mut to = Vec::new();
    for (number, change) in changes.iter().enumerate() {
        let name = to_utf16(&change.path);
        let start = to.len();
        to.put_u32_le(0);
        to.put_u32_le(match change.action {
            ChangeAction::Added => 1,
            ChangeAction::Removed => 2,
            ChangeAction::Modified => 3,
            ChangeAction::RenamedOldName => 4,
            ChangeAction::RenamedNewName => 5,
        });
        to.put_u32_le(name.len() as u32);
        to.put_slice(&name);
        if number + 1 < changes.len() {
            pad(&mut to, 4);
            let next = (to.len() - start) as u32;
            if let Some(place) = to.get_mut(start..start + 4) {
                place.copy_from_slice(&next.to_le_bytes());
            }
        }
    }
    to
}
