//! READ (MS-SMB2 3.3.5.12). What the service read is sent as it lies.

use std::sync::atomic::Ordering;

use bytes::{Buf, BufMut, Bytes};

use super::refusal::status;
use crate::rpc::pdu;
use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::server::open::Opened;
use crate::status::NtStatus;

/// Behind the header and the sixteen bytes of the answer.
const DATA_OFFSET: u8 = 80;

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    let mut at = call.body(49)?;
    let _padding = at.try_get_u8()?;
    let _flags = at.try_get_u8()?;
    let length = at.try_get_u32_le()?;
    let offset = at.try_get_u64_le()?;
    let id = call.take_file_id(&mut at)?;
    let minimum = at.try_get_u32_le()?;
    let channel = at.try_get_u32_le()?;
    call.paid_for(length)?;
    // Remote direct memory is not spoken.
    if channel != 0 {
        return Err(NtStatus::INVALID_PARAMETER.into());
    }
    let open = call.open(id).await?;
    let (payload, overflow, held) = match &open.what {
        Opened::File(file) => {
            if offset > i64::MAX as u64
                || offset.checked_add(length.into()).is_none_or(|end| end > i64::MAX as u64)
            {
                return Err(NtStatus::INVALID_PARAMETER.into());
            }
            let held = call.answer_memory(length as usize).await?;
            let parts = file.file.read(offset, length).await.map_err(status)?;
            (parts, false, held)
        }
        Opened::Pipe(pipe) => {
            let held = call.answer_memory(pdu::FRAGMENT_MAX.min(length as usize)).await?;
            let (part, more) = pipe.lock().await.read(length as usize).ok_or(NtStatus::PIPE_BROKEN)?;
            (vec![part], more, held)
        }
    };
    let read: usize = payload.iter().map(Bytes::len).sum();
    if let Opened::File(file) = &open.what {
        file.position.store(offset + read as u64, Ordering::Relaxed);
    }
    if read < minimum as usize {
        return Err(NtStatus::END_OF_FILE.into());
    }
    let mut body = Vec::with_capacity(17);
    body.put_u16_le(17);
    body.put_u8(DATA_OFFSET);
    body.put_u8(0);
    body.put_u32_le(read as u32);
    body.put_u32_le(0);
    body.put_u32_le(0);
    if read == 0 {
        // The structure counts one byte of a buffer.
        body.put_u8(0);
    }
    let status = overflow.then_some(NtStatus::BUFFER_OVERFLOW);
    Ok(Reply { status, body, payload, held, file: Some(id), ..Reply::default() })
}
