//! What CREATE answers (MS-SMB2 2.2.14), the first time and when it is sent again.

use bytes::BufMut;
use lazuli_service::open_file::{
    AccessMask, CachingGranted, CreateAction, DurableGranted, DurableWanted, FileInfo, LeaseVersion,
};

use super::close::write_info;
use super::contexts::{ContextWriter, CreateContexts};
use super::create::OPLOCK_LEASE;
use crate::server::answer::Reply;
use crate::server::notices::{caching_bits, oplock_code};
use crate::server::open::Open;
use crate::status::NtStatus;
use crate::wire::header;

const LEASE_BREAK_IN_PROGRESS: u32 = 2;
const PARENT_LEASE_KEY_SET: u32 = 4;
/// Of the answer, before its contexts.
pub const FIXED: usize = 88;

/// What is told of an open.
pub struct Told {
    pub action: CreateAction,
    pub info: FileInfo,
    pub maximal_access: AccessMask,
    pub caching: CachingGranted,
    pub durable: Option<DurableGranted>,
}

pub fn answer(open: &Open, asked: &CreateContexts, told: &Told) -> Reply {
    let mut contexts = ContextWriter::default();
    if asked.maximal_access {
        let mut data = Vec::with_capacity(8);
        data.put_u32_le(NtStatus::SUCCESS.0);
        data.put_u32_le(told.maximal_access.0);
        contexts.add(b"MxAc", &data);
    }
    if asked.disk_id {
        let mut data = Vec::with_capacity(32);
        data.put_u64_le(told.info.file_id);
        data.put_bytes(0, 24);
        contexts.add(b"QFid", &data);
    }
    if let Some(durable) = told.durable {
        match asked.durable {
            Some(DurableWanted::Two { .. }) => {
                let mut data = Vec::with_capacity(8);
                data.put_u32_le(u32::try_from(durable.timeout.as_millis()).unwrap_or(u32::MAX));
                data.put_u32_le(0);
                contexts.add(b"DH2Q", &data);
            }
            _ => contexts.add(b"DHnQ", &[0; 8]),
        }
    }
    let oplock = match told.caching {
        CachingGranted::None => 0,
        CachingGranted::Oplock(level) => oplock_code(level),
        CachingGranted::Lease { key, state, version, parent, epoch, breaking } => {
            let mut flags = if breaking { LEASE_BREAK_IN_PROGRESS } else { 0 };
            if parent.is_some() {
                flags |= PARENT_LEASE_KEY_SET;
            }
            let mut data = Vec::with_capacity(52);
            data.put_slice(&key.to_le_bytes());
            data.put_u32_le(caching_bits(state));
            data.put_u32_le(flags);
            data.put_u64_le(0);
            if version == LeaseVersion::Two {
                data.put_slice(&parent.unwrap_or(0).to_le_bytes());
                data.put_u16_le(epoch);
                data.put_u16_le(0);
            }
            contexts.add(b"RqLs", &data);
            OPLOCK_LEASE
        }
    };
    let contexts = contexts.finish();
    let mut body = Vec::with_capacity(FIXED + contexts.len());
    body.put_u16_le(89);
    body.put_u8(oplock);
    body.put_u8(0);
    body.put_u32_le(match told.action {
        CreateAction::Superseded => 0,
        CreateAction::Opened => 1,
        CreateAction::Created => 2,
        CreateAction::Overwritten => 3,
    });
    write_info(&mut body, &told.info);
    body.put_u32_le(0);
    open.id.write(&mut body);
    body.put_u32_le(if contexts.is_empty() { 0 } else { (header::SIZE + FIXED) as u32 });
    body.put_u32_le(contexts.len() as u32);
    body.put_slice(&contexts);
    Reply { body, file: Some(open.id), ..Reply::default() }
}
