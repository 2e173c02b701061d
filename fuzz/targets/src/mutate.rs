//! A mutator for machines without nightly: seeded, so that a failure is found again by its number.

pub struct Mutator {
    state: u64,
}

/// What the decoders look for; bytes alone would hardly ever spell it.
const WORDS: [&[u8]; 36] = [
    b"/",
    b"//",
    b"%2F",
    b"%",
    b"%00",
    b"%C3",
    b"?",
    b"&",
    b"=",
    b"+",
    b"\0",
    b"\r\n",
    b"\n\n",
    b"..",
    b":",
    b"\"",
    b"'",
    b"<",
    b"/>",
    b"<!DOCTYPE a>",
    b"&amp;",
    b"&#x0;",
    b"]]>",
    b"*",
    b"bytes=",
    b"-",
    b"0",
    b"18446744073709551615",
    b"18446744073709551616",
    b"9999-12-31T23:59:59.9999999Z",
    b"0001-01-01",
    b"\xFF\xFF\xFF\xFF\xFF",
    b"\xEF\xBB\xBF",
    b"comp=list",
    b"-secondary",
    b"\xF0\x9F\x92\xA7",
];

impl Mutator {
    pub fn new(seed: u64) -> Self {
        Self { state: seed ^ 0x9E37_79B9_7F4A_7C15 }
    }

    /// SplitMix64.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound.max(1) as u64) as usize
    }

    /// A few changes to one of the seeds.
    pub fn input(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut data = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(5) {
            self.change(&mut data, seeds);
        }
        data
    }

    fn change(&mut self, data: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = self.below(data.len() + 1);
        let end = (at + 1 + self.below(12)).min(data.len());
        match self.below(7) {
            0 if at < data.len() => data[at] ^= 1 << self.below(8),
            1 if at < data.len() => data[at] = self.number() as u8,
            2 if at < end => drop(data.drain(at..end)),
            3 if at < end => {
                let again = data[at..end].to_vec();
                data.splice(at..at, again);
            }
            4 => data.truncate(at),
            5 => {
                let other = &seeds[self.below(seeds.len())];
                let from = self.below(other.len() + 1);
                let to = (from + self.below(40)).min(other.len());
                data.splice(at..at, other[from..to].iter().copied());
            }
            _ => {
                let word = WORDS[self.below(WORDS.len())];
                data.splice(at..at, word.iter().copied());
            }
        }
    }
}
