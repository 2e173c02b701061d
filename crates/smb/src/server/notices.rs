//! What a client is told without having asked: breaks of its oplocks and leases (MS-SMB2 3.3.4.6, 3.3.4.7).

use std::sync::{Arc, Weak};

use bytes::BufMut;
use lazuli_service::open_file::{Caching, LeaseVersion, Notice, OplockLevel};
use tokio::sync::mpsc;

use super::answer::{Part, frame};
use super::connection::Connection;
use super::open::Opened;
use super::session::Session;
use crate::status::NtStatus;
use crate::wire::header::{Command, ResponseHeader};

/// Of messages that answer nothing.
const UNASKED: u64 = u64::MAX;

/// Until the session is gone.
pub async fn tell(session: Weak<Session>, mut notices: mpsc::UnboundedReceiver<Notice>) {
    while let Some(notice) = notices.recv().await {
        let Some(session) = session.upgrade() else { return };
        let (open, body) = match notice {
            Notice::OplockBreak { handle, to, acknowledge: _ } => {
                let Some(open) = session.open_by_handle(handle) else { continue };
                let mut body = Vec::with_capacity(24);
                body.put_u16_le(24);
                body.put_u8(oplock_code(to));
                body.put_bytes(0, 5);
                open.id.write(&mut body);
                (Some(open), body)
            }
            Notice::LeaseBreak { key, from, to, epoch, acknowledge } => {
                let (open, version) = session.open_by_lease(key).unzip();
                let mut body = Vec::with_capacity(44);
                body.put_u16_le(44);
                // Version 1 counts nothing.
                body.put_u16_le(if version == Some(LeaseVersion::One) { 0 } else { epoch });
                body.put_u32_le(u32::from(acknowledge));
                body.put_slice(&key.to_le_bytes());
                body.put_u32_le(caching_bits(from));
                body.put_u32_le(caching_bits(to));
                body.put_bytes(0, 12);
                (open, body)
            }
            Notice::Closed { handle } => {
                if let Some(open) = session.open_by_handle(handle)
                    && matches!(open.what, Opened::File(_))
                {
                    session.forget_open(open.id);
                }
                continue;
            }
        };
        let connections = session.connections(open.as_ref().map(|open| &open.connection));
        send(connections, &session, body).await;
    }
}

/// Over the first of the connections that takes it. Not signed, and of no session unless it is encrypted for one.
async fn send(connections: Vec<Arc<Connection>>, session: &Session, body: Vec<u8>) {
    let header = ResponseHeader {
        credit_charge: 0,
        status: NtStatus::SUCCESS,
        command: Command::OplockBreak as u16,
        credits: 0,
        flags: 0,
        message_id: UNASKED,
        async_id: None,
        tree_id: 0,
        session_id: 0,
    };
    let part = Part {
        header,
        body,
        payload: Vec::new(),
        held: Vec::new(),
        signed_by: None,
        echoed: None,
        after: None,
    };
    let Ok(mut frame) = frame(vec![part], session.encrypt.then_some(session)) else {
        return connections.iter().for_each(|connection| connection.close());
    };
    for connection in connections {
        match connection.send_unless_ending(frame).await {
            Ok(()) => return,
            Err(refused) => frame = refused,
        }
    }
}

pub fn oplock_code(level: OplockLevel) -> u8 {
    match level {
        OplockLevel::None => 0x00,
        OplockLevel::Two => 0x01,
        OplockLevel::Exclusive => 0x08,
        OplockLevel::Batch => 0x09,
    }
}

pub fn oplock_of(code: u8) -> Option<OplockLevel> {
    match code {
        0x00 => Some(OplockLevel::None),
        0x01 => Some(OplockLevel::Two),
        0x08 => Some(OplockLevel::Exclusive),
        0x09 => Some(OplockLevel::Batch),
        _ => None,
    }
}

pub fn caching_bits(caching: Caching) -> u32 {
    u32::from(caching.read) | u32::from(caching.handle) << 1 | u32::from(caching.write) << 2
}

/// None where a bit is set that means nothing.
pub fn caching_of(bits: u32) -> Option<Caching> {
    (bits & !7 == 0).then_some(Caching { read: bits & 1 != 0, handle: bits & 2 != 0, write: bits & 4 != 0 })
}
