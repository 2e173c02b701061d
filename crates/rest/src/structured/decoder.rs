//! Reads a structured message as it comes in. It holds one frame of the sender, and a few bytes of a header.

use bytes::{Buf as _, Bytes, BytesMut};
use lazuli_service::{Crc64, crc64_combine};

use super::{CHECKSUM, CRC64, HEADER, SEGMENT_HEADER, VERSION};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    Crc64 { sent: u64, found: u64 },
    Malformed(&'static str),
}

pub struct Decoder {
    /// What is to come.
    state: State,
    /// The last frame that came, as far as it was not read.
    frame: Bytes,
    /// The beginning of a field that lies in two frames.
    field: BytesMut,
    /// Bytes that the request announced, and those that were read.
    announced: u64,
    read: u64,
    /// Of the whole message, as the request announced it.
    message: Option<u64>,
    segments: u16,
    /// The present segment, and the CRC-64 of what was read of it.
    number: u16,
    segment_length: u64,
    segment_crc: Crc64,
    /// Of all segments before it.
    crc: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Header,
    SegmentHeader,
    Data { left: u64 },
    SegmentChecksum,
    Checksum,
    End,
}

impl Decoder {
    /// `announced` is the length of the bytes, `message` that of the message, where it is known.
    pub fn new(announced: u64, message: Option<u64>) -> Self {
        Self {
            state: State::Header,
            frame: Bytes::new(),
            field: BytesMut::new(),
            announced,
            read: 0,
            message,
            segments: 0,
            number: 0,
            segment_length: 0,
            segment_crc: Crc64::new(),
            crc: 0,
        }
    }

    /// To be called when `pull` has read all before it.
    pub fn push(&mut self, frame: Bytes) {
        self.frame = frame;
    }

    /// Some bytes; None when another frame is needed.
    pub fn pull(&mut self) -> Result<Option<Bytes>, Problem> {
        loop {
            match self.state {
                State::Header => {
                    let Some(mut field) = self.take(HEADER) else { return Ok(None) };
                    self.header(&mut field)?;
                }
                State::SegmentHeader => {
                    let Some(mut field) = self.take(SEGMENT_HEADER) else { return Ok(None) };
                    self.segment_header(&mut field)?;
                }
                State::Data { left: 0 } => self.state = State::SegmentChecksum,
                State::Data { left } => {
                    if self.frame.is_empty() {
                        return Ok(None);
                    }
                    let now = usize::try_from(left).unwrap_or(usize::MAX).min(self.frame.len());
                    let bytes = self.frame.split_to(now);
                    self.segment_crc.update(&bytes);
                    self.read += now as u64;
                    self.state = State::Data { left: left - now as u64 };
                    return Ok(Some(bytes));
                }
                State::SegmentChecksum => {
                    let Some(mut field) = self.take(CHECKSUM) else { return Ok(None) };
                    let crc = self.segment_crc.value();
                    compare(field.get_u64_le(), crc)?;
                    self.crc = crc64_combine(self.crc, crc, self.segment_length);
                    let is_last = self.number == self.segments;
                    self.state = if is_last { State::Checksum } else { State::SegmentHeader };
                }
                State::Checksum => {
                    let Some(mut field) = self.take(CHECKSUM) else { return Ok(None) };
                    compare(field.get_u64_le(), self.crc)?;
                    self.state = State::End;
                }
                State::End if self.frame.is_empty() => return Ok(None),
                State::End => return Err(Problem::Malformed("bytes follow the last checksum")),
            }
        }
    }

    /// The sender has no more.
    pub fn finish(&self) -> Result<(), Problem> {
        match self.state {
            State::End if self.read == self.announced => Ok(()),
            State::End => Err(WRONG_LENGTH),
            _ => Err(Problem::Malformed("the message ends early")),
        }
    }

    fn header(&mut self, field: &mut Bytes) -> Result<(), Problem> {
        if field.get_u8() != VERSION {
            return Err(Problem::Malformed("unknown version"));
        }
        let length = field.get_u64_le();
        if self.message.is_some_and(|announced| announced != length) {
            return Err(Problem::Malformed("the message is not as long as its header says"));
        }
        if field.get_u16_le() != CRC64 {
            return Err(Problem::Malformed("the flags are not those of a message with checksums"));
        }
        self.segments = field.get_u16_le();
        if self.segments == 0 {
            return Err(Problem::Malformed("a message without segments"));
        }
        let framing =
            HEADER as u64 + u64::from(self.segments) * (SEGMENT_HEADER + CHECKSUM) as u64 + CHECKSUM as u64;
        if self.announced.checked_add(framing) != Some(length) {
            return Err(WRONG_LENGTH);
        }
        self.state = State::SegmentHeader;
        Ok(())
    }

    fn segment_header(&mut self, field: &mut Bytes) -> Result<(), Problem> {
        self.number += 1;
        if field.get_u16_le() != self.number {
            return Err(Problem::Malformed("segments are not numbered one after the other"));
        }
        let length = field.get_u64_le();
        if self.announced - self.read < length {
            return Err(WRONG_LENGTH);
        }
        (self.segment_length, self.segment_crc) = (length, Crc64::new());
        self.state = State::Data { left: length };
        Ok(())
    }

    /// A field of so many bytes, once they are there.
    fn take(&mut self, length: usize) -> Option<Bytes> {
        if self.field.is_empty() && self.frame.len() >= length {
            return Some(self.frame.split_to(length));
        }
        let missing = (length - self.field.len()).min(self.frame.len());
        self.field.extend_from_slice(&self.frame.split_to(missing));
        (self.field.len() == length).then(|| self.field.split().freeze())
    }
}

const WRONG_LENGTH: Problem =
    Problem::Malformed("x-ms-structured-content-length is not the length of the content");

fn compare(sent: u64, found: u64) -> Result<(), Problem> {
    if sent == found { Ok(()) } else { Err(Problem::Crc64 { sent, found }) }
}
