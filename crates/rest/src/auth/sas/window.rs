//! When a signature counts, from where, and over which protocol.

use std::net::IpAddr;

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::time::Timestamp;

use crate::auth::refusal::denied;

/// Both ends belong to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    pub start: Option<Timestamp>,
    pub expiry: Option<Timestamp>,
}

impl Window {
    pub fn parse(start: Option<&str>, expiry: Option<&str>) -> Result<Self, Failure> {
        Ok(Self { start: instant("st", start)?, expiry: instant("se", expiry)? })
    }

    /// A signature without an end is refused: nothing would ever take it back.
    pub fn check(&self, now: Timestamp) -> Result<(), Failure> {
        let Some(expiry) = self.expiry else {
            return Err(denied("Signed expiry time is required."));
        };
        if now > expiry || self.start.is_some_and(|start| now < start) {
            let start = self.start.map(Timestamp::rfc1123).unwrap_or_default();
            return Err(denied(format!(
                "Signature not valid in the specified time frame: Start [{start}] - Expiry [{}] - Current [{}]",
                expiry.rfc1123(),
                now.rfc1123()
            )));
        }
        Ok(())
    }
}

pub fn instant(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Failure> {
    let Some(text) = text else { return Ok(None) };
    match Timestamp::parse_iso(text) {
        Some(time) => Ok(Some(time)),
        None => Err(denied(format!("{name} is not a valid time: '{text}'"))),
    }
}

/// `sip`: one address, or the first and the last of a range. The socket's peer is asked, no header is.
pub fn check_address(sip: Option<&str>, peer: Option<IpAddr>) -> Result<(), Failure> {
    let Some(sip) = sip else { return Ok(()) };
    let (first, last) = sip.split_once('-').unwrap_or((sip, sip));
    let (Ok(first), Ok(last)) = (first.trim().parse::<IpAddr>(), last.trim().parse::<IpAddr>()) else {
        return Err(denied(format!("sip is not a valid address or range: '{sip}'")));
    };
    let (first, last) = (first.to_canonical(), last.to_canonical());
    if first.is_ipv4() != last.is_ipv4() {
        return Err(denied(format!("sip is not a valid address or range: '{sip}'")));
    }
    // IpAddr orders every IPv4 address before every IPv6 address: a peer of the other family is outside.
    let inside = peer.map(|peer| peer.to_canonical()).is_some_and(|peer| first <= peer && peer <= last);
    if inside { Ok(()) } else { Err(ErrorCode::AuthorizationSourceIPMismatch.into()) }
}

/// `spr`: `https` or `https,http`.
pub fn check_protocol(spr: Option<&str>, secure: bool) -> Result<(), Failure> {
    match spr {
        None | Some("https,http" | "http,https") => Ok(()),
        Some("https") if secure => Ok(()),
        Some("https") => Err(ErrorCode::AuthorizationProtocolMismatch.into()),
        Some(other) => Err(denied(format!("spr is not a valid list of protocols: '{other}'"))),
    }
}
