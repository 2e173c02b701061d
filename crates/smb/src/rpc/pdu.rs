//! The messages of connection-oriented RPC (C706 chapter 12).

use bytes::{Buf, BufMut};

use crate::status::Malformed;
use crate::wire::{take_array, take_slice};

pub const HEADER: usize = 16;
/// Of a fragment, in both directions; what every client offers.
pub const FRAGMENT_MAX: usize = 4280;

const NDR: ([u8; 16], u32) =
    ([0x04, 0x5D, 0x88, 0x8A, 0xEB, 0x1C, 0xC9, 0x11, 0x9F, 0xE8, 0x08, 0x00, 0x2B, 0x10, 0x48, 0x60], 2);

mod kind {
    pub const REQUEST: u8 = 0;
    pub const RESPONSE: u8 = 2;
    pub const FAULT: u8 = 3;
    pub const BIND: u8 = 11;
    pub const BIND_ACK: u8 = 12;
    pub const BIND_NAK: u8 = 13;
    pub const ALTER_CONTEXT: u8 = 14;
    pub const ALTER_CONTEXT_RESPONSE: u8 = 15;
}

const FIRST: u8 = 1;
const LAST: u8 = 2;
const CONTEXTS_MAX: u8 = 16;
const SYNTAXES_MAX: u8 = 16;

pub const FAULT_OPERATION_RANGE: u32 = 0x1C01_0002;
pub const FAULT_UNKNOWN_INTERFACE: u32 = 0x1C01_0003;
pub const FAULT_BAD_STUB: u32 = 0x0000_06F7;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pdu {
    Bind { call: u32, alter: bool, contexts: Vec<Context> },
    Request { call: u32, first: bool, last: bool, context: u16, operation: u16, stub: Vec<u8> },
    Other { call: u32 },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    pub id: u16,
    pub interface: [u8; 16],
    pub version: u32,
    pub speaks_ndr: bool,
}

/// The length of the fragment that begins here, when enough of it is there.
pub fn length(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    let Some(header) = bytes.first_chunk::<HEADER>() else { return Ok(None) };
    let length = usize::from(u16::from_le_bytes([header[8], header[9]]));
    let little_endian = header[4] & 0xF0 == 0x10;
    match header[0] == 5 && header[1] == 0 && little_endian && (HEADER..=FRAGMENT_MAX * 2).contains(&length) {
        true => Ok(Some(length)),
        false => Err(Malformed),
    }
}

impl Pdu {
    /// Of a whole fragment.
    pub fn parse(fragment: &[u8]) -> Result<Self, Malformed> {
        let mut at = fragment;
        let _version = at.try_get_u16_le()?;
        let kind = at.try_get_u8()?;
        let flags = at.try_get_u8()?;
        let _representation = at.try_get_u32_le()?;
        let _length = at.try_get_u16_le()?;
        let authentication = usize::from(at.try_get_u16_le()?);
        let call = at.try_get_u32_le()?;
        match kind {
            kind::BIND | kind::ALTER_CONTEXT => {
                let _fragments = at.try_get_u32_le()?;
                let _group = at.try_get_u32_le()?;
                let contexts = contexts(&mut at)?;
                Ok(Self::Bind { call, alter: kind == kind::ALTER_CONTEXT, contexts })
            }
            kind::REQUEST => {
                let _hint = at.try_get_u32_le()?;
                let context = at.try_get_u16_le()?;
                let operation = at.try_get_u16_le()?;
                // The session is authenticated; a second layer of it is not spoken.
                if authentication != 0 {
                    return Err(Malformed);
                }
                let (first, last) = (flags & FIRST != 0, flags & LAST != 0);
                Ok(Self::Request { call, first, last, context, operation, stub: at.to_vec() })
            }
            _ => Ok(Self::Other { call }),
        }
    }
}

