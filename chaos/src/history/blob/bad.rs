//! The judge is judged: small histories of which a person can say whether they are possible.

use super::call::Refusal::{self, *};
use super::call::{Answer, Call, Condition, Event, Lease, Version};
use super::model::Blob;
use crate::Trial;
use crate::history::bad::{self, died, told, unanswered};

use Answer::{Done, Refused, Seen};
use Call::{Acquire, Break, Get, Release};
use Lease::{Available, Broken, Leased};

fn put(new: Version) -> Call {
    Call::Put { new, condition: Condition::None, lease: None }
}

fn put_if_match(version: Version, new: Version) -> Call {
    Call::Put { new, condition: Condition::IfMatch(version), lease: None }
}

fn put_if_absent(new: Version) -> Call {
    Call::Put { new, condition: Condition::IfAbsent, lease: None }
}

fn put_with_lease(who: u64, new: Version) -> Call {
    Call::Put { new, condition: Condition::None, lease: Some(who) }
}

const DELETE: Call = Call::Delete { condition: Condition::None, lease: None };
const MISSING: Answer = Refused(Refusal::BlobNotFound);

type Named = (&'static str, Vec<Event>);

fn impossible() -> Vec<Named> {
    vec![
        (
            "a stale reading",
            vec![told(1, 2, put(1), Done), told(3, 4, put(2), Done), told(5, 6, Get, Seen(1, Available))],
        ),
        (
            "new, then old again, while the write is under way",
            vec![
                told(1, 2, put(1), Done),
                told(3, 20, put(2), Done),
                told(4, 5, Get, Seen(2, Available)),
                told(6, 7, Get, Seen(1, Available)),
            ],
        ),
        (
            "a lost update: both compare-and-swaps win",
            vec![
                told(1, 2, put(1), Done),
                told(3, 9, put_if_match(1, 2), Done),
                told(3, 9, put_if_match(1, 3), Done),
            ],
        ),
        ("both creations win", vec![told(1, 9, put_if_absent(1), Done), told(1, 9, put_if_absent(2), Done)]),
        (
            "a compare-and-swap fails although nothing changed",
            vec![
                told(1, 2, put(1), Done),
                told(3, 4, put_if_match(1, 2), Refused(ConditionNotMet)),
                told(5, 6, Get, Seen(1, Available)),
            ],
        ),
        (
            "an acknowledged write is gone after a crash",
            vec![
                told(1, 2, put(1), Done),
                told(3, 4, put_if_match(1, 2), Done),
                unanswered(5, Break),
                told(100, 101, Get, Seen(1, Available)),
            ],
        ),
        (
            "a deleted blob comes back",
            vec![told(1, 2, put(1), Done), told(3, 4, DELETE, Done), told(5, 6, Get, Seen(1, Available))],
        ),
        (
            "an unanswered write is seen, then not",
            vec![
                told(1, 2, put(1), Done),
                unanswered(3, put(2)),
                told(4, 5, Get, Seen(2, Available)),
                told(6, 7, Get, Seen(1, Available)),
            ],
        ),
        (
            "an unanswered write is seen before it was asked for",
            vec![told(1, 2, put(1), Done), told(3, 4, Get, Seen(2, Available)), unanswered(5, put(2))],
        ),
        (
            "an unanswered write comes after its server's death",
            vec![
                told(1, 2, put(1), Done),
                died(3, 50, put(2)),
                told(100, 101, Get, Seen(1, Available)),
                told(102, 103, Get, Seen(2, Available)),
            ],
        ),
        (
            "two hold the lease",
            vec![told(1, 2, put(1), Done), told(3, 9, Acquire(1), Done), told(3, 9, Acquire(2), Done)],
        ),
        (
            "the lease does not keep a stranger out",
            vec![told(1, 2, put(1), Done), told(3, 4, Acquire(1), Done), told(5, 6, put(2), Done)],
        ),
        (
            "the holder writes after the lease was broken",
            vec![
                told(1, 2, put(1), Done),
                told(3, 4, Acquire(1), Done),
                told(5, 6, Break, Done),
                told(7, 8, put_with_lease(1, 2), Done),
            ],
        ),
        (
            "a lease is forgotten in a crash",
            vec![
                told(1, 2, put(1), Done),
                told(3, 4, Acquire(1), Done),
                told(5, 6, Get, Seen(1, Leased)),
                told(100, 101, Get, Seen(1, Available)),
            ],
        ),
        (
            "a lease is released twice",
            vec![
                told(1, 2, put(1), Done),
                told(3, 4, Acquire(1), Done),
                told(5, 9, Release(1), Done),
                told(5, 9, Release(1), Done),
            ],
        ),
        ("a blob that nobody wrote", vec![told(1, 2, Get, Seen(7, Available))]),
        ("a blob that nobody deleted", vec![told(1, 2, put(1), Done), told(3, 4, Get, MISSING)]),
    ]
}

fn possible() -> Vec<Named> {
    vec![
        ("nothing", vec![]),
        (
            "old and new while the write is under way",
            vec![
                told(1, 2, put(1), Done),
                told(3, 20, put(2), Done),
                told(4, 5, Get, Seen(1, Available)),
                told(6, 7, Get, Seen(2, Available)),
            ],
        ),
        (
            "one compare-and-swap wins",
            vec![
                told(1, 2, put(1), Done),
                told(3, 9, put_if_match(1, 2), Refused(ConditionNotMet)),
                told(3, 9, put_if_match(1, 3), Done),
            ],
        ),
        (
            "one creation wins",
            vec![
                told(1, 9, put_if_absent(1), Refused(BlobAlreadyExists)),
                told(1, 9, put_if_absent(2), Done),
            ],
        ),
        (
            "an unanswered write happened",
            vec![
                told(1, 2, put(1), Done),
                unanswered(3, put_if_match(1, 2)),
                told(100, 101, Get, Seen(2, Available)),
            ],
        ),
        (
            "an unanswered write never happened",
            vec![
                told(1, 2, put(1), Done),
                unanswered(3, put_if_match(1, 2)),
                told(100, 101, Get, Seen(1, Available)),
            ],
        ),
        (
            "an unanswered write happened late",
            vec![
                told(1, 2, put(1), Done),
                unanswered(3, put(2)),
                told(4, 5, Get, Seen(1, Available)),
                told(6, 7, Get, Seen(2, Available)),
            ],
        ),
        (
            "two unanswered writes happened, in the other order",
            vec![
                unanswered(1, put(1)),
                unanswered(2, put(2)),
                told(4, 5, Get, Seen(2, Available)),
                told(6, 7, Get, Seen(1, Available)),
            ],
        ),
        (
            "an unanswered write is found after its server's death",
            vec![
                told(1, 2, put(1), Done),
                died(3, 50, put(2)),
                told(40, 49, Get, Seen(1, Available)),
                told(100, 101, Get, Seen(2, Available)),
            ],
        ),
        (
            "a break that had nothing to do at first",
            vec![
                told(1, 2, put(1), Done),
                told(3, 4, Acquire(1), Done),
                told(5, 6, Break, Done),
                told(7, 20, Break, Done),
                told(8, 9, Get, Seen(1, Broken)),
                told(10, 11, Acquire(2), Done),
                told(12, 13, Get, Seen(1, Leased)),
                told(14, 19, Get, Seen(1, Broken)),
            ],
        ),
        (
            "a lease from beginning to end",
            vec![
                told(1, 2, put(1), Done),
                told(3, 9, Acquire(1), Done),
                told(3, 9, Acquire(2), Refused(LeaseAlreadyPresent)),
                told(10, 11, put(2), Refused(LeaseIdMissing)),
                told(12, 13, put_with_lease(2, 3), Refused(LeaseIdMismatchWithBlobOperation)),
                told(14, 15, put_with_lease(1, 4), Done),
                told(16, 17, Get, Seen(4, Leased)),
                told(18, 19, Break, Done),
                told(20, 21, Get, Seen(4, Broken)),
                told(22, 23, put_with_lease(1, 5), Refused(LeaseLost)),
                told(24, 25, put(6), Done),
                told(26, 27, Get, Seen(6, Available)),
                told(28, 29, Break, Refused(LeaseNotPresentWithLeaseOperation)),
                told(30, 31, Release(1), Refused(LeaseIdMismatchWithLeaseOperation)),
            ],
        ),
    ]
}

pub fn run() -> Trial<(usize, usize)> {
    bad::judge::<Blob>(&impossible(), &possible())
}
