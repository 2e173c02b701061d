//! Signatures of messages (MS-SMB2 3.1.4.1).

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::{cmac, hmac};

use super::CryptoError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum SigningAlgorithm {
    HmacSha256 = 0,
    AesCmac = 1,
    AesGmac = 2,
}

impl SigningAlgorithm {
    pub fn from_wire(code: u16) -> Option<Self> {
        [Self::HmacSha256, Self::AesCmac, Self::AesGmac].into_iter().find(|it| *it as u16 == code)
    }
}

/// What a message is: AES-GMAC signs each message with a nonce of its own, made of this.
#[derive(Clone, Copy, Debug)]
pub struct Purpose {
    pub message_id: u64,
    pub from_server: bool,
    pub cancel: bool,
}

pub struct Signer(Key);

enum Key {
    Hmac(Box<hmac::Key>),
    Cmac(cmac::Key),
    Gmac(LessSafeKey),
}

impl Signer {
    pub fn new(algorithm: SigningAlgorithm, key: &[u8; 16]) -> Result<Self, CryptoError> {
        Ok(Self(match algorithm {
            SigningAlgorithm::HmacSha256 => Key::Hmac(Box::new(hmac::Key::new(hmac::HMAC_SHA256, key))),
            SigningAlgorithm::AesCmac => {
                Key::Cmac(cmac::Key::new(cmac::AES_128, key).map_err(|_| CryptoError)?)
            }
            SigningAlgorithm::AesGmac => {
                Key::Gmac(LessSafeKey::new(UnboundKey::new(&AES_128_GCM, key).map_err(|_| CryptoError)?))
            }
        }))
    }

    /// True where a message in several parts can be signed as it lies; GMAC needs it in one piece.
    pub fn takes_parts(&self) -> bool {
        !matches!(self.0, Key::Gmac(_))
    }

    /// Of a message whose signature field is zero. Several parts only where [`Self::takes_parts`].
    pub fn sign(&self, parts: &[&[u8]], purpose: Purpose) -> Result<[u8; 16], CryptoError> {
        let mut signature = [0; 16];
        match &self.0 {
            Key::Hmac(key) => {
                let mut context = hmac::Context::with_key(key);
                parts.iter().for_each(|part| context.update(part));
                let tag = context.sign();
                signature.copy_from_slice(tag.as_ref().get(..16).ok_or(CryptoError)?);
            }
            Key::Cmac(key) => {
                let mut context = cmac::Context::with_key(key);
                for part in parts {
                    context.update(part).map_err(|_| CryptoError)?;
                }
                let tag = context.sign().map_err(|_| CryptoError)?;
                signature.copy_from_slice(tag.as_ref());
            }
            Key::Gmac(key) => {
                let [message] = parts else { return Err(CryptoError) };
                let nonce = Nonce::assume_unique_for_key(gmac_nonce(purpose));
                let tag = key
                    .seal_in_place_separate_tag(nonce, Aad::from(message), &mut [])
                    .map_err(|_| CryptoError)?;
                signature.copy_from_slice(tag.as_ref());
            }
        }
        Ok(signature)
    }

    /// In constant time, of a message whose signature field was set to zero.
    pub fn verify(&self, message: &[u8], purpose: Purpose, signature: &[u8; 16]) -> bool {
        self.sign(&[message], purpose)
            .is_ok_and(|expected| verify_slices_are_equal(&expected, signature).is_ok())
    }
}

fn gmac_nonce(purpose: Purpose) -> [u8; 12] {
    let mut nonce = [0; 12];
    let (id, rest) = nonce.split_at_mut(8);
    id.copy_from_slice(&purpose.message_id.to_le_bytes());
    let flags = u32::from(purpose.from_server) | u32::from(purpose.cancel) << 1;
    rest.copy_from_slice(&flags.to_le_bytes());
    nonce
}
