//! IOCTL (MS-SMB2 3.3.5.15).

use std::net::IpAddr;
use std::ops::Range;

use bytes::{Buf, BufMut, Bytes};
use lazuli_model::smb::gmt_token;
use lazuli_service::open_file::AccessMask;

use super::refusal::status;
use super::shares::Shares;
use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::server::limits::{IOCTL_ANSWER_MAX, TRANSFER_MAX};
use crate::server::open::{FileId, Opened};
use crate::server::tree::Share;
use crate::status::NtStatus;
use crate::wire::negotiate::Dialect;
use crate::wire::take_array;
use crate::wire::text::to_utf16_z;

mod control {
    pub const DFS_GET_REFERRALS: u32 = 0x0006_0194;
    pub const DFS_GET_REFERRALS_EX: u32 = 0x0006_01B0;
    pub const PIPE_WAIT: u32 = 0x0011_0018;
    pub const PIPE_TRANSCEIVE: u32 = 0x0011_C017;
    pub const VALIDATE_NEGOTIATE_INFO: u32 = 0x0014_0204;
    pub const SRV_REQUEST_RESUME_KEY: u32 = 0x0014_0078;
    pub const SRV_ENUMERATE_SNAPSHOTS: u32 = 0x0014_4064;
    pub const SRV_COPYCHUNK: u32 = 0x0014_40F2;
    pub const SRV_COPYCHUNK_WRITE: u32 = 0x0014_80F2;
    pub const LMR_REQUEST_RESILIENCY: u32 = 0x0014_01D4;
    pub const QUERY_NETWORK_INTERFACE_INFO: u32 = 0x0014_01FC;
    pub const SET_SPARSE: u32 = 0x0009_00C4;
    pub const SET_ZERO_DATA: u32 = 0x0009_80C8;
    pub const QUERY_ALLOCATED_RANGES: u32 = 0x0009_40CF;
}

const IS_FSCTL: u32 = 1;
const CHUNKS_MAX: u32 = 256;
const CHUNK_BYTES_MAX: u32 = 1 << 20;
const COPY_BYTES_MAX: u32 = 16 << 20;
/// Answers are small but for those of pipes and ranges.
const RANGES_MAX: usize = 4096;

struct Request {
    control: u32,
    id: FileId,
    input: Bytes,
    room: u32,
}

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    let mut at = call.body(57)?;
    let _reserved = at.try_get_u16_le()?;
    let control = at.try_get_u32_le()?;
    let id = call.take_file_id(&mut at)?;
    let input_offset = at.try_get_u32_le()? as usize;
    let input_length = at.try_get_u32_le()?;
    let _max_input = at.try_get_u32_le()?;
    let _output = (at.try_get_u32_le()?, at.try_get_u32_le()?);
    let room = at.try_get_u32_le()?;
    let flags = at.try_get_u32_le()?;
    if flags != IS_FSCTL {
        return Err(NtStatus::NOT_SUPPORTED.into());
    }
    if input_length > TRANSFER_MAX || room > TRANSFER_MAX {
        return Err(NtStatus::INVALID_PARAMETER.into());
    }
    call.paid_for(input_length.max(room))?;
    let input = call.part(input_offset, input_length as usize)?;
    let request = Request { control, id, input, room };
    // Before it is carried out: what was done and cannot be told would be lost.
    let held = call.answer_memory(IOCTL_ANSWER_MAX.min(room as usize)).await?;
    let open = call.session()?.open_anywhere(id);
    let _in_sequence = open.map(|open| call.in_sequence(&open)).transpose()?;
    let reply = carry_out(call, &request).await?;
    Ok(Reply { held, ..reply })
}

