//! The keys of a session, derived from what the authentication left (MS-SMB2 3.1.4.2, 3.3.5.5.3).

use std::sync::Arc;

use aws_lc_rs::hmac;
use zeroize::Zeroizing;

use super::{Cipher, CipherId, CryptoError, PreauthHash, Signer, SigningAlgorithm};
use crate::wire::negotiate::Dialect;

/// NIST SP 800-108 in counter mode with HMAC-SHA256: one block of it, which is enough for 256 bits.
pub fn derive(key: &[u8], label: &[u8], context: &[u8], bytes: usize) -> Zeroizing<Vec<u8>> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let mut block = hmac::Context::with_key(&key);
    block.update(&1u32.to_be_bytes());
    block.update(label);
    block.update(&[0]);
    block.update(context);
    block.update(&(bytes as u32 * 8).to_be_bytes());
    Zeroizing::new(block.sign().as_ref().iter().copied().take(bytes).collect())
}

pub struct SessionKeys {
    pub signer: Arc<Signer>,
    /// Where the connection negotiated a cipher.
    pub cipher: Option<Cipher>,
}

/// Labels and contexts; both end with the zero that they are written with.
struct Labels<'a> {
    signing: (&'static [u8], &'a [u8]),
    receive: (&'static [u8], &'a [u8]),
    send: (&'static [u8], &'a [u8]),
}

impl SessionKeys {
    pub fn derive(
        dialect: Dialect,
        signing: SigningAlgorithm,
        cipher: Option<CipherId>,
        session_key: &[u8; 16],
        preauth: &PreauthHash,
    ) -> Result<Self, CryptoError> {
        let hash = preauth.as_bytes();
        let labels = match dialect {
            // The session's key itself signs, and nothing is encrypted.
            Dialect::Smb210 => {
                return Ok(Self { signer: Signer::new(signing, session_key)?.into(), cipher: None });
            }
            Dialect::Smb300 | Dialect::Smb302 => Labels {
                signing: (b"SMB2AESCMAC\0", b"SmbSign\0"),
                receive: (b"SMB2AESCCM\0", b"ServerIn \0"),
                send: (b"SMB2AESCCM\0", b"ServerOut\0"),
            },
            Dialect::Smb311 => Labels {
                signing: (b"SMBSigningKey\0", hash),
                receive: (b"SMBC2SCipherKey\0", hash),
                send: (b"SMBS2CCipherKey\0", hash),
            },
        };
        let key = |(label, context): (&[u8], &[u8]), bytes| derive(session_key, label, context, bytes);
        let signing_key = key(labels.signing, 16);
        let signing_key = signing_key.as_slice().try_into().map_err(|_| CryptoError)?;
        let cipher = match cipher {
            None => None,
            Some(id) => {
                let bytes = id.key_bytes();
                Some(Cipher::new(id, &key(labels.receive, bytes), &key(labels.send, bytes))?)
            }
        };
        Ok(Self { signer: Signer::new(signing, signing_key)?.into(), cipher })
    }
}
