//! Integrity codes of SPNEGO under an NTLM session (MS-NLMP 3.4.4.2, 3.4.5).

use md5::{Digest, Md5};
use rc4::{KeyInit, Rc4, StreamCipher};

use super::message::flag;
use super::v2::hmac_md5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    ClientToServer,
    ServerToClient,
}

impl Direction {
    fn signing_magic(self) -> &'static [u8] {
        match self {
            Self::ClientToServer => b"session key to client-to-server signing key magic constant\0",
            Self::ServerToClient => b"session key to server-to-client signing key magic constant\0",
        }
    }

    fn sealing_magic(self) -> &'static [u8] {
        match self {
            Self::ClientToServer => b"session key to client-to-server sealing key magic constant\0",
            Self::ServerToClient => b"session key to server-to-client sealing key magic constant\0",
        }
    }
}

/// Of a session with extended security, which is the only kind that is accepted.
pub struct SecurityContext {
    flags: u32,
    session_key: [u8; 16],
}

impl SecurityContext {
    pub fn new(flags: u32, session_key: [u8; 16]) -> Self {
        Self { flags, session_key }
    }

    /// Of the first message of a direction; SPNEGO makes no second one.
    pub fn mic(&self, direction: Direction, message: &[u8]) -> [u8; 16] {
        const SEQUENCE: [u8; 4] = [0; 4];
        let signing_key = digest(&[&self.session_key, direction.signing_magic()]);
        let code = hmac_md5(&signing_key, &[&SEQUENCE, message]);
        let mut checksum = [0; 8];
        checksum.iter_mut().zip(code).for_each(|(to, from)| *to = from);
        if self.flags & flag::KEY_EXCHANGE != 0 {
            apply_rc4(&self.sealing_key(direction), &mut checksum);
        }
        let mut mic = [0; 16];
        let (version, rest) = mic.split_at_mut(4);
        version.copy_from_slice(&1u32.to_le_bytes());
        let (code, sequence) = rest.split_at_mut(8);
        code.copy_from_slice(&checksum);
        sequence.copy_from_slice(&SEQUENCE);
        mic
    }

    fn sealing_key(&self, direction: Direction) -> [u8; 16] {
        let strength = if self.flags & flag::KEY_128 != 0 {
            16
        } else if self.flags & flag::KEY_56 != 0 {
            7
        } else {
            5
        };
        let key = self.session_key.get(..strength).unwrap_or_default();
        digest(&[key, direction.sealing_magic()])
    }
}

fn digest(parts: &[&[u8]]) -> [u8; 16] {
    let mut md5 = Md5::new();
    parts.iter().for_each(|part| md5.update(part));
    md5.finalize().into()
}

pub fn apply_rc4(key: &[u8; 16], data: &mut [u8]) {
    if let Ok(mut cipher) = Rc4::new_from_slice(key) {
        cipher.apply_keystream(data);
    }
}
