//! The functions of NTLM version 2 (MS-NLMP 3.3.2).

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use md4::{Digest, Md4};
use md5::Md5;
use zeroize::Zeroize;

use crate::wire::text::to_utf16;

/// What NTLM keeps of a password. As good as the password itself, so it prints nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct NtHash([u8; 16]);

impl NtHash {
    pub fn of_password(password: &str) -> Self {
        let mut text = to_utf16(password);
        let hash = Md4::digest(&text).into();
        text.zeroize();
        Self(hash)
    }

    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl Drop for NtHash {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for NtHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NtHash(..)")
    }
}

pub fn hmac_md5(key: &[u8], parts: &[&[u8]]) -> [u8; 16] {
    // HMAC takes a key of any length, so the error cannot occur; a code that matches nothing would be its answer.
    let Ok(mut mac) = Hmac::<Md5>::new_from_slice(key) else { return [0; 16] };
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// The key that a client's response is made with.
pub fn ntowf_v2(hash: &NtHash, user: &str, domain: &str) -> [u8; 16] {
    hmac_md5(hash.as_bytes(), &[&to_utf16(&user.to_uppercase()), &to_utf16(domain)])
}

/// What the first sixteen bytes of a right response are.
pub fn proof(response_key: &[u8; 16], server_challenge: &[u8; 8], client_blob: &[u8]) -> [u8; 16] {
    hmac_md5(response_key, &[server_challenge, client_blob])
}

pub fn session_base_key(response_key: &[u8; 16], proof: &[u8; 16]) -> [u8; 16] {
    hmac_md5(response_key, &[proof])
}
