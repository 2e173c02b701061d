//! `LIKE`: `%` for any text, `_` for a character, `[a-f]` and `[^a-f]` for a set of them.
//!
//! A pattern is cut at each `%` into segments, and each segment is looked for behind the one before, where it is found first:
//! that finds a match if there is one, and looks at each character of the text a fixed number of times.

/// So many parts may a pattern have, and so many characters its sets together.
const PARTS: usize = 256;
const WORDS: usize = PARTS / u64::BITS as usize;

#[derive(Clone, Debug)]
pub struct Pattern {
    first: Segment,
    /// What follows the first `%`, if there is one.
    rest: Option<Rest>,
}

#[derive(Clone, Debug)]
struct Rest {
    middle: Vec<Search>,
    last: Segment,
}

/// What stands between two `%`: a part for each character.
type Segment = Vec<Part>;

#[derive(Clone, Debug)]
enum Part {
    AnyOne,
    One(char),
    Set { ranges: Vec<(char, char)>, negated: bool },
}

impl Part {
    fn takes(&self, letter: char) -> bool {
        match self {
            Self::AnyOne => true,
            Self::One(own) => *own == letter,
            Self::Set { ranges, negated } => {
                ranges.iter().any(|(first, last)| (*first..=*last).contains(&letter)) != *negated
            }
        }
    }

    /// The characters at which it may begin or cease to take them.
    fn edges(&self, edges: &mut Vec<u32>) {
        let mut edge = |first: char, last: char| edges.extend([u32::from(first), u32::from(last) + 1]);
        match self {
            Self::AnyOne => {}
            Self::One(letter) => edge(*letter, *letter),
            Self::Set { ranges, .. } => ranges.iter().for_each(|(first, last)| edge(*first, *last)),
        }
    }
}

impl Pattern {
    /// `None` for a pattern that makes no sense.
    pub fn parse(text: &str, escape: Option<char>) -> Option<Self> {
        let mut segments = vec![Segment::new()];
        let mut letters = text.chars();
        let (mut parts, mut in_sets) = (0, 0);
        while let Some(letter) = letters.next() {
            parts += 1;
            if parts > PARTS {
                return None;
            }
            let part = match letter {
                letter if Some(letter) == escape => Part::One(letters.next()?),
                '%' => {
                    segments.push(Segment::new());
                    continue;
                }
                '_' => Part::AnyOne,
                '[' => set(&mut letters, &mut in_sets)?,
                letter => Part::One(letter),
            };
            segments.last_mut()?.push(part);
        }
        let mut segments = segments.into_iter();
        let first = segments.next()?;
        let mut middle: Vec<Segment> = segments.collect();
        let rest = middle.pop().map(|last| Rest {
            middle: middle.into_iter().filter(|segment| !segment.is_empty()).map(Search::new).collect(),
            last,
        });
        Some(Self { first, rest })
    }

    pub fn matches(&self, text: &str) -> bool {
        let mut letters = text.chars();
        if !self.first.iter().all(|part| letters.next().is_some_and(|letter| part.takes(letter))) {
            return false;
        }
        let Some(Rest { middle, last }) = &self.rest else { return letters.next().is_none() };
        let mut rest = letters.as_str();
        for segment in middle {
            let Some(end) = segment.end(rest) else { return false };
            rest = rest.get(end..).unwrap_or_default();
        }
        let mut letters = rest.chars().rev();
        last.iter().rev().all(|part| letters.next().is_some_and(|letter| part.takes(letter)))
    }

    /// The work of matching a text of so many bytes.
    pub fn work(&self, length: usize) -> usize {
        let middle = self.rest.as_ref().map_or(&[][..], |rest| &rest.middle);
        let each = if middle.iter().any(|search| matches!(search, Search::Classes(_))) { 8 } else { 2 };
        if middle.is_empty() { PARTS.min(length) } else { length.saturating_mul(each) }
    }

