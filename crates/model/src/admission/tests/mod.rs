//! The published tables, typed as they are printed, and every cell of them tried.
//! The text is the oracle: a cell is read by the test, never computed from the code under test.

mod conditions;
mod hold;
mod lease_actions;
mod lease_id;
mod lease_use;
mod order;
mod queue;
mod record;
mod sharing;
mod source;
mod table;
mod taken;

use crate::error::Failure;
use crate::etag::ETag;
use crate::operation::{Op, Row};
use crate::time::Timestamp;
use crate::version::ApiVersion;

use super::lease::{Lease, LeaseDuration, LeaseId};

/// Noon of an ordinary day, and a third of a second: the date conditions must not see the fraction.
fn now() -> Timestamp {
    Timestamp(638_000_000_003_333_333)
}

/// Of the record that is there, unless a test says otherwise.
const ETAG: ETag = ETag(0x8D8_C5A1_F2E3_B4C5);
const NEWEST: ApiVersion = ApiVersion::NEWEST;

/// The row that is called so in the table of operations.
fn row(name: &str) -> &'static Row {
    let op = Op::ALL.iter().find(|op| op.name() == name);
    op.unwrap_or_else(|| panic!("no row {name}")).row()
}

/// Rows by name, separated by white space.
fn named(names: &str) -> Vec<&'static Row> {
    names.split_whitespace().map(row).collect()
}

fn id(letter: char) -> LeaseId {
    let text = format!("{:08x}-0000-4000-8000-000000000000", u32::from(letter));
    LeaseId::parse(&text).expect("a GUID")
}

/// One row of a table: its head, and its cells by column title.
struct Line<'a> {
    head: &'a str,
    cells: Vec<(&'a str, &'a str)>,
}

/// Reads a table with a title line and a rule line, as Markdown prints it.
fn table(text: &str) -> Vec<Line<'_>> {
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let titles = lines.next().expect("a title line");
    let rule = lines.next().expect("a rule line");
    assert!(rule.iter().all(|cell| cell.chars().all(|c| c == '-')), "a rule line");
    lines
        .map(|cells| {
            assert_eq!(cells.len(), titles.len(), "{cells:?}");
            let columns = titles.iter().copied().zip(cells.iter().copied());
            Line { head: cells[0], cells: columns.skip(1).collect() }
        })
        .collect()
}

/// "412 LeaseLost", the notation of the tables.
fn printed(failure: &Failure) -> String {
    format!("{} {}", failure.status(), failure.code.name())
}

/// The ways in which a lease held by A can be in a state, boundaries included.
fn leases(state: &str) -> Vec<Option<Lease>> {
    let now = now();
    let fixed = LeaseDuration::Fixed { seconds: 30 };
    let lease = |duration, expires, breaks| Some(Lease { id: id('A'), duration, expires, breaks });
    let later = Some(now.plus_seconds(20));
    let earlier = Some(now.plus_seconds(-5));
    let next = Some(Timestamp(now.0 + 1));
    match state {
        "Available" => vec![None],
        "Leased(A)" => vec![
            lease(fixed, later, None),
            lease(fixed, next, None),
            lease(LeaseDuration::Infinite, None, None),
        ],
        "Breaking(A)" => vec![
            lease(fixed, later, later),
            lease(fixed, later, next),
            lease(LeaseDuration::Infinite, None, later),
        ],
        "Broken(A)" => vec![
            lease(fixed, later, earlier),
            lease(fixed, earlier, earlier),
            lease(fixed, Some(now), Some(now)),
            lease(LeaseDuration::Infinite, None, Some(now)),
        ],
        "Expired(A)" => vec![lease(fixed, earlier, None), lease(fixed, Some(now), None)],
        "Broken/Expired(A)" => [leases("Broken(A)"), leases("Expired(A)")].concat(),
        other => panic!("no such state: {other}"),
    }
}
