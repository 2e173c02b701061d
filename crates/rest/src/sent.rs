//! The headers of a request, which are asked for dozens of times and mostly are not there.

use std::ops::Deref;

use http::{HeaderMap, HeaderName, HeaderValue};

/// A header map that knows at a glance what it does not hold. The map itself is not given out to be changed: the
/// glance would go stale.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    map: HeaderMap,
    /// A bit for each name that is there; several names may share one.
    marks: u64,
}

/// Up to so many headers, comparing a name with each is cheaper than hashing it.
const FEW: usize = 24;

impl Sent {
    /// The first value of a header; names without regard to case.
    pub fn find(&self, name: &str) -> Option<&HeaderValue> {
        if self.marks & mark(name) == 0 {
            return None;
        }
        if self.map.len() > FEW {
            return self.map.get(name);
        }
        let same = |own: &str| own == name || own.eq_ignore_ascii_case(name);
        self.map.iter().find(|(own, _)| same(own.as_str())).map(|(_, value)| value)
    }

    pub fn append(&mut self, name: HeaderName, value: HeaderValue) {
        self.marks |= mark(name.as_str());
        self.map.append(name, value);
    }

    pub fn holds(&self, name: &str) -> bool {
        self.find(name).is_some()
    }
}

/// Length and two letters, without their case, tell most names apart.
fn mark(name: &str) -> u64 {
    let letter = |at: usize| name.as_bytes().get(at).map_or(0, |letter| usize::from(letter | 0x20));
    let (middle, last) = (letter(name.len() / 2), letter(name.len().wrapping_sub(1)));
    1 << ((name.len() * 37 + middle * 11 + last * 3) % 64)
}

impl From<HeaderMap> for Sent {
    fn from(map: HeaderMap) -> Self {
        let marks = map.keys().fold(0, |marks, name| marks | mark(name.as_str()));
        Self { map, marks }
    }
}

impl Deref for Sent {
    type Target = HeaderMap;

    fn deref(&self) -> &HeaderMap {
        &self.map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers;

    fn sent(names: &[&'static str]) -> Sent {
        let mut map = HeaderMap::new();
        for name in names {
            map.append(HeaderName::from_static(name), HeaderValue::from_static("first"));
            map.append(HeaderName::from_static(name), HeaderValue::from_static("second"));
        }
        map.into()
    }

    #[test]
    fn finds_what_the_map_holds_and_nothing_else() {
        // Few, and more than are compared one by one.
        for names in [&headers::ALL[..5], headers::ALL] {
            let sent = sent(names);
            for name in headers::ALL {
                assert_eq!(sent.find(name), sent.get(*name), "{name}");
                assert_eq!(sent.find(&name.to_ascii_uppercase()), sent.get(*name), "{name}");
            }
        }
    }
}
