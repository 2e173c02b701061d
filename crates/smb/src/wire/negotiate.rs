//! NEGOTIATE and its contexts (MS-SMB2 2.2.3, 2.2.4).

use bytes::{Buf, BufMut, Bytes};

use super::{body, header, pad, part, take_array};
use crate::crypto::{CipherId, SigningAlgorithm};
use crate::status::Malformed;

/// In the order in which a server prefers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum Dialect {
    Smb210 = 0x0210,
    Smb300 = 0x0300,
    Smb302 = 0x0302,
    Smb311 = 0x0311,
}

/// What an answer to the older protocol's negotiation names: the dialect is found by a second one.
pub const WILDCARD: u16 = 0x02FF;

impl Dialect {
    pub fn from_wire(code: u16) -> Option<Self> {
        [Self::Smb210, Self::Smb300, Self::Smb302, Self::Smb311].into_iter().find(|it| *it as u16 == code)
    }

    /// The highest that both sides speak.
    pub fn chosen(offered: &[u16]) -> Option<Self> {
        offered.iter().filter_map(|code| Self::from_wire(*code)).max()
    }
}

pub mod capability {
    pub const LEASING: u32 = 0x02;
    pub const LARGE_MTU: u32 = 0x04;
    pub const MULTI_CHANNEL: u32 = 0x08;
    pub const ENCRYPTION: u32 = 0x40;
}

pub mod security_mode {
    pub const SIGNING_ENABLED: u16 = 1;
    pub const SIGNING_REQUIRED: u16 = 2;
}

mod context {
    pub const PREAUTH_INTEGRITY: u16 = 1;
    pub const ENCRYPTION: u16 = 2;
    pub const SIGNING: u16 = 8;
}

const SHA_512: u16 = 1;
const DIALECTS_MAX: u16 = 64;
const CONTEXTS_MAX: u16 = 32;
/// Of algorithms in one context.
const CHOICES_MAX: u16 = 64;
const REQUEST_SIZE: usize = 36;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NegotiateRequest {
    pub dialects: Vec<u16>,
    pub security_mode: u16,
    pub capabilities: u32,
    pub client_guid: [u8; 16],
    /// Only of a client that offers 3.1.1.
    pub contexts: Option<Contexts>,
}

/// What a client of 3.1.1 offers, in its order; algorithms that this server does not know are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contexts {
    /// Whether SHA-512 is among the hashes for pre-authentication integrity; none where the context is missing.
    pub sha_512: Option<bool>,
    /// None where the context is missing.
    pub ciphers: Option<Vec<CipherId>>,
    pub signing: Option<Vec<SigningAlgorithm>>,
}

impl NegotiateRequest {
    pub fn parse(message: &Bytes) -> Result<Self, Malformed> {
        let mut at = body(message, REQUEST_SIZE as u16)?;
        let dialect_count = at.try_get_u16_le()?;
        let security_mode = at.try_get_u16_le()?;
        let _reserved = at.try_get_u16_le()?;
        let capabilities = at.try_get_u32_le()?;
        let client_guid = take_array(&mut at)?;
        let context_offset = at.try_get_u32_le()? as usize;
        let context_count = at.try_get_u16_le()?;
        let _reserved = at.try_get_u16_le()?;
        if dialect_count == 0 || dialect_count > DIALECTS_MAX {
            return Err(Malformed);
        }
        let dialects =
            (0..dialect_count).map(|_| Ok(at.try_get_u16_le()?)).collect::<Result<Vec<_>, Malformed>>()?;
        // Elsewhere the same bytes are the client's start time, which means nothing.
        let contexts = match dialects.contains(&(Dialect::Smb311 as u16)) {
            true => Some(Contexts::parse(message, context_offset, context_count)?),
            false => None,
        };
        Ok(Self { dialects, security_mode, capabilities, client_guid, contexts })
    }
}

impl Contexts {
    fn parse(message: &Bytes, mut offset: usize, count: u16) -> Result<Self, Malformed> {
        let mut contexts = Self::default();
        if count > CONTEXTS_MAX || (count > 0 && offset < header::SIZE + REQUEST_SIZE) {
            return Err(Malformed);
        }
        for _ in 0..count {
            let mut head: &[u8] = &part(message, offset, 8)?;
            let kind = head.try_get_u16_le()?;
            let length = usize::from(head.try_get_u16_le()?);
            let data = part(message, offset.saturating_add(8), length)?;
            contexts.take(kind, &data)?;
            offset = offset.saturating_add(8 + length).next_multiple_of(8);
        }
        Ok(contexts)
    }

