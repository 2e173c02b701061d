//! Tags of a blob: the header, the document, and the predicates over them. The input is a line of tags as the header has
//! them, a line with a predicate, and a document.

use std::ops::Bound;

use lazuli_model::tags::{KEY_LENGTH_MAX, TAGS_MAX, TagExpression, Tags, VALUE_LENGTH_MAX, WhereExpression};
use lazuli_rest::blob::tags::{read, write};
use lazuli_rest::xml::Writer;

pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.splitn(3, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let (header, predicate, document) = (next(), next(), next());
    let mut sets = vec![Tags::default()];
    sets.extend(Tags::parse_header(header));
    sets.extend(read(document.as_bytes()));
    for tags in &sets {
        well_formed(tags);
        judged_alike(predicate, tags);
    }
}

/// How many sets of tags, and how many predicates, were read: for the test of the seeds.
pub fn taken(data: &[u8]) -> (usize, usize) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.splitn(3, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let (header, predicate, document) = (next(), next(), next());
    let sets =
        usize::from(Tags::parse_header(header).is_ok()) + usize::from(read(document.as_bytes()).is_ok());
    let predicates = usize::from(TagExpression::parse(predicate).is_ok())
        + usize::from(WhereExpression::parse(predicate).is_ok());
    (sets, predicates)
}

/// Few, short, sorted, each key once; and what is written of them is read as the same.
fn well_formed(tags: &Tags) {
    assert!(tags.len() <= TAGS_MAX, "{} tags", tags.len());
    let keys: Vec<&str> = tags.iter().map(|(key, _)| key).collect();
    assert!(keys.windows(2).all(|two| two[0] < two[1]), "{keys:?}");
    for (key, value) in tags.iter() {
        assert!((1..=KEY_LENGTH_MAX).contains(&key.len()) && value.len() <= VALUE_LENGTH_MAX);
        // The keys of the index end with a NUL, and values stand above it.
        assert!(!key.contains(|c| c < ' ') && !value.contains(|c| c < ' '), "{key:?} {value:?}");
        assert_eq!(tags.get(key), Some(value));
    }
    let mut writer = Writer::new();
    write(&mut writer, tags);
    let written = writer.finish();
    assert_eq!(read(written.as_bytes()).ok().as_ref(), Some(tags), "{written}");
}

/// A search by the index looks where every match stands; and the two languages agree where both read a predicate.
fn judged_alike(predicate: &str, tags: &Tags) {
    let condition = TagExpression::parse(predicate).ok();
    let Ok(search) = WhereExpression::parse(predicate) else { return };
    let container = search.container().unwrap_or("box").to_owned();
    let matches = search.eval(&container, tags);
    if let (Some(condition), None) = (&condition, search.container()) {
        assert_eq!(condition.eval(tags), matches, "{predicate}");
    }
    if let Some(range) = search.value_range().filter(|_| matches) {
        let value = tags.get(range.tag).unwrap_or_else(|| panic!("{predicate}: a match without its tag"));
        let is_behind = match range.lower {
            Bound::Unbounded => true,
            Bound::Included(lower) => value >= lower,
            Bound::Excluded(lower) => value > lower,
        };
        let is_before = match range.upper {
            Bound::Unbounded => true,
            Bound::Included(upper) => value <= upper,
            Bound::Excluded(upper) => value < upper,
        };
        assert!(is_behind && is_before, "{predicate}: {value:?} is not looked for");
    }
}
