//! Frames over TCP: four bytes, of which three are a length, and then the messages (MS-SMB2 2.1).

use std::io;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

pub const PREFIX: usize = 4;
/// What three bytes can say.
pub const LENGTH_MAX: usize = 0x00FF_FFFF;
/// A keep-alive of the session service that the framing comes from.
const KEEP_ALIVE: u8 = 0x85;
/// How much of a frame is read by one step.
const STEP: usize = 1024 * 1024;

pub fn prefix(length: usize) -> [u8; PREFIX] {
    let [_, high, middle, low] = (length as u32).to_be_bytes();
    [0, high, middle, low]
}

/// The length of the frame that a prefix announces; none for a keep-alive.
pub fn announced(prefix: [u8; PREFIX], longest: usize) -> io::Result<Option<usize>> {
    let [kind, high, middle, low] = prefix;
    let length = u32::from_be_bytes([0, high, middle, low]) as usize;
    match kind {
        0 if length <= longest => Ok(Some(length)),
        KEEP_ALIVE if length == 0 => Ok(None),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "a frame of a kind or length that is not taken")),
    }
}

/// The prefix of the next frame; none where the client closed the connection between two frames.
pub async fn read_prefix(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<[u8; PREFIX]>> {
    let mut prefix = [0; PREFIX];
    let [first, rest @ ..] = &mut prefix;
    if from.read(std::slice::from_mut(first)).await? == 0 {
        return Ok(None);
    }
    from.read_exact(rest).await?;
    Ok(Some(prefix))
}

/// A frame that has begun arrives within `patience` for each step, or the connection ends. The caller holds the memory of all of it:
/// it is taken at once, and not moved as the frame grows.
pub async fn read_body(
    from: &mut (impl AsyncRead + Unpin),
    length: usize,
    patience: Duration,
) -> io::Result<BytesMut> {
    let mut body = BytesMut::with_capacity(length);
    while body.len() < length {
        let wanted = (length - body.len()).min(STEP);
        let mut limited = (&mut *from).take(wanted as u64);
        let read = async {
            let end = body.len() + wanted;
            while body.len() < end {
                if limited.read_buf(&mut body).await? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            io::Result::Ok(())
        };
        timeout(patience, read).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    }
    Ok(body)
}
