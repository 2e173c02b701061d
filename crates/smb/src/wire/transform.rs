//! The header in front of encrypted messages (MS-SMB2 2.2.41).

use bytes::{Buf, BufMut};

use super::take_array;
use crate::status::Malformed;

pub const SIZE: usize = 52;
pub const PROTOCOL: [u8; 4] = [0xFD, b'S', b'M', b'B'];
/// What is authenticated beside the message: everything behind the signature.
pub const AUTHENTICATED: std::ops::Range<usize> = 20..SIZE;
pub const SIGNATURE: std::ops::Range<usize> = 4..20;
/// The only flag there is, or, in 3.0, the only algorithm.
const ENCRYPTED: u16 = 1;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransformHeader {
    pub signature: [u8; 16],
    pub nonce: [u8; 16],
    pub original_size: u32,
    pub session_id: u64,
}

impl TransformHeader {
    pub fn parse(frame: &[u8]) -> Result<Self, Malformed> {
        let mut at = frame;
        if take_array::<4>(&mut at)? != PROTOCOL {
            return Err(Malformed);
        }
        let signature = take_array(&mut at)?;
        let nonce = take_array(&mut at)?;
        let original_size = at.try_get_u32_le()?;
        let _reserved = at.try_get_u16_le()?;
        if at.try_get_u16_le()? != ENCRYPTED {
            return Err(Malformed);
        }
        let session_id = at.try_get_u64_le()?;
        Ok(Self { signature, nonce, original_size, session_id })
    }

    pub fn write(&self, to: &mut Vec<u8>) {
        to.put_slice(&PROTOCOL);
        to.put_slice(&self.signature);
        to.put_slice(&self.nonce);
        to.put_u32_le(self.original_size);
        to.put_u16_le(0);
        to.put_u16_le(ENCRYPTED);
        to.put_u64_le(self.session_id);
    }
}
