//! Bytes to messages and back. Everything here takes any input and answers with a value or [`Malformed`].

pub mod chain;
pub mod frame;
pub mod header;
pub mod negotiate;
pub mod smb1;
pub mod text;
pub mod transform;

use bytes::{Buf, Bytes};

use crate::status::Malformed;

/// The part of a message that an offset and a length name. Offsets count from the start of the message's header.
pub fn part(message: &Bytes, offset: usize, length: usize) -> Result<Bytes, Malformed> {
    if length == 0 {
        return Ok(Bytes::new());
    }
    let end = offset.checked_add(length).ok_or(Malformed)?;
    if offset < header::SIZE || end > message.len() {
        return Err(Malformed);
    }
    Ok(message.slice(offset..end))
}

/// The body of a message, whose structure size is the first thing in it.
pub fn body(message: &Bytes, structure_size: u16) -> Result<&[u8], Malformed> {
    let mut body = message.get(header::SIZE..).ok_or(Malformed)?;
    // The size of a structure with a variable part counts one byte of that part.
    if message.len() < header::SIZE + usize::from(structure_size & !1) {
        return Err(Malformed);
    }
    if body.try_get_u16_le()? != structure_size {
        return Err(Malformed);
    }
    Ok(body)
}

pub fn take_array<const N: usize>(from: &mut &[u8]) -> Result<[u8; N], Malformed> {
    let (head, rest) = from.split_first_chunk::<N>().ok_or(Malformed)?;
    *from = rest;
    Ok(*head)
}

pub fn take_slice<'a>(from: &mut &'a [u8], length: usize) -> Result<&'a [u8], Malformed> {
    let (head, rest) = from.split_at_checked(length).ok_or(Malformed)?;
    *from = rest;
    Ok(head)
}

/// Bytes of zero up to a multiple of `to`.
pub fn pad(bytes: &mut Vec<u8>, to: usize) {
    bytes.resize(bytes.len().next_multiple_of(to), 0);
}