async fn carry_out(call: &Call, request: &Request) -> Result<Reply, Failure> {
    let &Request { control, id, room, .. } = request;
    match control {
        control::VALIDATE_NEGOTIATE_INFO => validate(call, request),
        control::DFS_GET_REFERRALS | control::DFS_GET_REFERRALS_EX => {
            Err(NtStatus::FS_DRIVER_REQUIRED.into())
        }
        control::PIPE_TRANSCEIVE => transceive(call, request).await,
        control::PIPE_WAIT => match &call.tree()?.share {
            Share::Pipes => Ok(answer(request, &[])),
            Share::Disk(_) => Err(NtStatus::INVALID_DEVICE_REQUEST.into()),
        },
        control::SRV_ENUMERATE_SNAPSHOTS => snapshots(call, request).await,
        control::SRV_REQUEST_RESUME_KEY => {
            let open = call.open(id).await?;
            open.file()?;
            if room < 32 {
                return Err(NtStatus::INVALID_PARAMETER.into());
            }
            let mut key = Vec::with_capacity(32);
            id.write(&mut key);
            key.put_bytes(0, 16);
            Ok(answer(request, &key))
        }
        control::SRV_COPYCHUNK => copy_chunks(call, request, true).await,
        control::SRV_COPYCHUNK_WRITE => copy_chunks(call, request, false).await,
        control::SET_SPARSE => {
            // Whatever was not written takes no room, whether a client asks for that or not.
            let open = call.open(id).await?;
            let file = open.file()?;
            let writes =
                AccessMask::WRITE_DATA.and(AccessMask::APPEND_DATA).and(AccessMask::WRITE_ATTRIBUTES);
            if file.file.is_directory() {
                return Err(NtStatus::INVALID_PARAMETER.into());
            }
            if !file.file.granted_access().has_any(writes) {
                return Err(NtStatus::ACCESS_DENIED.into());
            }
            Ok(answer(request, &[]))
        }
        control::SET_ZERO_DATA => {
            let range = range(&request.input, false)?;
            call.open(id).await?.file()?.file.zero_range(range).await.map_err(status)?;
            Ok(answer(request, &[]))
        }
        control::QUERY_ALLOCATED_RANGES => allocated(call, request).await,
        control::QUERY_NETWORK_INTERFACE_INFO => interfaces(call, request),
        control::LMR_REQUEST_RESILIENCY => Err(NtStatus::NOT_SUPPORTED.into()),
        _ => {
            // Of a file that is not open, that is what the client is told.
            call.open(id).await?;
            Err(NtStatus::INVALID_DEVICE_REQUEST.into())
        }
    }
}

fn answer(request: &Request, output: &[u8]) -> Reply {
    const FIXED: u32 = 48;
    let offset = crate::wire::header::SIZE as u32 + FIXED;
    let mut body = Vec::with_capacity(FIXED as usize + output.len());
    body.put_u16_le(49);
    body.put_u16_le(0);
    body.put_u32_le(request.control);
    request.id.write(&mut body);
    body.put_u32_le(offset);
    body.put_u32_le(0);
    body.put_u32_le(offset);
    body.put_u32_le(output.len() as u32);
    body.put_u32_le(0);
    body.put_u32_le(0);
    body.put_slice(output);
    let file = (request.id != FileId::PREVIOUS).then_some(request.id);
    Reply { body, file, ..Reply::default() }
}

/// What the negotiation was, over a signed message: a change on its way is found out (MS-SMB2 3.3.5.15.12).
fn validate(call: &Call, request: &Request) -> Result<Reply, Failure> {
    let negotiated = call.negotiated()?;
    let mut at: &[u8] = &request.input;
    let same = (|| {
        let capabilities = at.try_get_u32_le().ok()?;
        let guid: [u8; 16] = take_array(&mut at).ok()?;
        let security_mode = at.try_get_u16_le().ok()?;
        let count = at.try_get_u16_le().ok()?;
        let dialects = (0..count.min(64)).map(|_| at.try_get_u16_le().ok()).collect::<Option<Vec<u16>>>()?;
        Some(
            negotiated.dialect != Dialect::Smb311
                && capabilities == negotiated.client_capabilities
                && guid == negotiated.client_guid
                && security_mode == negotiated.client_security_mode
                && Dialect::chosen(&dialects) == Some(negotiated.dialect)
                && dialects == negotiated.offered_dialects,
        )
    })();
    if same != Some(true) || request.room < 24 {
        call.connection.close();
        return Err(NtStatus::ACCESS_DENIED.into());
    }
    let mut output = Vec::with_capacity(24);
    output.put_u32_le(negotiated.server_capabilities);
    output.put_slice(&call.connection.server.guid);
    output.put_u16_le(negotiated.server_security_mode);
    output.put_u16_le(negotiated.dialect as u16);
    Ok(answer(request, &output))
}

