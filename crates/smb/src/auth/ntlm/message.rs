//! The three messages of NTLM (MS-NLMP 2.2.1).

use bytes::{Buf, BufMut};

use super::SIGNATURE;
use crate::status::Malformed;
use crate::wire::text::{to_utf16, utf16};
use crate::wire::{take_array, take_slice};

pub mod flag {
    pub const UNICODE: u32 = 0x0000_0001;
    pub const REQUEST_TARGET: u32 = 0x0000_0004;
    pub const SIGN: u32 = 0x0000_0010;
    pub const SEAL: u32 = 0x0000_0020;
    pub const NTLM: u32 = 0x0000_0200;
    pub const ANONYMOUS: u32 = 0x0000_0800;
    pub const ALWAYS_SIGN: u32 = 0x0000_8000;
    pub const TARGET_TYPE_SERVER: u32 = 0x0002_0000;
    pub const EXTENDED_SESSION_SECURITY: u32 = 0x0008_0000;
    pub const TARGET_INFO: u32 = 0x0080_0000;
    pub const VERSION: u32 = 0x0200_0000;
    pub const KEY_128: u32 = 0x2000_0000;
    pub const KEY_EXCHANGE: u32 = 0x4000_0000;
    pub const KEY_56: u32 = 0x8000_0000;
}

mod av {
    pub const END: u16 = 0;
    pub const COMPUTER_NAME: u16 = 1;
    pub const DOMAIN_NAME: u16 = 2;
    pub const DNS_COMPUTER_NAME: u16 = 3;
    pub const DNS_DOMAIN_NAME: u16 = 4;
    pub const FLAGS: u16 = 6;
    pub const TIMESTAMP: u16 = 7;
    /// Of the flags: the message carries an integrity code.
    pub const MIC_PRESENT: u32 = 2;
}

const AV_PAIRS_MAX: usize = 64;
/// Where the integrity code of an AUTHENTICATE message is.
pub const MIC: std::ops::Range<usize> = 72..88;

fn opening(message: &mut &[u8], kind: u32) -> Result<(), Malformed> {
    match take_array::<8>(message)? == SIGNATURE && message.try_get_u32_le()? == kind {
        true => Ok(()),
        false => Err(Malformed),
    }
}

/// A length, a capacity and an offset from the start of the message.
fn field<'a>(message: &'a [u8], at: &mut &[u8]) -> Result<&'a [u8], Malformed> {
    let length = usize::from(at.try_get_u16_le()?);
    let _capacity = at.try_get_u16_le()?;
    let offset = at.try_get_u32_le()? as usize;
    if length == 0 {
        return Ok(&[]);
    }
    let end = offset.checked_add(length).ok_or(Malformed)?;
    message.get(offset..end).ok_or(Malformed)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Negotiate {
    pub flags: u32,
}

impl Negotiate {
    pub fn parse(message: &[u8]) -> Result<Self, Malformed> {
        let mut at = message;
        opening(&mut at, 1)?;
        Ok(Self { flags: at.try_get_u32_le()? })
    }
}

pub struct Challenge<'a> {
    pub flags: u32,
    pub server_challenge: [u8; 8],
    /// How the server calls itself.
    pub name: &'a str,
    /// In ticks of 100 nanoseconds since 1601. Clients that are told the time send an integrity code.
    pub time: u64,
}

impl Challenge<'_> {
    pub fn write(&self) -> Vec<u8> {
        const FIXED: u32 = 56;
        let name = to_utf16(self.name);
        let mut info = Vec::new();
        for id in [av::DOMAIN_NAME, av::COMPUTER_NAME, av::DNS_DOMAIN_NAME, av::DNS_COMPUTER_NAME] {
            info.put_u16_le(id);
            info.put_u16_le(name.len() as u16);
            info.put_slice(&name);
        }
        info.put_u16_le(av::TIMESTAMP);
        info.put_u16_le(8);
        info.put_u64_le(self.time);
        info.put_u32_le(u32::from(av::END));
        let mut to = Vec::new();
        to.put_slice(&SIGNATURE);
        to.put_u32_le(2);
        let fields = |to: &mut Vec<u8>, length: usize, offset: u32| {
            to.put_u16_le(length as u16);
            to.put_u16_le(length as u16);
            to.put_u32_le(offset);
        };
        fields(&mut to, name.len(), FIXED);
        to.put_u32_le(self.flags);
        to.put_slice(&self.server_challenge);
        to.put_u64_le(0);
        fields(&mut to, info.len(), FIXED + name.len() as u32);
        // A version that no client reads: 6.1, and the revision of NTLM.
        to.put_slice(&[6, 1, 0, 0, 0, 0, 0, 15]);
        to.put_slice(&name);
        to.put_slice(&info);
        to
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authenticate {
    /// The proof and what it was made over, together.
    pub nt_response: Vec<u8>,
    pub domain: String,
    pub user: String,
    pub encrypted_session_key: Vec<u8>,
    pub flags: u32,
    /// Of a message whose response says that there is one.
    pub mic: Option<[u8; 16]>,
}

impl Authenticate {
    pub fn parse(message: &[u8]) -> Result<Self, Malformed> {
        let mut at = message;
        opening(&mut at, 3)?;
        let _lm_response = field(message, &mut at)?;
        let nt_response = field(message, &mut at)?;
        let domain = field(message, &mut at)?;
        let user = field(message, &mut at)?;
        let _workstation = field(message, &mut at)?;
        let session_key = field(message, &mut at)?;
        let flags = at.try_get_u32_le()?;
        let mic = match says_mic(nt_response)? {
            false => None,
            true => {
                let mic = message.get(MIC).ok_or(Malformed)?;
                Some(mic.try_into().map_err(|_| Malformed)?)
            }
        };
        Ok(Self {
            nt_response: nt_response.to_vec(),
            domain: utf16(domain)?,
            user: utf16(user)?,
            encrypted_session_key: session_key.to_vec(),
            flags,
            mic,
        })
    }
}

/// Whether the pairs of values in the response say that there is an integrity code. The proof covers them: who takes the flag
/// away spoils the proof.
fn says_mic(nt_response: &[u8]) -> Result<bool, Malformed> {
    const PROOF_AND_FIXED: usize = 16 + 28;
    // One without pairs is of another version of NTLM, and refused as a logon.
    let Some(mut pairs) = nt_response.get(PROOF_AND_FIXED..) else { return Ok(false) };
    for _ in 0..AV_PAIRS_MAX {
        let (id, length) = (pairs.try_get_u16_le()?, pairs.try_get_u16_le()?);
        let mut value = take_slice(&mut pairs, usize::from(length))?;
        match id {
            av::END => return Ok(false),
            av::FLAGS => return Ok(value.try_get_u32_le()? & av::MIC_PRESENT != 0),
            _ => {}
        }
    }
    Err(Malformed)
}
