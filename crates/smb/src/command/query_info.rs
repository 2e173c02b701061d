//! QUERY_INFO (MS-SMB2 3.3.5.20).

use bytes::Buf;
use lazuli_service::open_file::{AccessMask, SecurityParts};

use super::buffer_reply;
use super::file_info::{self, FileClass};
use super::fs_info::{self, FsClass};
use super::refusal::status;
use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::server::open::{File, FileId, Opened};
use crate::status::NtStatus;

mod kind {
    pub const FILE: u8 = 1;
    pub const FILE_SYSTEM: u8 = 2;
    pub const SECURITY: u8 = 3;
    pub const QUOTA: u8 = 4;
}

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    let mut at = call.body(41)?;
    let kind = at.try_get_u8()?;
    let class = at.try_get_u8()?;
    let room = at.try_get_u32_le()?;
    let _input = (at.try_get_u16_le()?, at.try_get_u16_le()?, at.try_get_u32_le()?);
    let additional = at.try_get_u32_le()?;
    let _flags = at.try_get_u32_le()?;
    let id = call.take_file_id(&mut at)?;
    call.paid_for(room)?;
    let open = call.open(id).await?;
    let file = match &open.what {
        Opened::File(file) => file,
        Opened::Pipe(_) => return pipe(kind, class, room, id),
    };
    let reply = match kind {
        kind::FILE => {
            let class = FileClass::from_wire(class).ok_or(NtStatus::INVALID_INFO_CLASS)?;
            cut(of_file(file, class).await?, class.fixed(), room)?
        }
        kind::FILE_SYSTEM => {
            let class = FsClass::from_wire(class).ok_or(NtStatus::INVALID_INFO_CLASS)?;
            let volume = call.share()?.volume().await.map_err(status)?;
            cut(fs_info::encode(class, &volume), class.fixed(), room)?
        }
        kind::SECURITY => {
            let descriptor = file.file.security(parts(additional)).await.map_err(status)?;
            let bytes = descriptor.to_bytes().map_err(|_| NtStatus::INVALID_SECURITY_DESCR)?;
            if bytes.len() > room as usize {
                let needed = (bytes.len() as u32).to_le_bytes().to_vec();
                return Err(Failure { status: NtStatus::BUFFER_TOO_SMALL, data: needed });
            }
            buffer_reply(&bytes)
        }
        kind::QUOTA => return Err(NtStatus::NOT_SUPPORTED.into()),
        _ => return Err(NtStatus::INVALID_PARAMETER.into()),
    };
    let held = call.answer_memory(reply.body.len()).await?;
    Ok(Reply { held, file: Some(id), ..reply })
}

async fn of_file(file: &File, class: FileClass) -> Result<Vec<u8>, NtStatus> {
    let needs = match class {
        FileClass::Basic | FileClass::All | FileClass::NetworkOpen | FileClass::AttributeTag => {
            AccessMask::READ_ATTRIBUTES
        }
        FileClass::FullEa => AccessMask::READ_EA,
        _ => AccessMask::NONE,
    };
    if !file.file.granted_access().has(needs) {
        return Err(NtStatus::ACCESS_DENIED);
    }
    match class {
        // Files have neither extended attributes nor short names here.
        FileClass::FullEa => return Err(NtStatus::NO_EAS_ON_FILE),
        FileClass::AlternateName => return Err(NtStatus::OBJECT_NAME_NOT_FOUND),
        _ => {}
    }
    let info = file.file.info().await.map_err(status)?;
    let path = match class {
        FileClass::All | FileClass::Name | FileClass::NormalizedName => {
            file.file.path().await.map_err(status)?
        }
        _ => String::new(),
    };
    Ok(file_info::encode(class, file, &info, &path))
}

/// What does not fit is cut off, and the client told; what must be there is there or nothing is.
fn cut(mut bytes: Vec<u8>, fixed: usize, room: u32) -> Result<Reply, NtStatus> {
    let room = room as usize;
    if room < fixed {
        return Err(NtStatus::INFO_LENGTH_MISMATCH);
    }
    let overflow = bytes.len() > room;
    bytes.truncate(room);
    let status = overflow.then_some(NtStatus::BUFFER_OVERFLOW);
    Ok(Reply { status, ..buffer_reply(&bytes) })
}

pub fn parts(additional: u32) -> SecurityParts {
    SecurityParts {
        owner: additional & 1 != 0,
        group: additional & 2 != 0,
        dacl: additional & 4 != 0,
        sacl: additional & 8 != 0,
    }
}

/// Enough for clients that look at what they opened.
fn pipe(kind: u8, class: u8, room: u32, id: FileId) -> Result<Reply, Failure> {
    const STANDARD: u8 = 5;
    if kind != kind::FILE || class != STANDARD {
        return Err(NtStatus::INVALID_DEVICE_REQUEST.into());
    }
    let mut bytes = vec![0; 24];
    // Allocated bytes, one link, deleted when it is closed.
    for (place, value) in [(1, 0x10), (16, 1), (20, 1)] {
        if let Some(byte) = bytes.get_mut(place) {
            *byte = value;
        }
    }
    Ok(Reply { file: Some(id), ..cut(bytes, 24, room)? })
}
