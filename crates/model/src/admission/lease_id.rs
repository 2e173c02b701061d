//! The id of a REST lease: a GUID, compared as a value and never as text.

use std::fmt;

use uuid::Uuid;

/// Prints in the hyphenated lower-case form whatever form it was sent in, as the service does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeaseId(pub Uuid);

/// Of these lengths the forms D and N alone.
const HYPHENATED: usize = 36;
const PLAIN: usize = 32;

impl LeaseId {
    /// Reads the five forms in which a client may write a GUID, letter case ignored:
    ///
    /// | form | looks like |
    /// | --- | --- |
    /// | N | 32 digits |
    /// | D | 8-4-4-4-12 digits |
    /// | B | D in braces |
    /// | P | D in parentheses |
    /// | X | `{0x…,0x…,0x…,{0x…,0x…,0x…,0x…,0x…,0x…,0x…,0x…}}` |
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let value = match text.len() {
            HYPHENATED | PLAIN => Uuid::try_parse(text).ok(),
            _ => between(text, '(', ')').and_then(hyphenated).or_else(|| {
                let inner = between(text, '{', '}')?;
                hyphenated(inner).or_else(|| hexadecimal_groups(inner).map(Uuid::from_u128))
            }),
        };
        value.map(Self)
    }
}

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hyphenated().fmt(f)
    }
}

fn between(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

/// Exactly `count` hexadecimal digits. The standard parser alone would also take a sign.
fn digits(text: &str, count: usize) -> Option<u128> {
    if text.len() != count || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u128::from_str_radix(text, 16).ok()
}

fn hyphenated(text: &str) -> Option<Uuid> {
    Uuid::try_parse(text).ok().filter(|_| text.len() == HYPHENATED)
}

/// Form X without its outer braces. Groups may leave out leading zeros and may be spaced.
fn hexadecimal_groups(text: &str) -> Option<u128> {
    let (head, tail) = text.split_once('{')?;
    let tail = tail.trim_end().strip_suffix('}')?;
    let head = head.trim_end().strip_suffix(',')?;
    let mut groups = head.split(',').chain(tail.split(','));
    let mut value = 0;
    for length in [8, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2] {
        let group = groups.next()?.trim();
        let group = group.strip_prefix("0x").or(group.strip_prefix("0X"))?;
        if group.len() > length {
            return None;
        }
        value = (value << (4 * length)) | digits(group, group.len())?;
    }
    (head.split(',').count() == 3 && groups.next().is_none()).then_some(value)
}
