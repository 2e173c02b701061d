//! The headers of a request, which are asked for dozens of times and mostly are not there.

use std::ops::Deref;

use http::{HeaderMap, HeaderName, HeaderValue};
use lazuli_model::error::{ErrorCode, Failure};

use crate::headers;

/// A header map that knows at a glance what it does not hold. The map itself is not given out to be changed: the
/// glance would go stale.
#[derive(Clone, Debug, Default)]
pub struct RequestHeaders {
    map: HeaderMap,
    /// A bit for each name that is there; several names may share one.
    marks: u64,
}

/// Up to so many headers, comparing a name with each is cheaper than hashing it.
const FEW: usize = 24;

impl RequestHeaders {
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

    /// The headers of a request inside of another's body.
    pub fn of_lines(lines: &[(&str, &str)]) -> Result<Self, Failure> {
        let mut map = HeaderMap::with_capacity(lines.len());
        for (name, value) in lines {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| ErrorCode::InvalidInput)?;
            let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| ErrorCode::InvalidInput)?;
            map.append(name, value);
        }
        Ok(map.into())
    }

    /// Refuses a header that an operation could act by and that cannot be read, or that has a second value where one
    /// counts. To leave it out would be to do something else than was asked: a write without its condition.
    pub fn check(&self) -> Result<(), Failure> {
        for (name, value) in &self.map {
            if value.to_str().is_err() && headers::is_read(name.as_str()) {
                return Err(refuse(name, value));
            }
        }
        // Nearly always each name is there once.
        if self.map.len() == self.map.keys_len() {
            return Ok(());
        }
        for name in self.map.keys().filter(|name| headers::is_read(name.as_str())) {
            let mut values = self.map.get_all(name).iter();
            if let (Some(_), Some(second)) = (values.next(), values.next())
                && !headers::is_list(name.as_str())
            {
                return Err(refuse(name, second));
            }
        }
        Ok(())
    }

    pub fn append(&mut self, name: HeaderName, value: HeaderValue) {
        self.marks |= mark(name.as_str());
        self.map.append(name, value);
    }

    pub fn holds(&self, name: &str) -> bool {
        self.find(name).is_some()
    }
}

fn refuse(name: &HeaderName, value: &HeaderValue) -> Failure {
    Failure::invalid_header(headers::spelled(name.as_str()), &String::from_utf8_lossy(value.as_bytes()))
}

/// Length and two letters, without their case, tell most names apart.
fn mark(name: &str) -> u64 {
    let letter = |at: usize| name.as_bytes().get(at).map_or(0, |letter| usize::from(letter | 0x20));
    let (middle, last) = (letter(name.len() / 2), letter(name.len().wrapping_sub(1)));
    1 << ((name.len() * 37 + middle * 11 + last * 3) % 64)
}

impl From<HeaderMap> for RequestHeaders {
    fn from(map: HeaderMap) -> Self {
        let marks = map.keys().fold(0, |marks, name| marks | mark(name.as_str()));
        Self { map, marks }
    }
}

impl Deref for RequestHeaders {
    type Target = HeaderMap;

    fn deref(&self) -> &HeaderMap {
        &self.map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(names: &[&'static str]) -> RequestHeaders {
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
