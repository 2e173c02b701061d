//! The negotiate request of the protocol before this one: clients that speak both begin with it. Nothing else of that
//! protocol is understood (MS-SMB2 3.3.5.3.1).

use crate::status::Malformed;

pub const PROTOCOL: [u8; 4] = [0xFF, b'S', b'M', b'B'];
const HEADER: usize = 32;
const NEGOTIATE: u8 = 0x72;

/// What such a client can go on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// A second negotiation, in the protocol that this server speaks.
    Any,
    /// 2.0.2 or older, and nothing that this server speaks.
    Nothing,
}

pub fn negotiate(frame: &[u8]) -> Result<Offer, Malformed> {
    let header = frame.get(..HEADER).ok_or(Malformed)?;
    if !header.starts_with(&PROTOCOL) || header.get(4) != Some(&NEGOTIATE) {
        return Err(Malformed);
    }
    let body = frame.get(HEADER..).ok_or(Malformed)?;
    let [words, low, high, dialects @ ..] = body else { return Err(Malformed) };
    let length = usize::from(u16::from_le_bytes([*low, *high]));
    let dialects = dialects.get(..length).ok_or(Malformed)?;
    if *words != 0 {
        return Err(Malformed);
    }
    // Each is a format byte of two and a text that ends with zero.
    let any = dialects.split(|byte| *byte == 0).any(|dialect| dialect == b"\x02SMB 2.???");
    Ok(if any { Offer::Any } else { Offer::Nothing })
}
