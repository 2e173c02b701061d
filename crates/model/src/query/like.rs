//! `LIKE`: `%` for any text, `_` for a character, `[a-f]` and `[^a-f]` for a set of them.

/// So many parts may a pattern have: matching looks at each byte of a text that often at the most.
const PARTS: usize = 256;

#[derive(Clone, Debug)]
pub struct Pattern(Vec<Part>);

#[derive(Clone, Debug)]
enum Part {
    AnyText,
    AnyOne,
    One(char),
    Set { ranges: Vec<(char, char)>, negated: bool },
}

impl Part {
    fn takes(&self, letter: char) -> bool {
        match self {
            Self::AnyText => false,
            Self::AnyOne => true,
            Self::One(own) => *own == letter,
            Self::Set { ranges, negated } => {
                ranges.iter().any(|(first, last)| (*first..=*last).contains(&letter)) != *negated
            }
        }
    }
}

impl Pattern {
    /// `None` for a pattern that makes no sense.
    pub fn parse(text: &str, escape: Option<char>) -> Option<Self> {
        let mut parts = Vec::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            if parts.len() == PARTS {
                return None;
            }
            parts.push(match letter {
                letter if Some(letter) == escape => Part::One(letters.next()?),
                '%' => Part::AnyText,
                '_' => Part::AnyOne,
                '[' => set(&mut letters)?,
                letter => Part::One(letter),
            });
        }
        Some(Self(parts))
    }

    /// Goes back to the last `%` only: that finds a match if there is one.
    pub fn matches(&self, text: &str) -> bool {
        let (mut part, mut rest) = (0, text);
        let mut retry: Option<(usize, &str)> = None;
        loop {
            let letter = rest.chars().next();
            match (self.0.get(part), letter) {
                (Some(Part::AnyText), _) => {
                    part += 1;
                    retry = Some((part, rest));
                }
                (Some(one), Some(letter)) if one.takes(letter) => {
                    part += 1;
                    rest = &rest[letter.len_utf8()..];
                }
                (None, None) => return true,
                _ => {
                    let Some((after, from)) = retry else { return false };
                    let Some(skipped) = from.chars().next() else { return false };
                    rest = &from[skipped.len_utf8()..];
                    part = after;
                    retry = Some((after, rest));
                }
            }
        }
    }
}

fn set(letters: &mut std::str::Chars<'_>) -> Option<Part> {
    let mut found: Vec<char> = Vec::new();
    loop {
        match letters.next()? {
            ']' if !found.is_empty() => break,
            letter if found.len() < PARTS => found.push(letter),
            _ => return None,
        }
    }
    let negated = found.first() == Some(&'^') && found.len() > 1;
    let mut rest = &found[usize::from(negated)..];
    let mut ranges = Vec::new();
    while let Some(first) = rest.first() {
        match rest {
            [first, '-', last, behind @ ..] => {
                ranges.push((*first, *last));
                rest = behind;
            }
            _ => {
                ranges.push((*first, *first));
                rest = &rest[1..];
            }
        }
    }
    Some(Part::Set { ranges, negated })
}
