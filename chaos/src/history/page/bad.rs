//! Histories of page blobs of which a person can say whether they are possible.

use super::call::Refusal::{ConditionNotMet, SequenceNumberConditionNotMet};
use super::call::{Action, Answer, Call, Condition, Event, Pages, Version};
use super::model::PageBlob;
use crate::Trial;
use crate::history::bad::{self, died, told};

use Answer::{Done, Refused, Seen};
use Call::Read;

type Named = (&'static str, Vec<Event>);

const ALL: Pages = Pages { first: 0, last: 2 };
const CREATE: Call = Call::Create { new: 1, if_absent: true };

fn write(new: Version) -> Call {
    Call::Write { new, pages: ALL, condition: Condition::None }
}

fn write_if(new: Version, condition: Condition) -> Call {
    Call::Write { new, pages: ALL, condition }
}

fn increment(new: Version) -> Call {
    Call::Sequence { new, action: Action::Increment }
}

fn impossible() -> Vec<Named> {
    vec![
        (
            "a write is seen in part",
            vec![told(1, 2, CREATE, Done), told(3, 9, write(2), Done), told(4, 8, Read, Seen([2, 0, 0], 0))],
        ),
        (
            "a crash leaves a part of a write",
            vec![told(1, 2, CREATE, Done), died(3, 50, write(2)), told(100, 101, Read, Seen([2, 2, 0], 0))],
        ),
        (
            "an acknowledged clear is undone",
            vec![
                told(1, 2, CREATE, Done),
                told(3, 4, write(2), Done),
                told(5, 6, Call::Clear { new: 3, pages: ALL, condition: Condition::None }, Done),
                told(7, 8, Read, Seen([2, 2, 2], 0)),
            ],
        ),
        (
            "two writers at one sequence number that both end it",
            vec![
                told(1, 2, CREATE, Done),
                told(3, 4, increment(2), Done),
                told(5, 6, write_if(3, Condition::SequenceBelow(1)), Done),
            ],
        ),
        (
            "an increment is lost",
            vec![
                told(1, 2, CREATE, Done),
                told(3, 9, increment(2), Done),
                told(3, 9, increment(3), Done),
                told(10, 11, Read, Seen([0; 3], 1)),
            ],
        ),
        (
            "the ETag of before is still taken",
            vec![
                told(1, 2, CREATE, Done),
                told(3, 4, write_if(2, Condition::IfMatch(1)), Done),
                told(5, 6, write_if(3, Condition::IfMatch(1)), Done),
            ],
        ),
    ]
}

fn possible() -> Vec<Named> {
    vec![
        (
            "a write is seen before and after",
            vec![
                told(1, 2, CREATE, Done),
                told(3, 20, write(2), Done),
                told(4, 5, Read, Seen([0; 3], 0)),
                told(6, 7, Read, Seen([2; 3], 0)),
            ],
        ),
        (
            "conditions are refused",
            vec![
                told(1, 2, CREATE, Done),
                told(3, 4, increment(2), Done),
                told(5, 6, write_if(3, Condition::SequenceIs(0)), Refused(SequenceNumberConditionNotMet)),
                told(7, 8, write_if(4, Condition::IfMatch(1)), Refused(ConditionNotMet)),
                told(9, 10, write_if(5, Condition::IfMatch(2)), Done),
                told(11, 12, Read, Seen([5; 3], 1)),
            ],
        ),
        (
            "a crash takes a write that was not answered",
            vec![told(1, 2, CREATE, Done), died(3, 50, write(2)), told(100, 101, Read, Seen([0; 3], 0))],
        ),
    ]
}

pub fn run() -> Trial<(usize, usize)> {
    bad::judge::<PageBlob>(&impossible(), &possible())
}
