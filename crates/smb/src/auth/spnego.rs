//! SPNEGO (RFC 4178), which wraps NTLM: tokens to their parts and back.

use der::asn1::{AnyRef, BitStringRef, ObjectIdentifier, OctetStringRef};
use der::{Decode, Encode, Enumerated, Reader, Sequence, SliceReader, Tag, TagNumber, Tagged};

use crate::status::Malformed;

pub const NTLMSSP: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.311.2.2.10");
const SPNEGO: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.2");
/// What every server says here (MS-SPNG 3.2.5.2), as the inside of a sequence.
const HINT: &[u8] = b"\xA0\x26\x1B\x24not_defined_in_RFC4178@please_ignore";
const MECHANISMS_MAX: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Enumerated)]
#[asn1(type = "ENUMERATED")]
#[repr(u8)]
pub enum NegState {
    AcceptCompleted = 0,
    AcceptIncomplete = 1,
    Reject = 2,
    RequestMic = 3,
}

#[derive(Sequence)]
struct NegTokenInit<'a> {
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT", optional = "true")]
    mech_types: Option<Vec<ObjectIdentifier>>,
    #[asn1(context_specific = "1", tag_mode = "EXPLICIT", optional = "true")]
    req_flags: Option<BitStringRef<'a>>,
    #[asn1(context_specific = "2", tag_mode = "EXPLICIT", optional = "true")]
    mech_token: Option<OctetStringRef<'a>>,
    /// The hint of a server; elsewhere the integrity code, which no first token of a client needs.
    #[asn1(context_specific = "3", tag_mode = "EXPLICIT", optional = "true")]
    hints: Option<AnyRef<'a>>,
}

#[derive(Sequence)]
struct NegTokenResp<'a> {
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT", optional = "true")]
    neg_state: Option<NegState>,
    #[asn1(context_specific = "1", tag_mode = "EXPLICIT", optional = "true")]
    supported_mech: Option<ObjectIdentifier>,
    #[asn1(context_specific = "2", tag_mode = "EXPLICIT", optional = "true")]
    response_token: Option<OctetStringRef<'a>>,
    #[asn1(context_specific = "3", tag_mode = "EXPLICIT", optional = "true")]
    mech_list_mic: Option<OctetStringRef<'a>>,
}

/// What a client sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    First {
        /// As they are listed, in the form that their integrity code is made over.
        mechanisms: Vec<u8>,
        ntlm_offered: bool,
        /// The token is of the mechanism that is listed first; only one for NTLM is of use.
        ntlm_token: Option<Vec<u8>>,
    },
    Next {
        token: Option<Vec<u8>>,
        mic: Option<Vec<u8>>,
    },
}

impl From<der::Error> for Malformed {
    fn from(_: der::Error) -> Self {
        Self
    }
}

const APPLICATION: Tag = Tag::Application { constructed: true, number: TagNumber::N0 };
const INIT: Tag = Tag::ContextSpecific { constructed: true, number: TagNumber::N0 };
const RESPONSE: Tag = Tag::ContextSpecific { constructed: true, number: TagNumber::N1 };

pub fn parse(token: &[u8]) -> Result<Token, Malformed> {
    let outer = AnyRef::from_der(token)?;
    match outer.tag() {
        APPLICATION => {
            let mut reader = SliceReader::new(outer.value())?;
            if ObjectIdentifier::decode(&mut reader)? != SPNEGO {
                return Err(Malformed);
            }
            let inner = AnyRef::decode(&mut reader)?;
            if inner.tag() != INIT || !reader.is_finished() {
                return Err(Malformed);
            }
            first(inner.value())
        }
        RESPONSE => {
            let NegTokenResp { response_token, mech_list_mic, .. } = NegTokenResp::from_der(outer.value())?;
            let owned = |bytes: Option<OctetStringRef<'_>>| bytes.map(|bytes| bytes.as_bytes().to_vec());
            Ok(Token::Next { token: owned(response_token), mic: owned(mech_list_mic) })
        }
        _ => Err(Malformed),
    }
}

fn first(token: &[u8]) -> Result<Token, Malformed> {
    let init = NegTokenInit::from_der(token)?;
    let listed = init.mech_types.ok_or(Malformed)?;
    if listed.len() > MECHANISMS_MAX {
        return Err(Malformed);
    }
    let preferred = listed.first() == Some(&NTLMSSP);
    let token = init.mech_token.filter(|_| preferred).map(|token| token.as_bytes().to_vec());
    Ok(Token::First {
        mechanisms: listed.to_der()?,
        ntlm_offered: listed.contains(&NTLMSSP),
        ntlm_token: token,
    })
}

/// What a server offers in its answer to NEGOTIATE.
pub fn offer() -> Result<Vec<u8>, Malformed> {
    let hints = AnyRef::new(Tag::Sequence, HINT)?;
    let init = NegTokenInit {
        mech_types: Some(vec![NTLMSSP]),
        req_flags: None,
        mech_token: None,
        hints: Some(hints),
    };
    let init = init.to_der()?;
    let mut inside = SPNEGO.to_der()?;
    AnyRef::new(INIT, &init)?.encode_to_vec(&mut inside)?;
    Ok(AnyRef::new(APPLICATION, &inside)?.to_der()?)
}

pub fn respond(
    state: NegState,
    mechanism: bool,
    token: Option<&[u8]>,
    mic: Option<&[u8]>,
) -> Result<Vec<u8>, Malformed> {
    let response = NegTokenResp {
        neg_state: Some(state),
        supported_mech: mechanism.then_some(NTLMSSP),
        response_token: token.map(OctetStringRef::new).transpose()?,
        mech_list_mic: mic.map(OctetStringRef::new).transpose()?,
    };
    let response = response.to_der()?;
    Ok(AnyRef::new(RESPONSE, &response)?.to_der()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_is_a_first_token_that_names_ntlm() {
        let offer = offer().expect("encodes");
        let Ok(Token::First { mechanisms, ntlm_offered, ntlm_token }) = parse(&offer) else {
            panic!("not a first token: {offer:02x?}")
        };
        assert!(ntlm_offered && ntlm_token.is_none());
        assert_eq!(mechanisms, b"\x30\x0c\x06\x0a\x2b\x06\x01\x04\x01\x82\x37\x02\x02\x0a");
    }

    #[test]
    fn a_response_comes_back() {
        let token = respond(NegState::AcceptIncomplete, true, Some(b"token"), Some(b"mic")).expect("encodes");
        let expected = Token::Next { token: Some(b"token".to_vec()), mic: Some(b"mic".to_vec()) };
        assert_eq!(parse(&token), Ok(expected));
        for length in 0..token.len() {
            assert_eq!(parse(&token[..length]), Err(Malformed), "{length} bytes of it");
        }
    }
}