/// Where else the client may connect to, to bind more connections to its session (MS-SMB2 2.2.32.5). This server is told from others at the address
/// that this connection has come to, so that is the one.
fn interfaces(call: &Call, request: &Request) -> Result<Reply, Failure> {
    const SIZE: usize = 152;
    // What a network does is not known here; clients weigh interfaces by this.
    const BITS_PER_SECOND: u64 = 1_000_000_000;
    const INET: u16 = 2;
    const INET6: u16 = 0x17;
    if call.negotiated()?.dialect == Dialect::Smb210 {
        return Err(NtStatus::NOT_SUPPORTED.into());
    }
    if request.id != FileId::PREVIOUS {
        return Err(NtStatus::INVALID_PARAMETER.into());
    }
    if (request.room as usize) < SIZE {
        return Err(NtStatus::BUFFER_TOO_SMALL.into());
    }
    let mut output = Vec::with_capacity(SIZE);
    // No other follows; its index; it can neither spread connections nor share memory.
    [0, 1, 0, 0].into_iter().for_each(|number| output.put_u32_le(number));
    output.put_u64_le(BITS_PER_SECOND);
    match call.connection.local.to_canonical() {
        IpAddr::V4(address) => {
            output.put_u16_le(INET);
            output.put_u16_le(0);
            output.put_slice(&address.octets());
        }
        IpAddr::V6(address) => {
            output.put_u16_le(INET6);
            output.put_bytes(0, 6);
            output.put_slice(&address.octets());
        }
    }
    output.resize(SIZE, 0);
    Ok(answer(request, &output))
}

async fn transceive(call: &Call, request: &Request) -> Result<Reply, Failure> {
    let open = call.open(request.id).await?;
    let Opened::Pipe(pipe) = &open.what else { return Err(NtStatus::INVALID_DEVICE_REQUEST.into()) };
    let mut pipe = pipe.lock().await;
    let shares = Shares { server: &call.connection.server, session: call.session()? };
    pipe.write(&request.input, &shares).await?;
    let (part, more) = pipe.read(request.room as usize).ok_or(NtStatus::PIPE_BROKEN)?;
    Ok(Reply { status: more.then_some(NtStatus::BUFFER_OVERFLOW), ..answer(request, &part) })
}

/// The snapshots of the share as clients name them; how many there are, where there is no room for all.
async fn snapshots(call: &Call, request: &Request) -> Result<Reply, Failure> {
    call.open(request.id).await?.file()?;
    if request.room < 16 {
        return Err(NtStatus::INVALID_PARAMETER.into());
    }
    let moments = call.share()?.snapshots().await.map_err(status)?;
    let mut names = Vec::new();
    for moment in &moments {
        names.extend(to_utf16_z(&gmt_token(*moment)));
    }
    names.extend([0, 0]);
    let fits = 12 + names.len() <= request.room as usize;
    let mut output = Vec::new();
    output.put_u32_le(moments.len() as u32);
    output.put_u32_le(if fits { moments.len() as u32 } else { 0 });
    output.put_u32_le(names.len() as u32);
    match fits {
        true => output.put_slice(&names),
        false => output.put_u32_le(0),
    }
    Ok(answer(request, &output))
}

