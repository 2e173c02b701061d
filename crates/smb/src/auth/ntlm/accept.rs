//! The server's side of an exchange: a challenge, and the judgement of the answer.

use aws_lc_rs::constant_time::verify_slices_are_equal;

use super::message::{Authenticate, Challenge, MIC, Negotiate, flag};
use super::security::{SecurityContext, apply_rc4};
use super::v2::{NtHash, hmac_md5, ntowf_v2, proof, session_base_key};
use crate::crypto::{CryptoError, random};
use crate::status::Malformed;

/// Proof, versions, time, the client's challenge and an empty list.
const NT_RESPONSE_MIN: usize = 16 + 28 + 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    Malformed,
    /// An unknown name, a wrong password, an older version, or an exchange that was changed on its way: a client is not told which.
    Logon,
    /// Not judged: too many tries wait to be.
    TooMany,
}

impl From<Malformed> for Refused {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

impl From<CryptoError> for Refused {
    fn from(_: CryptoError) -> Self {
        Self::Logon
    }
}

const NEGOTIATE_MAX: usize = 1024;

/// A challenge that was sent, and what came before: the integrity code covers all three messages.
pub struct Challenged {
    negotiate: Vec<u8>,
    pub challenge: Vec<u8>,
    server_challenge: [u8; 8],
    flags: u32,
}

pub struct Accepted {
    pub session_key: [u8; 16],
    /// Which of the hashes that were tried.
    pub proved: NtHash,
    pub security: SecurityContext,
}

pub fn challenge(negotiate: &[u8], name: &str, time: u64) -> Result<Challenged, Refused> {
    // It is kept until the logon ends; a name and a domain fit in.
    if negotiate.len() > NEGOTIATE_MAX {
        return Err(Refused::Malformed);
    }
    let asked = Negotiate::parse(negotiate)?.flags;
    if asked & flag::UNICODE == 0 {
        return Err(Refused::Logon);
    }
    let wished =
        flag::SIGN | flag::SEAL | flag::ALWAYS_SIGN | flag::KEY_128 | flag::KEY_56 | flag::KEY_EXCHANGE;
    let flags = asked & wished
        | flag::UNICODE
        | flag::REQUEST_TARGET
        | flag::NTLM
        | flag::TARGET_TYPE_SERVER
        | flag::EXTENDED_SESSION_SECURITY
        | flag::TARGET_INFO
        | flag::VERSION;
    let server_challenge = random()?;
    let challenge = Challenge { flags, server_challenge, name, time }.write();
    Ok(Challenged { negotiate: negotiate.to_vec(), challenge, server_challenge, flags })
}

impl Challenged {
    /// `hashes` are those of the user's passwords. An unknown user has a random one, so that refusing takes the
    /// same work.
    pub fn judge(&self, message: &[u8], told: &Authenticate, hashes: &[NtHash]) -> Result<Accepted, Refused> {
        if told.nt_response.len() < NT_RESPONSE_MIN || told.flags & flag::EXTENDED_SESSION_SECURITY == 0 {
            return Err(Refused::Logon);
        }
        let (given, blob) = told.nt_response.split_first_chunk::<16>().ok_or(Refused::Malformed)?;
        let mut key = None;
        // Every hash is tried whatever the first one says: time does not tell which one it was.
        for hash in hashes {
            let response_key = ntowf_v2(hash, &told.user, &told.domain);
            let right = proof(&response_key, &self.server_challenge, blob);
            if verify_slices_are_equal(&right, given).is_ok() {
                key = Some((session_base_key(&response_key, given), hash.clone()));
            }
        }
        let (mut session_key, proved) = key.ok_or(Refused::Logon)?;
        // What the client claims to have agreed to can only be less than what was offered.
        let flags = told.flags & (self.flags | flag::ANONYMOUS);
        if flags & flag::KEY_EXCHANGE != 0 {
            let sent: &[u8; 16] =
                told.encrypted_session_key.as_slice().try_into().map_err(|_| Refused::Malformed)?;
            let mut exchanged = *sent;
            apply_rc4(&session_key, &mut exchanged);
            session_key = exchanged;
        }
        if let Some(mic) = told.mic {
            self.judge_mic(message, &mic, &session_key)?;
        }
        Ok(Accepted { session_key, proved, security: SecurityContext::new(flags, session_key) })
    }

    fn judge_mic(&self, message: &[u8], mic: &[u8; 16], session_key: &[u8; 16]) -> Result<(), Refused> {
        let mut blank = message.to_vec();
        blank.get_mut(MIC).ok_or(Refused::Malformed)?.fill(0);
        let right = hmac_md5(session_key, &[&self.negotiate, &self.challenge, &blank]);
        verify_slices_are_equal(&right, mic).map_err(|_| Refused::Logon)
    }
}
