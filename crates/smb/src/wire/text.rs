//! Text on the wire is UTF-16, least significant byte first.

use crate::status::Malformed;

/// Lone surrogates are refused: names are kept as UTF-8.
pub fn utf16(bytes: &[u8]) -> Result<String, Malformed> {
    let (units, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(Malformed);
    }
    let units = units.iter().map(|unit| u16::from_le_bytes(*unit));
    char::decode_utf16(units).collect::<Result<String, _>>().map_err(|_| Malformed)
}

pub fn to_utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// With the zero behind it, as NDR and some structures want.
pub fn to_utf16_z(text: &str) -> Vec<u8> {
    text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
}