/// Two ends, or an offset and a length.
fn range(input: &[u8], lengths: bool) -> Result<Range<u64>, NtStatus> {
    let mut at = input;
    let (start, second) = (at.try_get_i64_le()?, at.try_get_i64_le()?);
    let end = if lengths { start.checked_add(second).ok_or(NtStatus::INVALID_PARAMETER)? } else { second };
    match (u64::try_from(start), u64::try_from(end)) {
        (Ok(start), Ok(end)) if start <= end => Ok(start..end),
        _ => Err(NtStatus::INVALID_PARAMETER),
    }
}

async fn allocated(call: &Call, request: &Request) -> Result<Reply, Failure> {
    let range = range(&request.input, true)?;
    let limit = (request.room as usize / 16).min(RANGES_MAX);
    let open = call.open(request.id).await?;
    let (ranges, more) = open.file()?.file.allocated_ranges(range, limit).await.map_err(status)?;
    if limit == 0 && more {
        return Err(NtStatus::BUFFER_TOO_SMALL.into());
    }
    let mut output = Vec::with_capacity(16 * ranges.len());
    for range in &ranges {
        output.put_u64_le(range.start);
        output.put_u64_le(range.end - range.start);
    }
    Ok(Reply { status: more.then_some(NtStatus::BUFFER_OVERFLOW), ..answer(request, &output) })
}

/// Bytes from one open file of the session to another, without going through the client (MS-SMB2 3.3.5.15.6).
async fn copy_chunks(call: &Call, request: &Request, reads: bool) -> Result<Reply, Failure> {
    let mut at: &[u8] = &request.input;
    let source = FileId::take(&mut at)?;
    let _rest_of_key = take_array::<8>(&mut at)?;
    let count = at.try_get_u32_le()?;
    let _reserved = at.try_get_u32_le()?;
    let target = call.open(request.id).await?;
    let target = target.file()?;
    if request.room < 12 {
        return Err(NtStatus::INVALID_PARAMETER.into());
    }
    let limits = |request: &Request| {
        let mut output = Vec::with_capacity(12);
        [CHUNKS_MAX, CHUNK_BYTES_MAX, COPY_BYTES_MAX].into_iter().for_each(|limit| output.put_u32_le(limit));
        Reply { status: Some(NtStatus::INVALID_PARAMETER), ..answer(request, &output) }
    };
    let session = call.session()?;
    let source = session.open_anywhere(source).ok_or(NtStatus::OBJECT_NAME_NOT_FOUND)?;
    let source = source.file()?;
    let readable = source.file.granted_access().has_any(AccessMask::READ_DATA.and(AccessMask::EXECUTE));
    let access = target.file.granted_access();
    if !readable || !access.has(AccessMask::WRITE_DATA) || (reads && !access.has(AccessMask::READ_DATA)) {
        return Err(NtStatus::ACCESS_DENIED.into());
    }
    if count > CHUNKS_MAX {
        return Ok(limits(request));
    }
    let mut chunks = Vec::with_capacity(count as usize);
    let mut total: u32 = 0;
    for _ in 0..count {
        let (from, to, length) = (at.try_get_u64_le()?, at.try_get_u64_le()?, at.try_get_u32_le()?);
        let _reserved = at.try_get_u32_le()?;
        total = total.saturating_add(length);
        if length == 0 || length > CHUNK_BYTES_MAX || total > COPY_BYTES_MAX {
            return Ok(limits(request));
        }
        chunks.push((from, to, length));
    }
    let (mut done, mut written) = (0u32, 0u32);
    let mut failed = None;
    for (from, to, length) in chunks {
        match target.file.copy_from(&source.file, from, to, length).await {
            Ok(copied) => {
                done += 1;
                written += copied;
            }
            Err(refusal) => {
                failed = Some(status(refusal));
                break;
            }
        }
    }
    let mut output = Vec::with_capacity(12);
    [done, 0, written].into_iter().for_each(|figure| output.put_u32_le(figure));
    // Of an error, too, the client is told how far it came.
    Ok(Reply { status: failed, ..answer(request, &output) })
}
