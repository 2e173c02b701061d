//! Security identifiers: who.

use std::fmt;

/// The most that one may hold ([MS-DTYP] section 2.4.2).
const SUB_AUTHORITIES: usize = 15;
const AUTHORITY_MAX: u64 = (1 << 48) - 1;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sid {
    /// 48 bits.
    authority: u64,
    sub_authorities: Vec<u32>,
}

/// The names that SDDL has for those which are the same everywhere. Those of a domain are not here: there is none.
const NAMES: [(&str, u64, &[u32]); 47] = [
    ("WD", 1, &[0]),
    ("CO", 3, &[0]),
    ("CG", 3, &[1]),
    ("OW", 3, &[4]),
    ("NU", 5, &[2]),
    ("IU", 5, &[4]),
    ("SU", 5, &[6]),
    ("AN", 5, &[7]),
    ("ED", 5, &[9]),
    ("PS", 5, &[10]),
    ("AU", 5, &[11]),
    ("RC", 5, &[12]),
    ("SY", 5, &[18]),
    ("LS", 5, &[19]),
    ("NS", 5, &[20]),
    ("BA", 5, &[32, 544]),
    ("BU", 5, &[32, 545]),
    ("BG", 5, &[32, 546]),
    ("PU", 5, &[32, 547]),
    ("AO", 5, &[32, 548]),
    ("SO", 5, &[32, 549]),
    ("PO", 5, &[32, 550]),
    ("BO", 5, &[32, 551]),
    ("RE", 5, &[32, 552]),
    ("RU", 5, &[32, 554]),
    ("RD", 5, &[32, 555]),
    ("NO", 5, &[32, 556]),
    ("MU", 5, &[32, 558]),
    ("LU", 5, &[32, 559]),
    ("IS", 5, &[32, 568]),
    ("CY", 5, &[32, 569]),
    ("ER", 5, &[32, 573]),
    ("CD", 5, &[32, 574]),
    ("RA", 5, &[32, 575]),
    ("ES", 5, &[32, 576]),
    ("MS", 5, &[32, 577]),
    ("HA", 5, &[32, 578]),
    ("AA", 5, &[32, 579]),
    ("RM", 5, &[32, 580]),
    ("WR", 5, &[33]),
    ("AC", 15, &[2, 1]),
    ("LW", 16, &[4096]),
    ("ME", 16, &[8192]),
    ("MP", 16, &[8448]),
    ("HI", 16, &[12288]),
    ("SI", 16, &[16384]),
    ("SS", 18, &[2]),
];

impl Sid {
    /// The two letters of a well-known one, or `S-1-...`.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some((_, authority, numbers)) = NAMES.iter().find(|(name, ..)| name.eq_ignore_ascii_case(text))
        {
            return Some(Self { authority: *authority, sub_authorities: numbers.to_vec() });
        }
        let start = text.get(..4).filter(|start| start.eq_ignore_ascii_case("S-1-"))?;
        let mut numbers = text.get(start.len()..)?.split('-');
        let authority = number(numbers.next()?)?;
        let sub_authorities: Vec<u32> = numbers
            .map(|text| number(text).and_then(|number| number.try_into().ok()))
            .collect::<Option<_>>()?;
        Self::new(authority, sub_authorities)
    }

    pub fn new(authority: u64, sub_authorities: Vec<u32>) -> Option<Self> {
        let good = authority <= AUTHORITY_MAX && (1..=SUB_AUTHORITIES).contains(&sub_authorities.len());
        good.then_some(Self { authority, sub_authorities })
    }

    /// The identifier at the beginning of the bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&[revision, count, a, b, c, d, e, f], rest) = bytes.split_first_chunk::<8>()?;
        if revision != 1 {
            return None;
        }
        let authority = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        let numbers = rest.get(..4 * usize::from(count))?;
        let sub_authorities =
            numbers.chunks_exact(4).filter_map(|four| four.try_into().ok()).map(u32::from_le_bytes).collect();
        Self::new(authority, sub_authorities)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        // At most fifteen, by construction.
        out.extend_from_slice(&[1, self.sub_authorities.len() as u8]);
        out.extend(self.authority.to_be_bytes().into_iter().skip(2));
        for number in &self.sub_authorities {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    pub(super) fn length(&self) -> usize {
        8 + 4 * self.sub_authorities.len()
    }
}

/// Decimal, or hexadecimal behind `0x`.
fn number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let good = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    good.then(|| u64::from_str_radix(digits, radix).ok()).flatten()
}

/// The two letters of a well-known one, or `S-1-...`.
impl fmt::Display for Sid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_it = |(_, authority, numbers): &&(&str, u64, &[u32])| {
            *authority == self.authority && *numbers == self.sub_authorities
        };
        if let Some((name, ..)) = NAMES.iter().find(is_it) {
            return f.write_str(name);
        }
        match u32::try_from(self.authority) {
            Ok(authority) => write!(f, "S-1-{authority}")?,
            Err(_) => write!(f, "S-1-0x{:012x}", self.authority)?,
        }
        self.sub_authorities.iter().try_for_each(|number| write!(f, "-{number}"))
    }
}
