//! NTLM, the accepting side of version 2 (MS-NLMP).

mod accept;
mod message;
mod security;
mod v2;

pub use accept::{Accepted, Challenged, Refused, challenge};
pub use message::{Authenticate, Negotiate, flag};
pub use security::{Direction, SecurityContext};
pub use v2::{NtHash, ntowf_v2, proof, session_base_key};

pub const SIGNATURE: [u8; 8] = *b"NTLMSSP\0";