    /// The work of reading a pattern of so many bytes.
    pub fn parsing(length: usize) -> usize {
        let letters = length.min(2 * PARTS);
        4 * 1024 + 2 * letters * letters
    }
}

/// A segment that may stand anywhere.
#[derive(Clone, Debug)]
enum Search {
    Text(String),
    Classes(Box<Classes>),
}

impl Search {
    fn new(segment: Segment) -> Self {
        let letter = |part: &Part| match part {
            Part::One(letter) => Some(*letter),
            _ => None,
        };
        match segment.iter().map(letter).collect() {
            Some(text) => Self::Text(text),
            None => Self::Classes(Box::new(Classes::new(&segment))),
        }
    }

    /// Where the first occurrence ends.
    fn end(&self, text: &str) -> Option<usize> {
        match self {
            Self::Text(wanted) => text.find(wanted.as_str()).map(|at| at + wanted.len()),
            Self::Classes(classes) => classes.end(text),
        }
    }
}

/// A bit for each part of a segment.
type Parts = [u64; WORDS];

/// Which parts take a character: characters between two edges are taken by the same ones.
#[derive(Clone, Debug)]
struct Classes {
    length: usize,
    ascii: [Parts; 128],
    /// From which character on, in order.
    classes: Vec<(u32, Parts)>,
}

impl Classes {
    fn new(segment: &Segment) -> Self {
        let mut edges = vec![0];
        segment.iter().for_each(|part| part.edges(&mut edges));
        edges.sort_unstable();
        edges.dedup();
        let taken = |edge: u32| {
            let mut parts = [0; WORDS];
            // An edge behind the last character of a range may be none itself; the next that is one is in the same class,
            // unless there is another edge first.
            let letter = char::from_u32(edge).or_else(|| (edge <= 0xDFFF).then_some('\u{E000}'));
            if let Some(letter) = letter {
                for (at, part) in segment.iter().enumerate() {
                    parts[at / 64] |= u64::from(part.takes(letter)) << (at % 64);
                }
            }
            parts
        };
        let classes: Vec<(u32, Parts)> = edges.into_iter().map(|edge| (edge, taken(edge))).collect();
        let mut found = Self { length: segment.len(), ascii: [[0; WORDS]; 128], classes };
        for letter in 0..128 {
            found.ascii[letter as usize] = found.class(letter);
        }
        found
    }

    fn class(&self, letter: u32) -> Parts {
        let behind = self.classes.partition_point(|(from, _)| *from <= letter);
        self.classes.get(behind.wrapping_sub(1)).map_or([0; WORDS], |(_, parts)| *parts)
    }

    /// Keeps in mind for each part whether the text just read matches up to it.
    fn end(&self, text: &str) -> Option<usize> {
        let last = self.length - 1;
        let mut matched: Parts = [0; WORDS];
        for (at, letter) in text.char_indices() {
            let takes = match self.ascii.get(letter as usize) {
                Some(parts) => *parts,
                None => self.class(letter.into()),
            };
            let mut begins = 1;
            for (word, takes) in matched.iter_mut().zip(takes) {
                let next = *word >> 63;
                *word = (*word << 1 | begins) & takes;
                begins = next;
            }
            if matched[last / 64] >> (last % 64) & 1 == 1 {
                return Some(at + letter.len_utf8());
            }
        }
        None
    }
}

