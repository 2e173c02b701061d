//! WRITE (MS-SMB2 3.3.5.13). The bytes go to the service as they lie in the frame.

use std::sync::atomic::Ordering;

use bytes::{Buf, BufMut};

use super::refusal::status;
use super::shares::Shares;
use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::server::open::Opened;
use crate::status::NtStatus;

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    let mut at = call.body(49)?;
    let data_offset = usize::from(at.try_get_u16_le()?);
    let length = at.try_get_u32_le()?;
    let offset = at.try_get_u64_le()?;
    let id = call.take_file_id(&mut at)?;
    let channel = at.try_get_u32_le()?;
    call.paid_for(length)?;
    if channel != 0 {
        return Err(NtStatus::INVALID_PARAMETER.into());
    }
    let data = call.part(data_offset, length as usize)?;
    let open = call.open(id).await?;
    let _in_sequence = call.in_sequence(&open)?;
    match &open.what {
        Opened::File(file) => {
            if offset.checked_add(length.into()).is_none_or(|end| end > i64::MAX as u64) {
                return Err(NtStatus::INVALID_PARAMETER.into());
            }
            file.file.write(offset, data).await.map_err(status)?;
            file.position.store(offset + u64::from(length), Ordering::Relaxed);
        }
        Opened::Pipe(pipe) => {
            let shares = Shares { server: &call.connection.server, session: call.session()? };
            pipe.lock().await.write(&data, &shares).await?;
        }
    }
    let mut body = Vec::with_capacity(16);
    body.put_u16_le(17);
    body.put_u16_le(0);
    body.put_u32_le(length);
    body.put_bytes(0, 8);
    Ok(Reply { body, file: Some(id), ..Reply::default() })
}
