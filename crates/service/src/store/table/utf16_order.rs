//! Key strings as bytes whose order is the order of UTF-16 code units, the one in which the service sorts.
//!
//! UTF-8 orders by code point, which differs only in that supplementary characters come last instead of before
//! U+E000. Written as their two surrogates of three bytes each (CESU-8) they come where UTF-16 has them. Keys hold no
//! control characters, so a zero byte ends a partition key and stands before everything that could follow.

use std::borrow::Cow;

pub fn encode(text: &str) -> Cow<'_, [u8]> {
    if text.bytes().all(|byte| byte < 0xF0) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len() * 3 / 2);
    for character in text.chars() {
        if (character as u32) < 0x1_0000 {
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            bytes.extend_from_slice(&[0xED, 0x80 | (*unit >> 6 & 0x3F) as u8, 0x80 | (*unit & 0x3F) as u8]);
        }
    }
    Cow::Owned(bytes)
}

/// None for bytes that `encode` never gives.
pub fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(Cow::Borrowed(text));
    }
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        match rest {
            [0xED, a @ 0xA0..=0xAF, b, 0xED, c @ 0xB0..=0xBF, d, behind @ ..] => {
                let unit = |high: u8, low: u8| 0xD000 | u32::from(high & 0x3F) << 6 | u32::from(low & 0x3F);
                let (high, low) = (unit(*a, *b) - 0xD800, unit(*c, *d) - 0xDC00);
                text.push(char::from_u32(0x1_0000 + (high << 10 | low))?);
                rest = behind;
            }
            _ => {
                let end = rest.windows(2).position(|pair| pair[0] == 0xED && pair[1] >= 0xA0);
                let (plain, behind) = rest.split_at(end.unwrap_or(rest.len()));
                if plain.is_empty() {
                    return None;
                }
                text.push_str(std::str::from_utf8(plain).ok()?);
                rest = behind;
            }
        }
    }
    Some(Cow::Owned(text))
}

/// Both keys of an entity, from what stands in its key behind the generation.
pub fn split(keys: &[u8]) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
    let (partition, row) = halves(keys)?;
    Some((decode(partition)?, decode(row)?))
}

/// The same, still encoded.
pub fn halves(keys: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(0, keys)?;
    Some((keys.get(..end)?, keys.get(end + 1..)?))
}
