//! Encryption of messages (MS-SMB2 3.1.4.3): in place, the tag apart.

use std::sync::atomic::{AtomicU64, Ordering};

use aes::{Aes128, Aes256};
use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ccm::Ccm;
use ccm::aead::{AeadInOut, KeyInit};
use ccm::consts::{U11, U16};

use super::CryptoError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum CipherId {
    Aes128Ccm = 1,
    Aes128Gcm = 2,
    Aes256Ccm = 3,
    Aes256Gcm = 4,
}

impl CipherId {
    pub fn from_wire(code: u16) -> Option<Self> {
        [Self::Aes128Ccm, Self::Aes128Gcm, Self::Aes256Ccm, Self::Aes256Gcm]
            .into_iter()
            .find(|it| *it as u16 == code)
    }

    pub fn key_bytes(self) -> usize {
        match self {
            Self::Aes128Ccm | Self::Aes128Gcm => 16,
            Self::Aes256Ccm | Self::Aes256Gcm => 32,
        }
    }

    fn nonce_bytes(self) -> usize {
        match self {
            Self::Aes128Ccm | Self::Aes256Ccm => 11,
            Self::Aes128Gcm | Self::Aes256Gcm => 12,
        }
    }
}

/// Of one session. The nonces of what is sent are counted, so that none comes twice.
pub struct Cipher {
    id: CipherId,
    receive: Key,
    send: Key,
    sent: AtomicU64,
}

enum Key {
    Gcm(LessSafeKey),
    Ccm128(Box<Ccm<Aes128, U16, U11>>),
    Ccm256(Box<Ccm<Aes256, U16, U11>>),
}

impl Cipher {
    pub fn new(id: CipherId, receive: &[u8], send: &[u8]) -> Result<Self, CryptoError> {
        Ok(Self { id, receive: Key::new(id, receive)?, send: Key::new(id, send)?, sent: AtomicU64::new(0) })
    }

    /// The nonce of the next message, in the field of the transform header that is longer than any.
    pub fn next_nonce(&self) -> [u8; 16] {
        let count = self.sent.fetch_add(1, Ordering::Relaxed);
        let mut nonce = [0; 16];
        let (counted, _) = nonce.split_at_mut(8);
        counted.copy_from_slice(&count.to_le_bytes());
        nonce
    }

    pub fn seal(&self, nonce: &[u8; 16], aad: &[u8], message: &mut [u8]) -> Result<[u8; 16], CryptoError> {
        let nonce = nonce.get(..self.id.nonce_bytes()).ok_or(CryptoError)?;
        self.send.seal(nonce, aad, message)
    }

    pub fn open(
        &self,
        nonce: &[u8; 16],
        aad: &[u8],
        message: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<(), CryptoError> {
        let nonce = nonce.get(..self.id.nonce_bytes()).ok_or(CryptoError)?;
        self.receive.open(nonce, aad, message, tag)
    }
}

impl Key {
    fn new(id: CipherId, key: &[u8]) -> Result<Self, CryptoError> {
        let gcm = |algorithm| UnboundKey::new(algorithm, key).map(LessSafeKey::new).map_err(|_| CryptoError);
        Ok(match id {
            CipherId::Aes128Gcm => Self::Gcm(gcm(&AES_128_GCM)?),
            CipherId::Aes256Gcm => Self::Gcm(gcm(&AES_256_GCM)?),
            CipherId::Aes128Ccm => Self::Ccm128(Box::new(Ccm::new_from_slice(key).map_err(|_| CryptoError)?)),
            CipherId::Aes256Ccm => Self::Ccm256(Box::new(Ccm::new_from_slice(key).map_err(|_| CryptoError)?)),
        })
    }

    fn seal(&self, nonce: &[u8], aad: &[u8], message: &mut [u8]) -> Result<[u8; 16], CryptoError> {
        let mut tag = [0; 16];
        match self {
            Self::Gcm(key) => {
                let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| CryptoError)?;
                let made = key.seal_in_place_separate_tag(nonce, Aad::from(aad), message);
                tag.copy_from_slice(made.map_err(|_| CryptoError)?.as_ref());
            }
            Self::Ccm128(key) => {
                let nonce = nonce.try_into().map_err(|_| CryptoError)?;
                let made = key.encrypt_inout_detached(nonce, aad, message.into());
                tag.copy_from_slice(&made.map_err(|_| CryptoError)?);
            }
            Self::Ccm256(key) => {
                let nonce = nonce.try_into().map_err(|_| CryptoError)?;
                let made = key.encrypt_inout_detached(nonce, aad, message.into());
                tag.copy_from_slice(&made.map_err(|_| CryptoError)?);
            }
        }
        Ok(tag)
    }

    fn open(&self, nonce: &[u8], aad: &[u8], message: &mut [u8], tag: &[u8; 16]) -> Result<(), CryptoError> {
        match self {
            Self::Gcm(key) => {
                let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| CryptoError)?;
                let opened = key.open_in_place_separate_tag(nonce, Aad::from(aad), tag, message);
                opened.map(|_| ()).map_err(|_| CryptoError)
            }
            Self::Ccm128(key) => {
                let nonce = nonce.try_into().map_err(|_| CryptoError)?;
                key.decrypt_inout_detached(nonce, aad, message.into(), tag.into()).map_err(|_| CryptoError)
            }
            Self::Ccm256(key) => {
                let nonce = nonce.try_into().map_err(|_| CryptoError)?;
                key.decrypt_inout_detached(nonce, aad, message.into(), tag.into()).map_err(|_| CryptoError)
            }
        }
    }
}
