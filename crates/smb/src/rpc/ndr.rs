//! The transfer syntax NDR (C706 chapter 14), as far as `srvsvc` needs it.

use bytes::{Buf, BufMut};

use crate::status::Malformed;
use crate::wire::take_slice;
use crate::wire::text::{to_utf16_z, utf16};

/// Reads arguments; alignment counts from their start.
pub struct Reader<'a> {
    whole: usize,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(stub: &'a [u8]) -> Self {
        Self { whole: stub.len(), rest: stub }
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        let read = self.whole - self.rest.len();
        take_slice(&mut self.rest, read.next_multiple_of(4) - read)?;
        Ok(self.rest.try_get_u32_le()?)
    }

    /// A string behind a pointer that may be null.
    pub fn unique_string(&mut self) -> Result<Option<String>, Malformed> {
        match self.u32()? {
            0 => Ok(None),
            _ => self.string().map(Some),
        }
    }

    pub fn string(&mut self) -> Result<String, Malformed> {
        let maximum = self.u32()?;
        let offset = self.u32()?;
        let actual = self.u32()?;
        if offset != 0 || actual > maximum {
            return Err(Malformed);
        }
        let bytes = take_slice(&mut self.rest, actual as usize * 2)?;
        let text = utf16(bytes)?;
        Ok(text.strip_suffix('\0').unwrap_or(&text).to_owned())
    }
}

/// Writes results. What pointers point at follows the structure that they are in.
#[derive(Default)]
pub struct Writer {
    bytes: Vec<u8>,
    referents: u32,
    deferred: Vec<String>,
}

impl Writer {
    pub fn u32(&mut self, value: u32) {
        crate::wire::pad(&mut self.bytes, 4);
        self.bytes.put_u32_le(value);
    }

    /// A pointer that points at something.
    pub fn referent(&mut self) {
        self.referents += 1;
        self.u32(0x0002_0000 + 4 * self.referents);
    }

    pub fn null(&mut self) {
        self.u32(0);
    }

    /// A pointer to a text, which is written by [`Self::flush`].
    pub fn text(&mut self, text: impl Into<String>) {
        self.referent();
        self.deferred.push(text.into());
    }

    pub fn flush(&mut self) {
        for text in std::mem::take(&mut self.deferred) {
            let units = to_utf16_z(&text);
            let count = (units.len() / 2) as u32;
            self.u32(count);
            self.u32(0);
            self.u32(count);
            self.bytes.put_slice(&units);
        }
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.flush();
        self.bytes
    }
}
