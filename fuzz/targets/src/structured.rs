//! Structured messages: any bytes are read or refused without harm, and what is written around bytes is read as them.

use bytes::Bytes;
use lazuli_rest::structured::{Decoder, Encoder, Problem};

pub fn run(data: &[u8]) {
    let Some((&[frame, segment, low, high], rest)) = data.split_first_chunk() else { return };
    let frame = usize::from(frame).max(1);
    let announced = u64::from(u16::from_le_bytes([low, high]));
    if let Ok(read) = decode(rest, announced, frame) {
        assert_eq!(read.len() as u64, announced, "as many bytes as were announced");
        // However it is cut up, it is the same message.
        assert_eq!(decode(rest, announced, rest.len()).unwrap(), read);
    }
    let message = encode(rest, u64::from(segment), frame);
    assert_eq!(decode(&message, rest.len() as u64, frame).unwrap(), rest);
    // The first byte of the rest tells which byte of the message goes wrong.
    if let Some(&at) = rest.first() {
        let mut wrong = message;
        let at = usize::from(at) * 7 % wrong.len();
        wrong[at] ^= 1 << (low % 8);
        assert!(decode(&wrong, rest.len() as u64, frame).is_err(), "a wrong byte went unnoticed at {at}");
    }
}

fn encode(bytes: &[u8], segment: u64, frame: usize) -> Vec<u8> {
    let mut encoder = Encoder::with_segments(bytes.len() as u64, segment);
    let length = encoder.message_length();
    let mut message = Vec::new();
    let mut frames = bytes.chunks(frame);
    loop {
        while let Some(out) = encoder.pull() {
            message.extend_from_slice(&out);
        }
        match frames.next() {
            Some(frame) => encoder.push(Bytes::copy_from_slice(frame)),
            None => break,
        }
    }
    assert_eq!(message.len() as u64, length);
    message
}

fn decode(message: &[u8], announced: u64, frame: usize) -> Result<Vec<u8>, Problem> {
    let mut decoder = Decoder::new(announced, Some(message.len() as u64));
    let mut bytes = Vec::new();
    for frame in message.chunks(frame.max(1)) {
        decoder.push(Bytes::copy_from_slice(frame));
        while let Some(read) = decoder.pull()? {
            bytes.extend_from_slice(&read);
            assert!(bytes.len() as u64 <= announced, "more bytes than were announced");
        }
    }
    decoder.finish()?;
    Ok(bytes)
}
