//! Several messages in one frame (MS-SMB2 3.3.5.2.7).

use std::ops::Range;

use super::header::{self, RequestHeader};
use crate::status::Malformed;

/// More than any client sends; a bound for what one frame can ask for.
pub const MESSAGES_MAX: usize = 64;

/// Where each message of a frame is, and its header. Every one but the last is told its length by its header, and all
/// begin at a multiple of eight.
pub fn split(frame: &[u8]) -> Result<Vec<(Range<usize>, RequestHeader)>, Malformed> {
    let mut messages = Vec::new();
    let mut start = 0;
    loop {
        let rest = frame.get(start..).ok_or(Malformed)?;
        let header = RequestHeader::parse(rest)?;
        let next = header.next_command as usize;
        if messages.len() == MESSAGES_MAX {
            return Err(Malformed);
        }
        if next == 0 {
            messages.push((start..frame.len(), header));
            return Ok(messages);
        }
        if next < header::SIZE || !next.is_multiple_of(8) || next >= rest.len() {
            return Err(Malformed);
        }
        messages.push((start..start + next, header));
        start += next;
    }
}
