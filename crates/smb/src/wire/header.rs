//! The header of every message (MS-SMB2 2.2.1).

use bytes::{Buf, BufMut};

use super::take_array;
use crate::status::{Malformed, NtStatus};

pub const SIZE: usize = 64;
pub const PROTOCOL: [u8; 4] = [0xFE, b'S', b'M', b'B'];
/// Where the signature is.
pub const SIGNATURE: std::ops::Range<usize> = 48..64;
const NEXT_COMMAND: std::ops::Range<usize> = 20..24;

pub mod flag {
    pub const SERVER_TO_REDIR: u32 = 0x0000_0001;
    pub const ASYNC_COMMAND: u32 = 0x0000_0002;
    pub const RELATED_OPERATIONS: u32 = 0x0000_0004;
    pub const SIGNED: u32 = 0x0000_0008;
    pub const REPLAY_OPERATION: u32 = 0x2000_0000;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Command {
    Negotiate = 0,
    SessionSetup = 1,
    Logoff = 2,
    TreeConnect = 3,
    TreeDisconnect = 4,
    Create = 5,
    Close = 6,
    Flush = 7,
    Read = 8,
    Write = 9,
    Lock = 10,
    Ioctl = 11,
    Cancel = 12,
    Echo = 13,
    QueryDirectory = 14,
    ChangeNotify = 15,
    QueryInfo = 16,
    SetInfo = 17,
    OplockBreak = 18,
}

impl Command {
    pub const ALL: [Self; 19] = [
        Self::Negotiate,
        Self::SessionSetup,
        Self::Logoff,
        Self::TreeConnect,
        Self::TreeDisconnect,
        Self::Create,
        Self::Close,
        Self::Flush,
        Self::Read,
        Self::Write,
        Self::Lock,
        Self::Ioctl,
        Self::Cancel,
        Self::Echo,
        Self::QueryDirectory,
        Self::ChangeNotify,
        Self::QueryInfo,
        Self::SetInfo,
        Self::OplockBreak,
    ];

    pub fn from_wire(code: u16) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// As metrics and logs write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Negotiate => "Negotiate",
            Self::SessionSetup => "SessionSetup",
            Self::Logoff => "Logoff",
            Self::TreeConnect => "TreeConnect",
            Self::TreeDisconnect => "TreeDisconnect",
            Self::Create => "Create",
            Self::Close => "Close",
            Self::Flush => "Flush",
            Self::Read => "Read",
            Self::Write => "Write",
            Self::Lock => "Lock",
            Self::Ioctl => "Ioctl",
            Self::Cancel => "Cancel",
            Self::Echo => "Echo",
            Self::QueryDirectory => "QueryDirectory",
            Self::ChangeNotify => "ChangeNotify",
            Self::QueryInfo => "QueryInfo",
            Self::SetInfo => "SetInfo",
            Self::OplockBreak => "OplockBreak",
        }
    }
}

/// Of a request. `command` is kept as it came: a code that the protocol does not have is answered, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHeader {
    pub credit_charge: u16,
    pub channel_sequence: u16,
    pub command: u16,
    pub credit_request: u16,
    pub flags: u32,
    pub next_command: u32,
    pub message_id: u64,
    /// Meaningful with [`flag::ASYNC_COMMAND`].
    pub async_id: u64,
    /// Meaningful without it.
    pub tree_id: u32,
    pub session_id: u64,
    pub signature: [u8; 16],
}

impl RequestHeader {
    pub fn parse(message: &[u8]) -> Result<Self, Malformed> {
        let mut at = message;
        if take_array::<4>(&mut at)? != PROTOCOL || at.try_get_u16_le()? != SIZE as u16 {
            return Err(Malformed);
        }
        let credit_charge = at.try_get_u16_le()?;
        let channel_sequence = at.try_get_u16_le()?;
        let _reserved = at.try_get_u16_le()?;
        let command = at.try_get_u16_le()?;
        let credit_request = at.try_get_u16_le()?;
        let flags = at.try_get_u32_le()?;
        let next_command = at.try_get_u32_le()?;
        let message_id = at.try_get_u64_le()?;
        let async_id = at.try_get_u64_le()?;
        let session_id = at.try_get_u64_le()?;
        let signature = take_array(&mut at)?;
        Ok(Self {
            credit_charge,
            channel_sequence,
            command,
            credit_request,
            flags,
            next_command,
            message_id,
            async_id,
            tree_id: (async_id >> 32) as u32,
            session_id,
            signature,
        })
    }

    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    pub fn known_command(&self) -> Option<Command> {
        Command::from_wire(self.command)
    }
}

#[derive(Clone, Debug)]
pub struct ResponseHeader {
    pub credit_charge: u16,
    pub status: NtStatus,
    pub command: u16,
    pub credits: u16,
    pub flags: u32,
    pub message_id: u64,
    /// Set on answers that were promised by an interim one.
    pub async_id: Option<u64>,
    pub tree_id: u32,
    pub session_id: u64,
}

impl ResponseHeader {
    pub fn write(&self, to: &mut Vec<u8>) {
        to.put_slice(&PROTOCOL);
        to.put_u16_le(SIZE as u16);
        to.put_u16_le(self.credit_charge);
        to.put_u32_le(self.status.0);
        to.put_u16_le(self.command);
        to.put_u16_le(self.credits);
        let asynchronous = if self.async_id.is_some() { flag::ASYNC_COMMAND } else { 0 };
        to.put_u32_le(self.flags | flag::SERVER_TO_REDIR | asynchronous);
        to.put_u32_le(0);
        to.put_u64_le(self.message_id);
        match self.async_id {
            Some(id) => to.put_u64_le(id),
            None => {
                // What was the process id; clients look for this value.
                to.put_u32_le(0xFEFF);
                to.put_u32_le(self.tree_id);
            }
        }
        to.put_u64_le(self.session_id);
        to.put_bytes(0, 16);
    }
}

/// Tells where the next message of the same frame begins.
pub fn set_next_command(message: &mut [u8], next: u32) {
    if let Some(place) = message.get_mut(NEXT_COMMAND) {
        place.copy_from_slice(&next.to_le_bytes());
    }
}

pub fn set_signature(message: &mut [u8], signature: &[u8; 16]) {
    if let Some(place) = message.get_mut(SIGNATURE) {
        place.copy_from_slice(signature);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_numbered_as_listed() {
        for (code, command) in Command::ALL.iter().enumerate() {
            assert_eq!(*command as usize, code);
        }
        assert_eq!(Command::from_wire(19), None);
    }

    #[test]
    fn a_written_header_is_read_again() {
        let header = ResponseHeader {
            credit_charge: 3,
            status: NtStatus::PENDING,
            command: 8,
            credits: 7,
            flags: flag::SIGNED,
            message_id: 99,
            async_id: None,
            tree_id: 5,
            session_id: 17,
        };
        let mut bytes = Vec::new();
        header.write(&mut bytes);
        assert_eq!(bytes.len(), SIZE);
        let read = RequestHeader::parse(&bytes).expect("well formed");
        assert_eq!((read.message_id, read.tree_id, read.session_id, read.credit_charge), (99, 5, 17, 3));
        assert!(RequestHeader::parse(&bytes[..63]).is_err());
    }
}
