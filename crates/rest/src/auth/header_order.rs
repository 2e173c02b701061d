//! The order in which the service sorts `x-ms-*` names before it signs them: a linguistic comparison in which
//! hyphens and apostrophes count only between names that are otherwise equal. Clients either emulate it or
//! sort by byte.

use std::cmp::Ordering;

const IGNORED: u16 = 0;
const PAST_THE_END: u16 = 1;

/// What may stand in a header's name besides letters and digits, in ascending weight; hyphen and apostrophe
/// have none.
const PUNCTUATION: &[u8] = b"!#$%&*.^_`|~+";

const FIRST_PASS: [u16; 256] = first_pass();

const fn first_pass() -> [u16; 256] {
    let mut weights = [IGNORED; 256];
    let mut next = PAST_THE_END + 1;
    let mut at = 0;
    while at < PUNCTUATION.len() {
        weights[PUNCTUATION[at] as usize] = next;
        next += 1;
        at += 1;
    }
    let mut digit = b'0';
    while digit <= b'9' {
        weights[digit as usize] = next;
        next += 1;
        digit += 1;
    }
    let mut letter = b'a';
    while letter <= b'z' {
        weights[letter as usize] = next;
        weights[letter.to_ascii_uppercase() as usize] = next;
        next += 1;
        letter += 1;
    }
    weights
}

fn second_pass(byte: u8) -> u16 {
    match byte {
        b'\'' => 0x8012,
        b'-' => 0x8212,
        _ => IGNORED,
    }
}

/// Compares two lower-case header names as the service does.
pub fn compare(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    // Equal bytes move both sides together in either pass, so the common beginning decides nothing.
    let common = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let first = pass(a, b, common, |byte| FIRST_PASS[usize::from(byte)], false);
    first.then_with(|| pass(a, b, common, second_pass, true))
}

fn pass(a: &[u8], b: &[u8], start: usize, weight: impl Fn(u8) -> u16, aligned: bool) -> Ordering {
    let (mut i, mut j) = (start, start);
    loop {
        // In the aligned pass the side that had to skip ahead comes first.
        if aligned && i != j {
            return j.cmp(&i);
        }
        let left = a.get(i).map_or(PAST_THE_END, |byte| weight(*byte));
        let right = b.get(j).map_or(PAST_THE_END, |byte| weight(*byte));
        match (left, right) {
            (PAST_THE_END, PAST_THE_END) => return Ordering::Equal,
            _ if left == right => {
                i += 1;
                j += 1;
            }
            (IGNORED, _) => i += 1,
            (_, IGNORED) => j += 1,
            _ => return left.cmp(&right),
        }
    }
}

#[cfg(test)]
mod tests;
