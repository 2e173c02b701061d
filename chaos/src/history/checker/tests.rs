//! The search against the definition: all orders of small histories, one by one; and long histories that it decides.

mod waiting;

use super::super::blob::call::{Answer, Call, Condition, Event, Lease, Refusal};
use super::super::blob::model::Blob;
use super::super::file::call as file;
use super::super::file::model::Directory;
use super::{Model, Verdict, check};
use crate::history::hint::{Hint, Hints, PARTS};
use crate::random::Random;

/// Tries every order; unanswered operations may be left out.
fn by_definition(events: &[Event]) -> bool {
    fn go(events: &[Event], used: &mut Vec<bool>, state: Blob, latest: u64) -> bool {
        let unused = |used: &[bool], index: &usize| !used[*index];
        let left: Vec<usize> = (0..events.len()).filter(|index| unused(used, index)).collect();
        if left.iter().all(|index| events[*index].answer.is_none()) {
            return true;
        }
        let first = left.iter().filter_map(|index| events[*index].answer).map(|(_, moment)| moment).min();
        for index in left {
            let event = &events[index];
            if first.is_some_and(|moment| event.called > moment) || event.until < latest {
                continue;
            }
            if let Some(next) = state.step(event.call, event.answer.map(|(answer, _)| answer)) {
                used[index] = true;
                let found = go(events, used, next, latest.max(event.called));
                used[index] = false;
                if found {
                    return true;
                }
            }
        }
        false
    }
    go(events, &mut vec![false; events.len()], Blob::default(), 0)
}

fn random_event(random: &mut Random, number: u64) -> Event {
    let lease = random.one_in(3).then(|| random.below(2));
    let condition = match random.below(4) {
        0 => Condition::IfAbsent,
        1 | 2 => Condition::IfMatch(random.below(6)),
        _ => Condition::None,
    };
    let call = match random.below(9) {
        0..3 => Call::Get,
        3..6 => Call::Put { new: number, condition, lease },
        6 => Call::Delete { condition, lease },
        7 => Call::Acquire(random.below(2)),
        _ if random.one_in(2) => Call::Break,
        _ => Call::Release(random.below(2)),
    };
    let answer = match (call, random.below(3)) {
        (Call::Get, 0) => Answer::Refused(Refusal::BlobNotFound),
        (Call::Get, _) => {
            let lease = [Lease::Available, Lease::Leased, Lease::Broken][random.index(3)];
            Answer::Seen(random.below(6), lease)
        }
        (_, 0) => Answer::Refused(
            [Refusal::ConditionNotMet, Refusal::BlobNotFound, Refusal::BlobAlreadyExists][random.index(3)],
        ),
        _ => Answer::Done,
    };
    let called = random.below(20);
    let answered = called + random.below(12);
    match random.one_in(4) {
        false => {
            Event { call, called, answer: Some((answer, answered)), until: u64::MAX, hints: Hints::default() }
        }
        true => {
            let until = if random.one_in(2) { u64::MAX } else { answered };
            Event { call, called, answer: None, until, hints: Hints::default() }
        }
    }
}

/// Hints that mostly lie.
fn random_hints(random: &mut Random) -> Hints {
    let mut hint = |_: usize| {
        let at = random.below(32);
        random.one_in(2).then_some(if random.one_in(3) { Hint::Seen(at) } else { Hint::Made(at) })
    };
    std::array::from_fn::<_, PARTS, _>(&mut hint)
}

fn compare_with_the_definition(random: &mut Random, hints: impl Fn(&mut Random) -> Hints) {
    let (mut yes, mut no) = (0, 0);
    for _ in 0..60_000 {
        let length = random.between(1, 6);
        let mut events: Vec<Event> = (0..length).map(|number| random_event(random, number)).collect();
        events.iter_mut().for_each(|event| event.hints = hints(random));
        let expected = by_definition(&events);
        match check::<Blob>(&events) {
            Verdict::Linearizable if expected => yes += 1,
            Verdict::Impossible(_) if !expected => no += 1,
            verdict => panic!("{verdict:?}, by definition {expected}: {events:#?}"),
        }
    }
    assert!(yes > 3_000 && no > 3_000, "both kinds are tried: {yes} and {no}");
}