    fn take(&mut self, kind: u16, data: &[u8]) -> Result<(), Malformed> {
        match kind {
            context::PREAUTH_INTEGRITY => {
                let mut at = data;
                let count = at.try_get_u16_le()?;
                let salt = usize::from(at.try_get_u16_le()?);
                let hashes = choices(&mut at, count)?;
                if self.sha_512.is_some() || at.len() < salt {
                    return Err(Malformed);
                }
                self.sha_512 = Some(hashes.contains(&SHA_512));
            }
            context::ENCRYPTION => {
                let mut at = data;
                let count = at.try_get_u16_le()?;
                let ciphers = choices(&mut at, count)?;
                if self.ciphers.is_some() {
                    return Err(Malformed);
                }
                self.ciphers = Some(ciphers.into_iter().filter_map(CipherId::from_wire).collect());
            }
            context::SIGNING => {
                let mut at = data;
                let count = at.try_get_u16_le()?;
                let signing = choices(&mut at, count)?;
                if self.signing.is_some() {
                    return Err(Malformed);
                }
                self.signing = Some(signing.into_iter().filter_map(SigningAlgorithm::from_wire).collect());
            }
            // Compression, host names, RDMA: not used.
            _ => {}
        }
        Ok(())
    }
}

fn choices(at: &mut &[u8], count: u16) -> Result<Vec<u16>, Malformed> {
    if count == 0 || count > CHOICES_MAX {
        return Err(Malformed);
    }
    (0..count).map(|_| Ok(at.try_get_u16_le()?)).collect()
}

pub struct NegotiateResponse<'a> {
    pub security_mode: u16,
    pub dialect: u16,
    pub server_guid: [u8; 16],
    pub capabilities: u32,
    pub max_transact: u32,
    pub max_read: u32,
    pub max_write: u32,
    pub system_time: u64,
    pub security_blob: &'a [u8],
    /// Only of 3.1.1.
    pub contexts: Option<ChosenContexts>,
}

pub struct ChosenContexts {
    pub salt: [u8; 32],
    /// None where the client offered no cipher at all; one of zero where none of them is spoken here.
    pub cipher: Option<Option<CipherId>>,
    pub signing: Option<SigningAlgorithm>,
}

impl NegotiateResponse<'_> {
    pub fn write(&self) -> Vec<u8> {
        const FIXED: usize = 64;
        let mut contexts = Vec::new();
        let count = self.contexts.as_ref().map_or(0, |chosen| chosen.write(&mut contexts));
        let blob_end = header::SIZE + FIXED + self.security_blob.len();
        let mut to = Vec::with_capacity(FIXED + self.security_blob.len() + contexts.len() + 8);
        to.put_u16_le(65);
        to.put_u16_le(self.security_mode);
        to.put_u16_le(self.dialect);
        to.put_u16_le(count);
        to.put_slice(&self.server_guid);
        to.put_u32_le(self.capabilities);
        to.put_u32_le(self.max_transact);
        to.put_u32_le(self.max_read);
        to.put_u32_le(self.max_write);
        to.put_u64_le(self.system_time);
        to.put_u64_le(0);
        to.put_u16_le((header::SIZE + FIXED) as u16);
        to.put_u16_le(self.security_blob.len() as u16);
        to.put_u32_le(if count == 0 { 0 } else { blob_end.next_multiple_of(8) as u32 });
        to.put_slice(self.security_blob);
        if count > 0 {
            pad(&mut to, 8);
            to.put_slice(&contexts);
        }
        to
    }
}

impl ChosenContexts {
    fn write(&self, to: &mut Vec<u8>) -> u16 {
        let mut count = 1;
        let mut preauth = Vec::new();
        preauth.put_u16_le(1);
        preauth.put_u16_le(self.salt.len() as u16);
        preauth.put_u16_le(SHA_512);
        preauth.put_slice(&self.salt);
        write_context(to, context::PREAUTH_INTEGRITY, &preauth);
        let one = |choice: u16| [[1, 0], choice.to_le_bytes()].concat();
        if let Some(cipher) = self.cipher {
            write_context(to, context::ENCRYPTION, &one(cipher.map_or(0, |cipher| cipher as u16)));
            count += 1;
        }
        if let Some(signing) = self.signing {
            write_context(to, context::SIGNING, &one(signing as u16));
            count += 1;
        }
        count
    }
}

fn write_context(to: &mut Vec<u8>, kind: u16, data: &[u8]) {
    pad(to, 8);
    to.put_u16_le(kind);
    to.put_u16_le(data.len() as u16);
    to.put_u32_le(0);
    to.put_slice(data);
}
