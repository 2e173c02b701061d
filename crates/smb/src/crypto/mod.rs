//! Keys, signatures and encryption of sessions. The ciphers and hashes are those of crates.

mod encrypt;
mod keys;
mod preauth;
mod sign;

pub use encrypt::{Cipher, CipherId};
pub use keys::{SessionKeys, derive};
pub use preauth::PreauthHash;
pub use sign::{Purpose, Signer, SigningAlgorithm};

/// A primitive refused what this crate gave it: a key of the wrong length, or the system has no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CryptoError;

/// Random bytes for challenges, salts and ids.
pub fn random<const N: usize>() -> Result<[u8; N], CryptoError> {
    let mut bytes = [0; N];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| CryptoError)?;
    Ok(bytes)
}
