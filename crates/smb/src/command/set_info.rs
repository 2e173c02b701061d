//! SET_INFO (MS-SMB2 3.3.5.21).

use std::sync::atomic::Ordering;

use bytes::{Buf, BufMut, Bytes};
use lazuli_model::sddl::SecurityDescriptor;
use lazuli_service::open_file::{BasicInfo, FileAttributes, Rename, TimeWish, parse_path};

use super::query_info::parts;
use super::refusal::status;
use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::server::from_filetime;
use crate::server::open::File;
use crate::status::NtStatus;
use crate::wire::take_slice;
use crate::wire::text::utf16;

mod kind {
    pub const FILE: u8 = 1;
    pub const FILE_SYSTEM: u8 = 2;
    pub const SECURITY: u8 = 3;
    pub const QUOTA: u8 = 4;
}

mod class {
    pub const BASIC: u8 = 4;
    pub const RENAME: u8 = 10;
    pub const LINK: u8 = 11;
    pub const DISPOSITION: u8 = 13;
    pub const POSITION: u8 = 14;
    pub const FULL_EA: u8 = 15;
    pub const MODE: u8 = 16;
    pub const ALLOCATION: u8 = 19;
    pub const END_OF_FILE: u8 = 20;
    pub const SHORT_NAME: u8 = 40;
    pub const VALID_DATA_LENGTH: u8 = 39;
    pub const DISPOSITION_EX: u8 = 64;
    pub const RENAME_EX: u8 = 65;
}

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    let mut at = call.body(33)?;
    let kind = at.try_get_u8()?;
    let class = at.try_get_u8()?;
    let length = at.try_get_u32_le()?;
    let offset = usize::from(at.try_get_u16_le()?);
    let _reserved = at.try_get_u16_le()?;
    let additional = at.try_get_u32_le()?;
    let id = call.take_file_id(&mut at)?;
    call.paid_for(length)?;
    let buffer = call.part(offset, length as usize)?;
    let open = call.open(id).await?;
    let _in_sequence = call.in_sequence(&open)?;
    let file = open.file()?;
    match kind {
        kind::FILE => of_file(file, class, &buffer).await?,
        kind::SECURITY => {
            let new =
                SecurityDescriptor::parse_bytes(&buffer).map_err(|_| NtStatus::INVALID_SECURITY_DESCR)?;
            file.file.set_security(parts(additional), new).await.map_err(status)?;
        }
        kind::FILE_SYSTEM | kind::QUOTA => return Err(NtStatus::NOT_SUPPORTED.into()),
        _ => return Err(NtStatus::INVALID_PARAMETER.into()),
    }
    let mut body = Vec::with_capacity(2);
    body.put_u16_le(2);
    Ok(Reply { body, file: Some(id), ..Reply::default() })
}

/// A buffer that is too short for its class.
fn short<T>(_: T) -> NtStatus {
    NtStatus::INFO_LENGTH_MISMATCH
}

async fn of_file(file: &File, class: u8, buffer: &Bytes) -> Result<(), NtStatus> {
    let mut at: &[u8] = buffer;
    let open = &file.file;
    let done = match class {
        class::BASIC => open.set_basic_info(basic(at)?).await,
        class::RENAME => open.rename(rename(at)?).await,
        class::DISPOSITION => {
            let delete = at.try_get_u8().map_err(short)? != 0;
            open.set_disposition(delete, false).await
        }
        class::DISPOSITION_EX => {
            const DELETE: u32 = 0x01;
            const POSIX: u32 = 0x02;
            const IGNORE_READ_ONLY: u32 = 0x10;
            let flags = at.try_get_u32_le().map_err(short)?;
            // A name that goes before the last open is closed is not offered; clients fall back to the older class.
            if flags & POSIX != 0 {
                return Err(NtStatus::NOT_SUPPORTED);
            }
            open.set_disposition(flags & DELETE != 0, flags & IGNORE_READ_ONLY != 0).await
        }
        class::RENAME_EX => {
            const REPLACE: u32 = 0x01;
            let flags = at.try_get_u32_le().map_err(short)?;
            if flags & !REPLACE != 0 {
                return Err(NtStatus::NOT_SUPPORTED);
            }
            open.rename(rename(buffer)?).await
        }
        class::END_OF_FILE => open.set_end_of_file(size(at)?).await,
        class::ALLOCATION => open.set_allocation(size(at)?).await,
        class::POSITION => {
            file.position.store(size(at)?, Ordering::Relaxed);
            Ok(())
        }
        class::MODE => {
            let mode = at.try_get_u32_le().map_err(short)?;
            // Write through, sequential, unbuffered, synchronous (two kinds), delete on close.
            if mode & !0x103E != 0 {
                return Err(NtStatus::INVALID_PARAMETER);
            }
            file.mode.store(mode.into(), Ordering::Relaxed);
            Ok(())
        }
        class::FULL_EA => return Err(NtStatus::EAS_NOT_SUPPORTED),
        class::LINK | class::SHORT_NAME | class::VALID_DATA_LENGTH => return Err(NtStatus::NOT_SUPPORTED),
        _ => return Err(NtStatus::INVALID_INFO_CLASS),
    };
    done.map_err(status)
}

fn size(mut at: &[u8]) -> Result<u64, NtStatus> {
    let size = at.try_get_i64_le().map_err(short)?;
    u64::try_from(size).map_err(|_| NtStatus::INVALID_PARAMETER)
}

fn basic(mut at: &[u8]) -> Result<BasicInfo, NtStatus> {
    if at.len() < 40 {
        return Err(NtStatus::INFO_LENGTH_MISMATCH);
    }
    let created = wish(at.try_get_i64_le()?)?;
    let last_accessed = wish(at.try_get_i64_le()?)?;
    let last_written = wish(at.try_get_i64_le()?)?;
    let changed = wish(at.try_get_i64_le()?)?;
    let attributes = match at.try_get_u32_le()? {
        0 => None,
        bits => Some(FileAttributes::from_bits(bits)),
    };
    Ok(BasicInfo { created, last_accessed, last_written, changed, attributes })
}

fn wish(ticks: i64) -> Result<TimeWish, NtStatus> {
    Ok(match ticks {
        0 => TimeWish::Keep,
        -1 => TimeWish::Freeze,
        -2 => TimeWish::Thaw,
        _ => TimeWish::Set(from_filetime(u64::try_from(ticks).map_err(|_| NtStatus::INVALID_PARAMETER)?)),
    })
}

fn rename(mut at: &[u8]) -> Result<Rename, NtStatus> {
    if at.len() < 20 {
        return Err(NtStatus::INFO_LENGTH_MISMATCH);
    }
    let replaces = at.try_get_u64_le()? & 0xFF != 0;
    let root = at.try_get_u64_le()?;
    let length = at.try_get_u32_le()? as usize;
    let name = take_slice(&mut at, length).map_err(short)?;
    if root != 0 {
        return Err(NtStatus::INVALID_PARAMETER);
    }
    let name = utf16(name).map_err(|_| NtStatus::OBJECT_NAME_INVALID)?;
    if name.is_empty() {
        return Err(NtStatus::OBJECT_NAME_INVALID);
    }
    let to = parse_path(name.strip_prefix('\\').unwrap_or(&name)).map_err(status)?;
    Ok(Rename { to, replaces })
}
