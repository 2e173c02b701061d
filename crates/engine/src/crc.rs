//! CRC-64/NVME: the checksum of every chunk, streaming and combinable.

use crc_fast::{CrcAlgorithm, Digest};

/// The reflected polynomial of CRC-64/NVME.
const POLYNOMIAL: u64 = 0x9A6C_9329_AC4B_C9B5;

/// CRC-64/NVME of everything given so far. `Crc64::default()` stands for no bytes at all.
#[derive(Clone)]
pub struct Crc64(Digest);

impl Crc64 {
    pub fn new() -> Self {
        Self(Digest::new(CrcAlgorithm::Crc64Nvme))
    }

    /// Goes on behind bytes whose CRC is already known: `resume(crc(a))` then `update(b)` gives `crc(a + b)`.
    pub fn resume(crc: u64) -> Self {
        // The algorithm's last step inverts every bit; taking it back gives the running state.
        Self(Digest::new_with_init_state(CrcAlgorithm::Crc64Nvme, !crc))
    }

    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn value(&self) -> u64 {
        self.0.finalize()
    }
}

impl Default for Crc64 {
    fn default() -> Self {
        Self::new()
    }
}

/// CRC-64/NVME of `bytes`.
pub fn crc64(bytes: &[u8]) -> u64 {
    crc_fast::checksum(CrcAlgorithm::Crc64Nvme, bytes)
}

/// The CRC of `a + b` from the CRC of each and the length of `b`; no byte is read again.
pub fn crc64_combine(a: u64, b: u64, len_b: u64) -> u64 {
    // Appending n zero bytes multiplies the CRC by x^(8n) modulo the polynomial; the rest is addition.
    let mut product = a;
    let mut power = X8;
    let mut rest = len_b;
    while rest != 0 {
        if rest & 1 == 1 {
            product = multiply(product, power);
        }
        power = multiply(power, power);
        rest >>= 1;
    }
    product ^ b
}

/// x^8 in the reflected notation, where the highest bit stands for x^0.
const X8: u64 = 1 << (63 - 8);

/// The product of two polynomials modulo that of the CRC, in reflected notation.
fn multiply(a: u64, mut b: u64) -> u64 {
    let mut product = 0;
    let mut bit = 1 << 63;
    while bit != 0 {
        if a & bit != 0 {
            product ^= b;
        }
        b = if b & 1 == 1 { (b >> 1) ^ POLYNOMIAL } else { b >> 1 };
        bit >>= 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The catalogue's check value of CRC-64/NVME.
    #[test]
    fn check_value() {
        assert_eq!(crc64(b"123456789"), 0xAE8B_1486_0A79_9888);
    }

    #[test]
    fn streaming_resuming_and_combining_agree_with_one_pass() {
        let bytes: Vec<u8> = (0..200_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let whole = crc64(&bytes);
        for cut in [0, 1, 7, 64, 4_095, 65_536, 131_073, bytes.len()] {
            let (a, b) = bytes.split_at(cut);
            let mut stream = Crc64::new();
            stream.update(a);
            assert_eq!(stream.value(), crc64(a));
            stream.update(b);
            assert_eq!(stream.value(), whole);
            let mut resumed = Crc64::resume(crc64(a));
            resumed.update(b);
            assert_eq!(resumed.value(), whole);
            assert_eq!(crc64_combine(crc64(a), crc64(b), b.len() as u64), whole);
            let theirs =
                crc_fast::checksum_combine(CrcAlgorithm::Crc64Nvme, crc64(a), crc64(b), b.len() as u64);
            assert_eq!(theirs, whole);
        }
    }
}
