//! Structured messages (`x-ms-structured-body`): a body in segments, each followed by the CRC-64 of its bytes, and the CRC-64
//! of all at the end. Whoever reads one knows of a wrong byte within a segment, in bounded memory.
//!
//! All numbers are little-endian. The header: version (1 byte), length of the whole message (8), flags (2), count of segments
//! (2). A segment: its number from 1 (2), its length (8), its bytes, their CRC-64 (8). The trailer: the CRC-64 of all bytes (8).

mod decoder;
mod encoder;

pub use decoder::{Decoder, Problem};
pub use encoder::Encoder;

use futures_util::stream::unfold;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::version::Feature;
use lazuli_service::{Body, BodyError};

use crate::call::Call;
use crate::head::Head;
use crate::headers;
use crate::reply::Reply;

/// The one form that there is.
pub const FORM: &str = "XSM/1.0; properties=crc64";

const VERSION: u8 = 1;
/// The flag of messages with checksums.
const CRC64: u16 = 1;
const HEADER: usize = 1 + 8 + 2 + 2;
const SEGMENT_HEADER: usize = 2 + 8;
const CHECKSUM: usize = 8;

/// Whether the request has a structured body, or asks for one.
pub fn is_asked(head: &Head) -> Result<bool, Failure> {
    let Some(form) = head.header(headers::X_MS_STRUCTURED_BODY) else { return Ok(false) };
    if !head.version.has(Feature::StructuredBodies) {
        let name = headers::X_MS_STRUCTURED_BODY;
        return Err(Failure::new(ErrorCode::UnsupportedHeader).detail("HeaderName", name));
    }
    let plain = |text: &str| text.replace(' ', "").to_ascii_lowercase();
    match plain(form) == plain(FORM) {
        true => Ok(true),
        false => Err(Failure::invalid_header(headers::X_MS_STRUCTURED_BODY, form)),
    }
}

/// Lets an operation read the bytes of its body, however they came. True if they came in a structured message, which the
/// answer tells.
pub fn unwrap(call: &mut Call) -> Result<bool, Failure> {
    if !is_asked(&call.head)? {
        return match call.head.header(headers::X_MS_STRUCTURED_CONTENT_LENGTH) {
            Some(_) => Err(Failure::missing_header(headers::X_MS_STRUCTURED_BODY)),
            None => Ok(false),
        };
    }
    let name = headers::X_MS_STRUCTURED_CONTENT_LENGTH;
    let text = call.head.header(name).ok_or_else(|| Failure::missing_header(name))?;
    let length = text.parse().map_err(|_| Failure::invalid_header(name, text))?;
    let body = std::mem::replace(&mut call.body, Body::empty());
    call.body = decoded(body, length);
    Ok(true)
}

/// The bytes of a structured message, so many of them.
fn decoded(body: Body, length: u64) -> Body {
    let decoder = Decoder::new(length, body.length);
    let frames = unfold(Some((body, decoder)), |reading| async move {
        let (mut body, mut decoder) = reading?;
        loop {
            match decoder.pull() {
                Ok(Some(bytes)) => return Some((Ok(bytes), Some((body, decoder)))),
                Ok(None) => {}
                Err(problem) => return Some((Err(problem.into()), None)),
            }
            match body.next().await {
                Some(Ok(frame)) => decoder.push(frame),
                Some(Err(error)) => return Some((Err(error), None)),
                None => return decoder.finish().err().map(|problem| (Err(problem.into()), None)),
            }
        }
    });
    // Wrong bytes are found while they are read, and conditions are judged before that.
    Body::new(frames, Some(length)).awaited(true)
}

impl From<Problem> for BodyError {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Crc64 { sent, found } => Self::Crc64Mismatch { sent, found },
            Problem::Malformed(how) => Self::Malformed(how),
        }
    }
}

/// The answer to a structured body says so.
pub fn show(reply: Reply, is_structured: bool) -> Reply {
    if is_structured { reply.header(headers::X_MS_STRUCTURED_BODY, FORM) } else { reply }
}

#[cfg(test)]
mod tests;
