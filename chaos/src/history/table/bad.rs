//! Histories of entities of which a person can say whether they are possible.

use super::call::Refusal::{EntityAlreadyExists, ResourceNotFound, UpdateConditionNotSatisfied};
use super::call::{Answer, Call, Change, Event, Key, Kind, Match, Version};
use super::model::Partition;
use crate::Trial;
use crate::history::bad::{self, died, told, unanswered};

use Answer::{Done, Refused, Seen, SeenAll};
use Call::{Get, Query};

fn insert(key: Key, new: Version) -> Change {
    Change { key, kind: Kind::Insert(new) }
}

fn upsert(key: Key, new: Version) -> Change {
    Change { key, kind: Kind::Upsert(new) }
}

fn update(key: Key, old: Version, new: Version) -> Change {
    Change { key, kind: Kind::Update(new, Match::Version(old)) }
}

fn delete(key: Key) -> Change {
    Change { key, kind: Kind::Delete(Match::Any) }
}

fn one(change: Change) -> Call {
    Call::Change(change)
}

fn two(first: Change, second: Change) -> Call {
    Call::Group([Some(first), Some(second), None])
}

type Named = (&'static str, Vec<Event>);

fn impossible() -> Vec<Named> {
    vec![
        (
            "a query sees half of a group",
            vec![told(1, 9, two(insert(0, 1), insert(1, 2)), Done), told(2, 8, Query, SeenAll([1, 0, 0]))],
        ),
        (
            "a crash leaves half of a group",
            vec![
                died(1, 50, two(insert(0, 1), insert(1, 2))),
                told(100, 101, Get(0), Seen(1)),
                told(102, 103, Get(1), Seen(0)),
            ],
        ),
        (
            "a group is seen, then not",
            vec![
                told(1, 20, two(insert(0, 1), insert(1, 2)), Done),
                told(2, 3, Query, SeenAll([1, 2, 0])),
                told(4, 5, Query, SeenAll([0, 0, 0])),
            ],
        ),
        (
            "an acknowledged group is gone after a crash",
            vec![
                told(1, 2, two(insert(0, 1), insert(1, 2)), Done),
                unanswered(5, one(upsert(2, 9))),
                told(100, 101, Query, SeenAll([0, 0, 0])),
            ],
        ),
        (
            "a refused group left something",
            vec![
                told(1, 2, one(insert(1, 1)), Done),
                told(3, 4, two(insert(0, 2), insert(1, 3)), Refused(1, EntityAlreadyExists)),
                told(5, 6, Query, SeenAll([2, 1, 0])),
            ],
        ),
        (
            "a group is refused for another reason than its first",
            vec![
                told(1, 2, one(insert(0, 1)), Done),
                told(3, 4, two(insert(0, 2), update(1, 1, 3)), Refused(1, ResourceNotFound)),
            ],
        ),
        (
            "a lost update: both groups win",
            vec![
                told(1, 2, two(insert(0, 1), insert(1, 2)), Done),
                told(3, 9, two(update(0, 1, 3), update(1, 2, 4)), Done),
                told(3, 9, two(update(0, 1, 5), update(1, 2, 6)), Done),
            ],
        ),
        (
            "two queries that saw two groups in different orders",
            vec![
                told(1, 20, one(insert(0, 1)), Done),
                told(1, 20, one(insert(1, 2)), Done),
                told(2, 9, Query, SeenAll([1, 0, 0])),
                told(2, 9, Query, SeenAll([0, 2, 0])),
            ],
        ),
        ("both inserts win", vec![told(1, 9, one(insert(0, 1)), Done), told(1, 9, one(insert(0, 2)), Done)]),
        (
            "a deleted entity comes back",
            vec![
                told(1, 2, one(insert(0, 1)), Done),
                told(3, 4, one(delete(0)), Done),
                told(5, 6, Get(0), Seen(1)),
            ],
        ),
        ("If-Match creates", vec![told(1, 2, one(update(0, 7, 8)), Done)]),
        (
            "a condition fails although nothing changed",
            vec![
                told(1, 2, one(insert(0, 1)), Done),
                told(3, 4, one(update(0, 1, 2)), Refused(0, UpdateConditionNotSatisfied)),
            ],
        ),
        ("an entity that nobody wrote", vec![told(1, 2, Query, SeenAll([0, 0, 7]))]),
        (
            "an unanswered group comes after its server's death",
            vec![
                died(1, 50, two(insert(0, 1), insert(1, 2))),
                told(100, 101, Query, SeenAll([0, 0, 0])),
                told(102, 103, Query, SeenAll([1, 2, 0])),
            ],
        ),
    ]
}

fn possible() -> Vec<Named> {
    vec![
        (
            "before and after a group",
            vec![
                told(1, 20, two(insert(0, 1), insert(1, 2)), Done),
                told(2, 3, Query, SeenAll([0, 0, 0])),
                told(4, 5, Query, SeenAll([1, 2, 0])),
            ],
        ),
        (
            "a group between two readings that are no snapshot",
            vec![
                told(1, 20, two(insert(0, 1), insert(1, 2)), Done),
                told(2, 3, Get(0), Seen(0)),
                told(4, 5, Get(1), Seen(2)),
            ],
        ),
        (
            "an unanswered group happened",
            vec![died(1, 50, two(insert(0, 1), insert(1, 2))), told(100, 101, Query, SeenAll([1, 2, 0]))],
        ),
        (
            "an unanswered group never happened",
            vec![died(1, 50, two(insert(0, 1), insert(1, 2))), told(100, 101, Query, SeenAll([0, 0, 0]))],
        ),
        (
            "one group wins",
            vec![
                told(1, 2, two(insert(0, 1), insert(1, 2)), Done),
                told(3, 9, two(update(0, 1, 3), update(1, 2, 4)), Done),
                told(3, 9, two(update(0, 1, 5), update(1, 2, 6)), Refused(0, UpdateConditionNotSatisfied)),
                told(10, 11, Query, SeenAll([3, 4, 0])),
            ],
        ),
        (
            "a life",
            vec![
                told(1, 2, one(update(0, 1, 2)), Refused(0, ResourceNotFound)),
                told(3, 4, one(insert(0, 3)), Done),
                told(5, 6, one(insert(0, 4)), Refused(0, EntityAlreadyExists)),
                told(7, 8, one(upsert(0, 5)), Done),
                told(9, 10, one(update(0, 5, 6)), Done),
                told(11, 12, two(delete(0), insert(1, 7)), Done),
                told(13, 14, Query, SeenAll([0, 7, 0])),
            ],
        ),
    ]
}

pub fn run() -> Trial<(usize, usize)> {
    bad::judge::<Partition>(&impossible(), &possible())
}
