//! Histories of append blobs of which a person can say whether they are possible.

use super::call::Refusal::AppendPositionConditionNotMet;
use super::call::{Answer, Blocks, Call, Event, Version};
use super::model::AppendBlob;
use crate::Trial;
use crate::history::bad::{self, died, told};

use Answer::{Appended, Done, Refused};
use Call::Read;

type Named = (&'static str, Vec<Event>);

const CREATE: Call = Call::Create { if_absent: true };

fn append(new: Version) -> Call {
    Call::Append { new, at: None }
}

fn append_at(new: Version, at: u64) -> Call {
    Call::Append { new, at: Some(at) }
}

fn seen(blocks: &[Version]) -> Answer {
    Answer::Seen(blocks.iter().copied().fold(Blocks::default(), Blocks::with))
}

fn impossible() -> Vec<Named> {
    vec![
        (
            "two blocks in one place",
            vec![
                told(1, 2, CREATE, Done),
                told(3, 9, append(1), Appended(0)),
                told(3, 9, append(2), Appended(0)),
            ],
        ),
        (
            "two win at one position",
            vec![
                told(1, 2, CREATE, Done),
                told(3, 9, append_at(1, 0), Appended(0)),
                told(3, 9, append_at(2, 0), Appended(1)),
            ],
        ),
        (
            "an acknowledged block is gone after a crash",
            vec![
                told(1, 2, CREATE, Done),
                told(3, 4, append(1), Appended(0)),
                died(5, 50, append(2)),
                told(100, 101, Read, seen(&[2])),
            ],
        ),
        (
            "blocks change places",
            vec![
                told(1, 2, CREATE, Done),
                told(3, 4, append(1), Appended(0)),
                told(5, 6, append(2), Appended(1)),
                told(7, 8, Read, seen(&[2, 1])),
            ],
        ),
    ]
}

fn possible() -> Vec<Named> {
    vec![
        (
            "two at once, in either order",
            vec![
                told(1, 2, CREATE, Done),
                told(3, 9, append(1), Appended(1)),
                told(3, 9, append(2), Appended(0)),
                told(10, 11, Read, seen(&[2, 1])),
            ],
        ),
        (
            "one of two wins at a position",
            vec![
                told(1, 2, CREATE, Done),
                told(3, 9, append_at(1, 0), Refused(AppendPositionConditionNotMet)),
                told(3, 9, append_at(2, 0), Appended(0)),
            ],
        ),
        (
            "a block that was not answered is there",
            vec![told(1, 2, CREATE, Done), died(3, 50, append(1)), told(100, 101, Read, seen(&[1]))],
        ),
    ]
}

pub fn run() -> Trial<(usize, usize)> {
    bad::judge::<AppendBlob>(&impossible(), &possible())
}
