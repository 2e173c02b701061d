//! What a connection agreed on, once and for all.

use crate::crypto::{CipherId, PreauthHash, SigningAlgorithm};
use crate::wire::negotiate::Dialect;

#[derive(Clone, Debug)]
pub struct Negotiated {
    pub dialect: Dialect,
    /// None where encryption cannot be had.
    pub cipher: Option<CipherId>,
    pub signing: SigningAlgorithm,
    pub client_guid: [u8; 16],
    /// As the client sent them: asked for again by VALIDATE_NEGOTIATE_INFO.
    pub client_capabilities: u32,
    pub client_security_mode: u16,
    pub offered_dialects: Vec<u16>,
    pub server_capabilities: u32,
    pub server_security_mode: u16,
    /// Over the negotiation, of 3.1.1.
    pub preauth: PreauthHash,
}
