//! Writes a structured message around bytes as they go out. It holds a few bytes of headers.

use std::collections::VecDeque;

use bytes::{BufMut as _, Bytes, BytesMut};
use lazuli_service::{Crc64, crc64_combine};

use super::{CHECKSUM, CRC64, HEADER, SEGMENT_HEADER, VERSION};

/// The length of a segment, where so many of them are enough.
const SEGMENT: u64 = 4 * 1024 * 1024;

pub struct Encoder {
    length: u64,
    segment: u64,
    segments: u16,
    number: u16,
    /// Of the present segment.
    left: u64,
    segment_crc: Crc64,
    crc: u64,
    out: VecDeque<Bytes>,
}

impl Encoder {
    /// Around so many bytes.
    pub fn new(length: u64) -> Self {
        Self::with_segments(length, SEGMENT)
    }

    /// In segments of this length, or longer ones where there would be too many.
    pub fn with_segments(length: u64, segment: u64) -> Self {
        let segment = segment.max(length.div_ceil(u64::from(u16::MAX))).max(1);
        let segments = u16::try_from(length.div_ceil(segment).max(1)).unwrap_or(u16::MAX);
        let mut encoder = Self {
            length,
            segment,
            segments,
            number: 0,
            left: 0,
            segment_crc: Crc64::new(),
            crc: 0,
            out: VecDeque::new(),
        };
        let mut header = BytesMut::with_capacity(HEADER + SEGMENT_HEADER + 2 * CHECKSUM);
        header.put_u8(VERSION);
        header.put_u64_le(encoder.message_length());
        header.put_u16_le(CRC64);
        header.put_u16_le(segments);
        encoder.begin_segment(header);
        encoder
    }

    /// Of the whole message.
    pub fn message_length(&self) -> u64 {
        let framing = HEADER + usize::from(self.segments) * (SEGMENT_HEADER + CHECKSUM) + CHECKSUM;
        self.length + framing as u64
    }

    /// What goes out next; None when more bytes are needed, and when all is out.
    pub fn pull(&mut self) -> Option<Bytes> {
        self.out.pop_front()
    }

    /// To be called when `pull` has nothing left.
    pub fn push(&mut self, mut bytes: Bytes) {
        while !bytes.is_empty() && self.left > 0 {
            let now = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
            let data = bytes.split_to(now);
            self.segment_crc.update(&data);
            self.left -= now as u64;
            self.out.push_back(data);
            if self.left == 0 {
                self.end_segment(BytesMut::with_capacity(SEGMENT_HEADER + CHECKSUM));
            }
        }
    }

    fn begin_segment(&mut self, mut field: BytesMut) {
        let before = u64::from(self.number) * self.segment;
        self.left = self.segment.min(self.length - before);
        self.number += 1;
        self.segment_crc = Crc64::new();
        field.put_u16_le(self.number);
        field.put_u64_le(self.left);
        match self.left {
            0 => self.end_segment(field),
            _ => self.out.push_back(field.freeze()),
        }
    }

    fn end_segment(&mut self, mut field: BytesMut) {
        let crc = self.segment_crc.value();
        let before = u64::from(self.number - 1) * self.segment;
        self.crc = crc64_combine(self.crc, crc, self.segment.min(self.length - before));
        field.put_u64_le(crc);
        if self.number < self.segments {
            return self.begin_segment(field);
        }
        field.put_u64_le(self.crc);
        self.out.push_back(field.freeze());
    }
}
