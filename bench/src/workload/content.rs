//! What is stored: not all alike, so that nothing on the way gains by compressing.

use bytes::Bytes;

pub fn content(size: usize) -> Bytes {
    noise(size, |byte| byte)
}

/// Letters and digits only: the same in XML, in JSON and in an address.
pub fn text(size: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let bytes = noise(size, |byte| ALPHABET[usize::from(byte) % ALPHABET.len()]);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn noise(size: usize, letter: impl Fn(u8) -> u8) -> Bytes {
    let mut state = 0x9e37_79b9_u32;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        letter(state.to_le_bytes()[0])
    };
    (0..size).map(next).collect::<Vec<u8>>().into()
}
