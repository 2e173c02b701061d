//! The two transport checks of the protocol as values; who computes them is not this crate's business.

/// An MD5 digest, base64 on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Md5(pub [u8; 16]);

/// CRC-64/NVME; on the wire the base64 of its eight bytes, least significant first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Crc64(pub u64);

impl Crc64 {
    pub const fn to_wire(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }

    pub const fn from_wire(bytes: [u8; 8]) -> Self {
        Crc64(u64::from_le_bytes(bytes))
    }
}
