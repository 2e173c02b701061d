use bytes::Bytes;
use proptest::prelude::*;

use super::*;

fn encode(bytes: &[u8], segment: u64, frame: usize) -> Vec<u8> {
    let mut encoder = Encoder::with_segments(bytes.len() as u64, segment);
    let length = encoder.message_length();
    let mut message = Vec::new();
    let drain = |encoder: &mut Encoder, message: &mut Vec<u8>| {
        while let Some(out) = encoder.pull() {
            message.extend_from_slice(&out);
        }
    };
    drain(&mut encoder, &mut message);
    for frame in bytes.chunks(frame) {
        encoder.push(Bytes::copy_from_slice(frame));
        drain(&mut encoder, &mut message);
    }
    assert_eq!(message.len() as u64, length, "as announced");
    message
}

fn decode(message: &[u8], announced: u64, frame: usize) -> Result<Vec<u8>, Problem> {
    let mut decoder = Decoder::new(announced, Some(message.len() as u64));
    let mut bytes = Vec::new();
    for frame in message.chunks(frame) {
        decoder.push(Bytes::copy_from_slice(frame));
        while let Some(read) = decoder.pull()? {
            bytes.extend_from_slice(&read);
        }
    }
    decoder.finish()?;
    Ok(bytes)
}

/// The vector of the contract, and the message of nothing.
#[test]
fn messages_are_as_the_contract_has_them() {
    let hello = [
        &b"\x01\x2c\0\0\0\0\0\0\0\x01\0\x01\0"[..],
        b"\x01\0\x05\0\0\0\0\0\0\0hello\x57\x42\x52\x06\x70\x85\x77\x33",
        b"\x57\x42\x52\x06\x70\x85\x77\x33",
    ]
    .concat();
    assert_eq!(encode(b"hello", 4 << 20, 2), hello);
    assert_eq!(decode(&hello, 5, 3), Ok(b"hello".to_vec()));
    let nothing = encode(b"", 4 << 20, 1);
    assert_eq!(nothing.len(), HEADER + SEGMENT_HEADER + 2 * CHECKSUM);
    assert_eq!(decode(&nothing, 0, 5), Ok(Vec::new()));
}

/// However long the bytes are, their segments can be counted.
#[test]
fn long_messages_have_long_segments() {
    for length in
        [0, 1, 4 << 20, (4 << 20) + 1, u64::from(u16::MAX) << 22, (u64::from(u16::MAX) << 22) + 1, 1 << 47]
    {
        let mut encoder = Encoder::new(length);
        let header = encoder.pull().expect("a header");
        let count = u16::from_le_bytes([header[11], header[12]]);
        assert!(count >= 1);
        let framing = 21 + 18 * u64::from(count);
        assert_eq!(encoder.message_length(), length + framing);
    }
}

#[test]
fn what_is_wrong_is_named() {
    let good = encode(b"some bytes", 4, 100);
    let with = |at: usize, byte: u8| {
        let mut bad = good.clone();
        bad[at] = byte;
        decode(&bad, 10, 7)
    };
    let malformed = |result: Result<Vec<u8>, Problem>| matches!(result, Err(Problem::Malformed(_)));
    assert!(malformed(with(0, 2)), "version");
    assert!(malformed(with(1, 9)), "length of the message");
    assert!(malformed(with(9, 0)), "no checksums");
    assert!(malformed(with(11, 0)), "no segments");
    assert!(malformed(with(11, 9)), "more segments than fit");
    assert!(malformed(with(13, 2)), "number of a segment");
    assert!(malformed(with(15, 200)), "length of a segment");
    assert!(matches!(with(23, b'x'), Err(Problem::Crc64 { .. })), "a byte");
    assert!(matches!(with(27, 0), Err(Problem::Crc64 { .. })), "the checksum of a segment");
    assert!(matches!(with(good.len() - 1, 0), Err(Problem::Crc64 { .. })), "the checksum of all");
    assert!(malformed(decode(&good, 9, 100)), "another length of the content");
    assert!(malformed(decode(&good[..good.len() - 1], 10, 100)), "too short");
    assert!(malformed(decode(&[&good[..], b"x"].concat(), 10, 100)), "too long");
}

proptest! {
    /// What is encoded is decoded, however it is cut up; and no single byte can be changed without notice.
    #[test]
    fn what_is_encoded_is_decoded(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        segment in 1u64..300,
        frames in (1usize..200, 1usize..200),
        damage in (any::<prop::sample::Index>(), 1u8..),
    ) {
        let mut message = encode(&bytes, segment, frames.0);
        prop_assert_eq!(decode(&message, bytes.len() as u64, frames.1), Ok(bytes.clone()));
        let at = damage.0.index(message.len());
        message[at] ^= damage.1;
        prop_assert!(decode(&message, bytes.len() as u64, frames.1).is_err(), "byte {}", at);
    }

    #[test]
    fn nothing_makes_it_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        announced in any::<u64>(),
        frame in 1usize..50,
    ) {
        let _ = decode(&bytes, announced, frame);
    }
}