fn contexts(at: &mut &[u8]) -> Result<Vec<Context>, Malformed> {
    let count = at.try_get_u8()?;
    take_slice(at, 3)?;
    if count == 0 || count > CONTEXTS_MAX {
        return Err(Malformed);
    }
    let mut contexts = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        let id = at.try_get_u16_le()?;
        let syntaxes = at.try_get_u8()?;
        let _reserved = at.try_get_u8()?;
        let interface = take_array(at)?;
        let version = at.try_get_u32_le()?;
        if syntaxes > SYNTAXES_MAX {
            return Err(Malformed);
        }
        let mut speaks_ndr = false;
        for _ in 0..syntaxes {
            let syntax = (take_array(at)?, at.try_get_u32_le()?);
            speaks_ndr |= syntax == NDR;
        }
        contexts.push(Context { id, interface, version, speaks_ndr });
    }
    Ok(contexts)
}

fn fragment(kind: u8, flags: u8, call: u32, body: &[u8]) -> Vec<u8> {
    let mut to = Vec::with_capacity(HEADER + body.len());
    to.put_slice(&[5, 0, kind, flags, 0x10, 0, 0, 0]);
    to.put_u16_le((HEADER + body.len()) as u16);
    to.put_u16_le(0);
    to.put_u32_le(call);
    to.put_slice(body);
    to
}

/// One verdict for each context: true accepts it.
pub fn bind_ack(call: u32, alter: bool, pipe: &str, accepted: &[bool]) -> Vec<u8> {
    let mut body = Vec::new();
    body.put_u16_le(FRAGMENT_MAX as u16);
    body.put_u16_le(FRAGMENT_MAX as u16);
    body.put_u32_le(0x53F0);
    let address = format!("\\PIPE\\{pipe}\0");
    body.put_u16_le(address.len() as u16);
    body.put_slice(address.as_bytes());
    crate::wire::pad(&mut body, 4);
    body.put_u32_le(accepted.len() as u32);
    for accepted in accepted {
        match accepted {
            true => {
                body.put_u32_le(0);
                body.put_slice(&NDR.0);
                body.put_u32_le(NDR.1);
            }
            false => {
                // The provider rejects it: the transfer syntaxes are not spoken, or the interface is another one.
                body.put_u16_le(2);
                body.put_u16_le(2);
                body.put_bytes(0, 20);
            }
        }
    }
    let kind = if alter { kind::ALTER_CONTEXT_RESPONSE } else { kind::BIND_ACK };
    fragment(kind, FIRST | LAST, call, &body)
}

pub fn bind_nak(call: u32) -> Vec<u8> {
    fragment(kind::BIND_NAK, FIRST | LAST, call, &[0, 0, 0])
}

pub fn fault(call: u32, context: u16, status: u32) -> Vec<u8> {
    let mut body = Vec::new();
    body.put_u32_le(0);
    body.put_u16_le(context);
    body.put_u16_le(0);
    body.put_u32_le(status);
    body.put_u32_le(0);
    fragment(kind::FAULT, FIRST | LAST, call, &body)
}

/// In as many fragments as it takes.
pub fn response(call: u32, context: u16, stub: &[u8]) -> Vec<Vec<u8>> {
    const ROOM: usize = FRAGMENT_MAX - HEADER - 8;
    let chunks: Vec<&[u8]> = if stub.is_empty() { vec![&[]] } else { stub.chunks(ROOM).collect() };
    let count = chunks.len();
    let mut left = stub.len();
    let mut fragments = Vec::with_capacity(count);
    for (number, chunk) in chunks.into_iter().enumerate() {
        let mut body = Vec::with_capacity(8 + chunk.len());
        body.put_u32_le(left as u32);
        body.put_u16_le(context);
        body.put_u16_le(0);
        body.put_slice(chunk);
        left -= chunk.len();
        let flags = if number == 0 { FIRST } else { 0 } | if number + 1 == count { LAST } else { 0 };
        fragments.push(fragment(kind::RESPONSE, flags, call, &body));
    }
    fragments
}
