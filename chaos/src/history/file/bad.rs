//! Histories of files of which a person can say whether they are possible.

use super::call::{Answer, Call, Event};
use super::model::Directory;
use crate::Trial;
use crate::history::bad::{self, died, told};

use Answer::{AlreadyExists, Done, NotFound, Seen};
use Call::{Create, Delete, Get, Write};

type Named = (&'static str, Vec<Event>);

fn rename(from: usize, to: usize, replaces: bool) -> Call {
    Call::Rename { from, to, replaces }
}

fn copy(from: usize, to: usize) -> Call {
    Call::Copy { from, to }
}

fn impossible() -> Vec<Named> {
    vec![
        (
            "a renamed file stands under both names",
            vec![
                told(1, 2, Create(0), Done),
                told(3, 4, rename(0, 1, false), Done),
                told(5, 6, Get(1), Seen(0)),
                told(7, 8, Get(0), Seen(0)),
            ],
        ),
        (
            "a crash leaves a rename half done",
            vec![
                told(1, 2, Create(0), Done),
                died(3, 50, rename(0, 1, false)),
                told(100, 101, Get(0), NotFound),
                told(102, 103, Get(1), NotFound),
            ],
        ),
        (
            "both renames of one file win",
            vec![
                told(1, 2, Create(0), Done),
                told(3, 9, rename(0, 1, false), Done),
                told(3, 9, rename(0, 2, false), Done),
            ],
        ),
        (
            "a write to the source shows on an older copy",
            vec![
                told(1, 2, Create(0), Done),
                told(3, 4, copy(0, 1), Done),
                told(5, 6, Write(0, 7), Done),
                told(8, 9, Get(1), Seen(7)),
            ],
        ),
        (
            "a copy of what was written over before",
            vec![
                told(1, 2, Create(0), Done),
                told(3, 4, Write(0, 7), Done),
                told(5, 6, Write(0, 8), Done),
                told(9, 10, copy(0, 1), Done),
                told(11, 12, Get(1), Seen(7)),
            ],
        ),
        ("a copy of nothing", vec![told(1, 2, copy(0, 1), Done)]),
        (
            "a rename over a file that it does not replace",
            vec![
                told(1, 2, Create(0), Done),
                told(3, 4, Create(1), Done),
                told(5, 6, rename(0, 1, false), Done),
            ],
        ),
        (
            "an acknowledged write is gone after a crash",
            vec![
                told(1, 2, Create(0), Done),
                told(3, 4, Write(0, 7), Done),
                died(5, 50, copy(0, 1)),
                told(100, 101, Get(0), Seen(0)),
            ],
        ),
        ("a deletion of what nobody created", vec![told(1, 2, Delete(0), Done)]),
    ]
}

fn possible() -> Vec<Named> {
    vec![
        (
            "an unanswered rename happened",
            vec![
                told(1, 2, Create(0), Done),
                died(3, 50, rename(0, 1, false)),
                told(100, 101, Get(0), NotFound),
                told(102, 103, Get(1), Seen(0)),
            ],
        ),
        (
            "an unanswered rename never happened",
            vec![
                told(1, 2, Create(0), Done),
                died(3, 50, rename(0, 1, false)),
                told(100, 101, Get(1), NotFound),
                told(102, 103, Get(0), Seen(0)),
            ],
        ),
        (
            "a copy beside a write is of one side of it",
            vec![
                told(1, 2, Create(0), Done),
                told(3, 9, Write(0, 7), Done),
                told(3, 9, copy(0, 1), Done),
                told(10, 11, Get(1), Seen(7)),
            ],
        ),
        (
            "a life",
            vec![
                told(1, 2, Get(0), NotFound),
                told(3, 4, Create(0), Done),
                told(5, 6, Write(0, 1), Done),
                told(7, 8, copy(0, 1), Done),
                told(9, 10, rename(0, 1, false), AlreadyExists),
                told(11, 12, Write(0, 2), Done),
                told(13, 14, rename(0, 1, true), Done),
                told(15, 16, Get(1), Seen(2)),
                told(17, 18, Delete(0), NotFound),
                told(19, 20, Delete(1), Done),
            ],
        ),
    ]
}

pub fn run() -> Trial<(usize, usize)> {
    bad::judge::<Directory>(&impossible(), &possible())
}
