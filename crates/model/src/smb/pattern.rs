//! Patterns of directory queries: the wildcards of DOS ([MS-FSA] section 2.1.4.4). Letters are compared as names are: what is
//! given here is in upper case already.

/// `*` any number of characters; `?` one; `<` any number up to the last dot; `>` one, or none at a dot or at the end; `"` a dot,
/// or nothing at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DosPattern(Vec<char>);

/// As long as names are.
const LONGEST: usize = 255;

impl DosPattern {
    /// `None` for what is no pattern: one of its characters can be in no name, or it is longer than any name.
    pub fn new(folded: &str) -> Option<Self> {
        let bad = |c: char| c.is_control() || matches!(c, '\\' | '/' | ':' | '|');
        if folded.is_empty() || folded.chars().any(bad) || folded.chars().nth(LONGEST).is_some() {
            return None;
        }
        let mut chars: Vec<char> = folded.chars().collect();
        // Several of them match what one does.
        chars.dedup_by(|next, before| *next == '*' && *before == '*');
        Some(Self(chars))
    }

    /// Matches every name.
    pub fn all() -> Self {
        Self(vec!['*'])
    }

    pub fn is_all(&self) -> bool {
        self.0 == ['*']
    }

    /// What every name that matches begins with.
    pub fn prefix(&self) -> String {
        self.0.iter().take_while(|c| !matches!(c, '*' | '?' | '<' | '>' | '"')).collect()
    }

    /// Whether only one name can match, which is [`Self::prefix`].
    pub fn is_one_name(&self) -> bool {
        !self.0.iter().any(|c| matches!(c, '*' | '?' | '<' | '>' | '"'))
    }

    /// Every place of the pattern that can be reached is kept, so that it takes the product of both lengths at the most.
    pub fn matches(&self, folded: &str) -> bool {
        let name: Vec<char> = folded.chars().collect();
        let last_dot = name.iter().rposition(|c| *c == '.');
        let mut reached = vec![false; self.0.len() + 1];
        if let Some(first) = reached.first_mut() {
            *first = true;
        }
        self.skip(&mut reached, name.first().copied(), name.is_empty());
        for (at, c) in name.iter().copied().enumerate() {
            let mut next = vec![false; self.0.len() + 1];
            for (place, wanted) in self.0.iter().copied().enumerate() {
                if !reached.get(place).copied().unwrap_or(false) {
                    continue;
                }
                let (stays, goes) = match wanted {
                    '*' => (true, false),
                    '<' => {
                        // Takes a dot only when another one follows.
                        let takes = c != '.' || last_dot.is_some_and(|last| at < last);
                        (takes, false)
                    }
                    '?' => (false, true),
                    '>' => (false, c != '.'),
                    '"' => (false, c == '.'),
                    own => (false, own == c),
                };
                if stays && let Some(slot) = next.get_mut(place) {
                    *slot = true;
                }
                if goes && let Some(slot) = next.get_mut(place + 1) {
                    *slot = true;
                }
            }
            let following = name.get(at + 1).copied();
            self.skip(&mut next, following, following.is_none());
            reached = next;
        }
        reached.last().copied().unwrap_or(false)
    }

    /// What may be nothing here is passed over.
    fn skip(&self, reached: &mut [bool], next: Option<char>, at_end: bool) {
        for (place, wanted) in self.0.iter().copied().enumerate() {
            let may_be_nothing = match wanted {
                '*' | '<' => true,
                '>' => at_end || next == Some('.'),
                '"' => at_end,
                _ => false,
            };
            if may_be_nothing
                && reached.get(place).copied().unwrap_or(false)
                && let Some(slot) = reached.get_mut(place + 1)
            {
                *slot = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        DosPattern::new(pattern).unwrap().matches(name)
    }

    #[test]
    fn a_pattern_is_no_longer_than_a_name_and_says_a_star_once() {
        assert!(DosPattern::new(&"?".repeat(255)).is_some());
        assert_eq!(DosPattern::new(&"?".repeat(256)), None);
        assert_eq!(DosPattern::new("A**B***"), DosPattern::new("A*B*"));
        assert!(DosPattern::new("***").is_some_and(|pattern| pattern.is_all()));
    }

    #[test]
    fn wildcards_of_dos() {
        for (pattern, name, wanted) in [
            ("*", "A.TXT", true),
            ("*.TXT", "A.TXT", true),
            ("*.TXT", "A.TXTX", false),
            ("A?C", "ABC", true),
            ("A?C", "AC", false),
            ("???", "AB", false),
            (">>>", "AB", true),
            (">>>", "ABCD", false),
            (">>>>>>>>.TXT", "AB.TXT", true),
            ("<.TXT", "A.B.TXT", true),
            ("<.TXT", "A.TXT.B", false),
            ("<", "A.B", false),
            ("<", "AB", true),
            ("<.B", "A.B", true),
            ("A\"B", "A.B", true),
            ("A\"", "A", true),
            ("A\"", "AB", false),
            ("<\"*", "A", true),
            ("<\"*", "A.B.C", true),
            ("A*B*C", "AXXBYYC", true),
            ("A*B*C", "AXXBYY", false),
            ("AB", "AB", true),
            ("AB", "ABC", false),
        ] {
            assert_eq!(matches(pattern, name), wanted, "{pattern} {name}");
        }
    }

    #[test]
    fn a_prefix_is_what_all_matches_have() {
        assert_eq!(DosPattern::new("AB*").unwrap().prefix(), "AB");
        assert!(DosPattern::new("AB").unwrap().is_one_name());
        assert!(DosPattern::new("").is_none() && DosPattern::new("A/B").is_none());
        assert!(DosPattern::all().is_all());
    }

    /// A pattern of stars takes no more than the product of the lengths.
    #[test]
    fn many_stars_end() {
        let pattern = "*A".repeat(120);
        assert!(!matches(&pattern, &"A".repeat(119)));
        assert!(matches(&pattern, &"BA".repeat(120)));
    }
}