#[test]
fn the_search_finds_what_the_definition_says() {
    compare_with_the_definition(&mut Random::new(7), |_| Hints::default());
}

#[test]
fn hints_that_lie_change_no_verdict() {
    compare_with_the_definition(&mut Random::new(17), random_hints);
}

#[test]
fn judged_by_hand() {
    super::super::blob::bad::run().expect("blobs are judged as a person judges them");
    super::super::table::bad::run().expect("and entities");
}

/// As a server with a line for the blob tells it: each call waits for some others, and takes effect just before its answer.
fn from_a_line(random: &mut Random, clients: usize, length: u64) -> Vec<Event> {
    let mut state = Blob::default();
    let mut waiting: Vec<(Call, u64)> = Vec::new();
    let mut events = Vec::new();
    for moment in 0..length {
        if waiting.len() < clients {
            let call = match random.below(10) {
                0..3 => Call::Get,
                3 | 4 => Call::Put { new: moment, condition: Condition::None, lease: None },
                5 => Call::Delete { condition: Condition::None, lease: None },
                6 => Call::Acquire(random.below(8)),
                7 => Call::Release(random.below(8)),
                _ => Call::Break,
            };
            waiting.push((call, 2 * moment));
        } else {
            // Readings do not wait.
            let reading = waiting.iter().position(|(call, _)| call.reads());
            let (call, called) = waiting.swap_remove(reading.unwrap_or_else(|| random.index(clients)));
            let (next, answer) = state.serve(call);
            state = next;
            events.push(Event {
                call,
                called,
                answer: Some((answer, 2 * moment + 1)),
                until: u64::MAX,
                hints: Hints::default(),
            });
        }
    }
    events
}

#[test]
fn those_who_wait_long_are_not_tried_in_all_orders() {
    let mut random = Random::new(11);
    for _ in 0..10 {
        let events = from_a_line(&mut random, 24, 20_000);
        assert_eq!(check::<Blob>(&events), Verdict::Linearizable);
    }
}

fn of_a_file(random: &mut Random, new: u64) -> file::Call {
    let (name, other) = (random.index(file::NAMES), 1 + random.index(file::NAMES - 1));
    let to = (name + other) % file::NAMES;
    match random.below(10) {
        0..3 => file::Call::Get(name),
        3 | 4 => file::Call::Create(name),
        5 | 6 => file::Call::Write(name, new),
        7 => file::Call::Delete(name),
        8 => file::Call::Rename { from: name, to, replaces: true },
        _ => file::Call::Copy { from: name, to },
    }
}

/// A server that is killed while so many clients wait: some of what they asked for was done, in some order.
fn of_killed_servers(random: &mut Random, waiting: usize, kills: u64) -> Vec<file::Event> {
    let mut state = Directory::default();
    let (mut now, mut events) = (0, Vec::new());
    for _ in 0..kills {
        for _ in 0..40 {
            let call = of_a_file(random, now);
            let (next, answer) = state.serve(call);
            state = next;
            events.push(file::Event {
                call,
                called: now,
                answer: Some((answer, now + 1)),
                until: u64::MAX,
                hints: Hints::default(),
            });
            now += 2;
        }
        let dead = now + 100;
        for _ in 0..waiting {
            let call = of_a_file(random, now);
            if random.one_in(2) {
                state = state.serve(call).0;
            }
            if !call.reads() {
                events.push(file::Event {
                    call,
                    called: now,
                    answer: None,
                    until: dead,
                    hints: Hints::default(),
                });
            }
            now += 1;
        }
        now = dead + 1;
    }
    events
}

#[test]
fn many_unanswered_are_not_tried_in_all_orders() {
    let mut random = Random::new(13);
    for _ in 0..20 {
        let mut events = of_killed_servers(&mut random, 24, 6);
        assert_eq!(check::<Directory>(&events), Verdict::Linearizable);
        let last = events.iter().filter_map(|event| event.answer).map(|(_, moment)| moment).max();
        let called = last.expect("some were answered") + 1000;
        let lie = Some((file::Answer::Seen(u64::MAX), called + 1));
        events.push(file::Event {
            call: file::Call::Get(0),
            called,
            answer: lie,
            until: u64::MAX,
            hints: Hints::default(),
        });
        assert!(matches!(check::<Directory>(&events), Verdict::Impossible(_)));
    }
}