fn set(letters: &mut std::str::Chars<'_>, in_sets: &mut usize) -> Option<Part> {
    let mut found: Vec<char> = Vec::new();
    loop {
        match letters.next()? {
            ']' if !found.is_empty() => break,
            letter if *in_sets < PARTS => found.push(letter),
            _ => return None,
        }
        *in_sets += 1;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries every way, as the definition says.
    fn plainly(pattern: &[char], text: &[char]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, _) => text.is_empty(),
            (Some(('%', rest)), _) => (0..=text.len()).any(|skipped| plainly(rest, &text[skipped..])),
            (Some((_, _)), None) => false,
            (Some(('[', _)), Some((letter, behind))) => {
                let end = pattern.iter().position(|letter| *letter == ']').expect("an end");
                let (negated, set) = match &pattern[1..end] {
                    ['^', set @ ..] => (true, set),
                    set => (false, set),
                };
                set.contains(letter) != negated && plainly(&pattern[end + 1..], behind)
            }
            (Some((one, rest)), Some((letter, behind))) => {
                (*one == '_' || one == letter) && plainly(rest, behind)
            }
        }
    }

    #[test]
    fn all_short_patterns_and_texts_match_as_they_should() {
        let pieces = ["%", "_", "a", "é", "[aé]", "[^a]"];
        let mut patterns = vec![String::new()];
        let mut all = Vec::new();
        for _ in 0..5 {
            patterns =
                patterns.iter().flat_map(|from| pieces.map(|piece| format!("{from}{piece}"))).collect();
            all.extend(patterns.iter().cloned());
        }
        let texts: Vec<String> = (0..3_u32.pow(5))
            .flat_map(|number| {
                let letter = |at: u32| ['a', 'é', '\u{1F600}'][(number / 3_u32.pow(at) % 3) as usize];
                let whole: String = (0..5).map(letter).collect();
                [whole.clone(), whole.chars().take(number as usize % 5).collect()]
            })
            .collect();
        let mut found = 0;
        for (at, pattern) in all.iter().enumerate() {
            let read = Pattern::parse(pattern, None).expect("a pattern");
            let letters: Vec<char> = pattern.chars().collect();
            for text in texts.iter().skip(at % 23).step_by(23) {
                let expected = plainly(&letters, &text.chars().collect::<Vec<_>>());
                assert_eq!(read.matches(text), expected, "{text} LIKE {pattern}");
                found += usize::from(expected);
            }
        }
        assert!(found > 10_000, "{found}");
    }

    #[test]
    fn ranges_end_where_they_say_also_beside_what_is_no_character() {
        for (pattern, taken, not) in [
            ("%[a-c]x%", "..bx..", "..dx.."),
            ("%[\u{D7F0}-\u{D7FF}]x%", "\u{D7FF}x", "\u{E000}x"),
            ("%[^\u{D7F0}-\u{D7FF}]x%", "\u{E000}x", "\u{D7FF}x"),
            ("%[\u{E000}-\u{10FFFF}]x%", "\u{10FFFF}x", "\u{D7FF}x"),
            ("%[z-a]x%", "", "mx"),
            ("%[^z-a]x%", "mx", "x"),
        ] {
            let read = Pattern::parse(pattern, None).expect("a pattern");
            assert!(taken.is_empty() || read.matches(taken), "{taken} LIKE {pattern}");
            assert!(!read.matches(not), "{not} LIKE {pattern}");
        }
    }

    /// Looked at from every character anew, each of these texts would be looked at a thousand million times.
    #[test]
    fn long_texts_are_looked_at_once() {
        let text = "a".repeat(4 * 1024 * 1024);
        for pattern in [
            format!("%{}b%", "a".repeat(250)),
            format!("%{}b%", "a_".repeat(125)),
            format!("%{}b", "%a".repeat(120)),
            format!("%{}[b-z]%", "[^b]".repeat(60)),
        ] {
            let read = Pattern::parse(&pattern, None).expect("a pattern");
            assert!(!read.matches(&text), "{pattern}");
            assert!(read.matches(&format!("{text}b")), "{pattern}");
        }
    }

    #[test]
    fn parts_and_sets_are_counted() {
        assert!(Pattern::parse(&"a".repeat(256), None).is_some());
        assert!(Pattern::parse(&"a".repeat(257), None).is_none());
        assert!(Pattern::parse(&"%".repeat(257), None).is_none());
        assert!(Pattern::parse(&"[abcd]".repeat(64), None).is_some());
        assert!(Pattern::parse(&"[abcd]".repeat(65), None).is_none());
    }
}
