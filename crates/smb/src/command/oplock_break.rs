//! OPLOCK_BREAK: the client acknowledges that it has given up an oplock or a lease (MS-SMB2 3.3.5.22).

use bytes::{Buf, BufMut};

use super::refusal::status;
use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::server::notices::{caching_bits, caching_of, oplock_code, oplock_of};
use crate::status::NtStatus;
use crate::wire::{header, take_array};

const OPLOCK: u16 = 24;
const LEASE: u16 = 36;

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    let size = call.message.get(header::SIZE..).unwrap_or_default().try_get_u16_le()?;
    match size {
        OPLOCK => oplock(call).await,
        LEASE => lease(call).await,
        _ => Err(NtStatus::INVALID_PARAMETER.into()),
    }
}

async fn oplock(call: &Call) -> Result<Reply, Failure> {
    let mut at = call.body(OPLOCK)?;
    let level = at.try_get_u8()?;
    let _reserved = (at.try_get_u8()?, at.try_get_u32_le()?);
    let id = call.take_file_id(&mut at)?;
    let open = call.open(id).await?;
    let file = open.file()?;
    // A lease is acknowledged by its key.
    let level = oplock_of(level).filter(|_| file.lease.is_none()).ok_or(NtStatus::INVALID_PARAMETER)?;
    let now = file.file.acknowledge_oplock(level).await.map_err(status)?;
    let mut body = Vec::with_capacity(24);
    body.put_u16_le(OPLOCK);
    body.put_u8(oplock_code(now));
    body.put_bytes(0, 5);
    id.write(&mut body);
    Ok(Reply { body, file: Some(id), ..Reply::default() })
}

async fn lease(call: &Call) -> Result<Reply, Failure> {
    let mut at = call.body(LEASE)?;
    let _reserved = (at.try_get_u16_le()?, at.try_get_u32_le()?);
    let key = u128::from_le_bytes(take_array(&mut at)?);
    let state = caching_of(at.try_get_u32_le()?).ok_or(NtStatus::INVALID_PARAMETER)?;
    let now = call.share()?.acknowledge_lease(key, state).await.map_err(status)?;
    let mut body = Vec::with_capacity(36);
    body.put_u16_le(LEASE);
    body.put_u16_le(0);
    body.put_u32_le(0);
    body.put_slice(&key.to_le_bytes());
    body.put_u32_le(caching_bits(now));
    body.put_u64_le(0);
    Ok(Reply::new(body))
}
