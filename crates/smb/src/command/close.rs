//! CLOSE (MS-SMB2 3.3.5.10).

use std::time::Duration;

use bytes::{Buf, BufMut};
use lazuli_service::open_file::FileInfo;

use super::file_info::wire_attributes;
use super::refusal::status;
use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::server::filetime;
use crate::server::open::Opened;
use crate::status::NtStatus;

const FLAG_ATTRIBUTES: u16 = 1;
const PATIENCE: Duration = Duration::from_secs(30);

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    let mut at = call.body(24)?;
    let flags = at.try_get_u16_le()?;
    let _reserved = at.try_get_u32_le()?;
    let id = call.take_file_id(&mut at)?;
    let open = call.open_unheld(id)?;
    // Requests that came before have used it by then, or are late.
    let alone = tokio::time::timeout(PATIENCE, open.users.write()).await;
    let mut info = None;
    if let Opened::File(file) = &open.what {
        if flags & FLAG_ATTRIBUTES != 0 {
            // Read before the last open of a file that is to be deleted goes with it.
            info = file.file.info().await.ok();
        }
        // The request that takes it out of the table closes it; a second CLOSE finds nothing.
        call.session()?.forget_open(id).ok_or(NtStatus::FILE_CLOSED)?;
        file.file.close().await.map_err(status)?;
    } else {
        call.session()?.forget_open(id).ok_or(NtStatus::FILE_CLOSED)?;
    }
    drop(alone);
    let mut body = Vec::with_capacity(60);
    body.put_u16_le(60);
    body.put_u16_le(if info.is_some() { FLAG_ATTRIBUTES } else { 0 });
    body.put_u32_le(0);
    match &info {
        Some(info) => write_info(&mut body, info),
        None => body.put_bytes(0, 52),
    }
    Ok(Reply { body, file: Some(id), ..Reply::default() })
}

/// Times, sizes and attributes as CREATE and CLOSE tell them.
pub fn write_info(to: &mut Vec<u8>, info: &FileInfo) {
    for time in [info.created, info.last_accessed, info.last_written, info.changed] {
        to.put_u64_le(filetime(time));
    }
    to.put_u64_le(info.allocation);
    to.put_u64_le(info.length);
    to.put_u32_le(wire_attributes(info));
}
