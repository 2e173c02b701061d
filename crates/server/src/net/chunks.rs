//! Where a chunked body ends. hyper reads the chunks and ends the connection when they are not as they should be, so only
//! bodies that hyper accepts need to be followed exactly.

/// Follows the bytes of one chunked body.
#[derive(Debug)]
pub enum Chunks {
    /// In the line that tells the size of a chunk; `digits` until something else than a digit has come.
    Size { size: u64, digits: bool },
    /// In a chunk and the line end behind it.
    Data { left: u64 },
    /// Behind the last chunk: the byte before, and how many bytes of the line have come.
    Trailer { before: u8, length: usize },
}

const SIZE: Chunks = Chunks::Size { size: 0, digits: true };
const LINE: Chunks = Chunks::Trailer { before: 0, length: 0 };

impl Default for Chunks {
    fn default() -> Self {
        SIZE
    }
}

impl Chunks {
    /// Gives what is behind the body, once the body has ended.
    pub fn read<'a>(&mut self, mut bytes: &'a [u8]) -> Option<&'a [u8]> {
        loop {
            if let Self::Data { left } = self {
                let now = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= now as u64;
                bytes = &bytes[now..];
                if *left == 0 {
                    *self = SIZE;
                }
            }
            let (&byte, rest) = bytes.split_first()?;
            bytes = rest;
            if self.line(byte) {
                return Some(bytes);
            }
        }
    }

    /// A byte of a line; true when it is the last of the body.
    fn line(&mut self, byte: u8) -> bool {
        match self {
            Self::Size { size: 0, .. } if byte == b'\n' => *self = LINE,
            Self::Size { size, .. } if byte == b'\n' => *self = Self::Data { left: size.saturating_add(2) },
            Self::Size { size, digits } => match char::from(byte).to_digit(16) {
                Some(digit) if *digits => *size = size.saturating_mul(16).saturating_add(u64::from(digit)),
                _ => *digits = false,
            },
            // As hyper has it: here only both characters end a line.
            Self::Trailer { before: b'\r', length } if byte == b'\n' => {
                if *length == 1 {
                    return true;
                }
                *self = LINE;
            }
            Self::Trailer { before, length } => {
                *before = byte;
                *length = length.saturating_add(1);
            }
            Self::Data { .. } => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_ends_where_its_last_line_ends() {
        for body in [
            "0\r\n\r\n",
            "5\r\na\nb\n\n\r\n0\r\n\r\n",
            "A;x=1\r\n0\r\n\r\n0\r\n\r\n\r\n0;y\r\n\r\n",
            "1\r\na\r\n01 \r\nb\r\n00\r\nName: value\r\nOther: a\n\r\n\r\n",
        ] {
            let bytes = [body.as_bytes(), b"GET"].concat();
            assert_eq!(Chunks::default().read(&bytes), Some(&b"GET"[..]), "{body:?}");
            let mut slow = Chunks::default();
            let ended = bytes.iter().position(|byte| slow.read(&[*byte]).is_some());
            assert_eq!(ended, Some(body.len() - 1), "{body:?}");
        }
    }

    #[test]
    fn sizes_that_no_number_holds_never_end() {
        let size = "f".repeat(40);
        assert_eq!(Chunks::default().read(format!("{size}\r\n0\r\n\r\n").as_bytes()), None);
    }
}
