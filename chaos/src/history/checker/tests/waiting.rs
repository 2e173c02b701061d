//! Files of a busy server: many wait long for each name, many copies and renames are never seen, and the order of the
//! answers tells little. Without the ETags there are too many orders of what was asked.

use super::super::order::Trust;
use super::super::{Search, Verdict, check};
use super::of_a_file;
use crate::history::file::Files;
use crate::history::file::call::{Answer, Call, Event};
use crate::history::file::model::Directory;
use crate::history::hint::{Hint, Hints, PARTS};
use crate::history::record::Actor;
use crate::random::Random;

const CLIENTS: u64 = 24;
/// Between the kills of the server.
const LIFE: u64 = 30_000;

struct Asked {
    call: Call,
    called: u64,
    done: u64,
    answered: u64,
    until: u64,
}

/// Each client asks again when it was answered, or when the server that it had asked was killed.
fn asked(random: &mut Random, end: u64, killed: u64) -> Vec<Asked> {
    let mut all = Vec::new();
    for client in 0..CLIENTS {
        let mut called = client + 1;
        while called < end {
            // No two are done at one moment.
            let done = (called / CLIENTS + random.between(1, 60)) * CLIENTS + client;
            let answered = done + random.between(1, 60) * CLIENTS;
            let call = of_a_file(random, called * CLIENTS + client);
            let until = death_of(called, client, killed);
            all.push(Asked { call, called, done, answered, until });
            called = answered.min(until) + random.between(1, 3);
        }
    }
    all.sort_unstable_by_key(|asked| asked.done);
    all
}

/// When the server dies that a client had asked. With each life ends the server of so many clients, of others each time.
fn death_of(called: u64, client: u64, killed: u64) -> u64 {
    let first = called / LIFE + 1;
    let mut own = (first..first + CLIENTS).filter(|death| (client + death).is_multiple_of(CLIENTS / killed));
    own.next().map_or(u64::MAX, |death| death * LIFE)
}

/// The name whose ETag is in the answer.
fn name_of(call: Call) -> usize {
    match call {
        Call::Get(name) | Call::Create(name) | Call::Write(name, _) | Call::Delete(name) => name,
        Call::Rename { to, .. } | Call::Copy { to, .. } => to,
    }
}

/// As the server tells it. A commit comes some time after the moment that makes its ETag, so that ETags of two names tell
/// little of each other.
///
/// `killed`: how many clients lose their server at a time. `settled`: how long after its death a server may still have
/// effects, as far as anybody knows.
fn told(random: &mut Random, end: u64, killed: u64, settled: u64) -> Vec<Event> {
    let (mut state, mut latest) = (Directory::default(), [0; PARTS]);
    let mut events = Vec::new();
    for Asked { call, called, done, answered, until } in asked(random, end, killed) {
        let name = name_of(call);
        let mut hints = Hints::default();
        let mut answer = None;
        if done < until {
            let (next, given) = state.serve(call);
            state = next;
            answer = Some((given, answered)).filter(|_| answered < until);
            match (call, given) {
                (Call::Get(_), Answer::Seen(_)) => hints[name] = Some(Hint::Seen(latest[name])),
                (Call::Delete(_), _) => {}
                (_, Answer::Done) => {
                    let begun = done.saturating_sub(random.below(40) * CLIENTS).max(called);
                    latest[name] = begun.max(latest[name] + 1);
                    hints[name] = Some(Hint::Made(latest[name]));
                }
                _ => {}
            }
        }
        match answer {
            Some(_) => events.push(Event { call, called, answer, until: u64::MAX, hints }),
            None if call.reads() => {}
            None => events.push(Event {
                call,
                called,
                answer,
                until: until.saturating_add(settled),
                hints: Hints::default(),
            }),
        }
    }
    events
}

#[test]
fn with_their_etags_those_who_wait_for_a_name_are_put_in_order() {
    let mut random = Random::new(23);
    for _ in 0..10 {
        let events = told(&mut random, 4 * LIFE, CLIENTS, 0);
        let verdict = check::<Directory>(&events);
        assert_eq!(verdict, Verdict::Linearizable, "of {} operations", events.len());
    }
}

/// As in a cluster, where a database may commit what a dead server had sent, while others go on.
#[test]
fn what_a_dead_server_may_still_do_is_put_in_order() {
    let mut random = Random::new(37);
    for _ in 0..10 {
        let events = told(&mut random, 4 * LIFE, CLIENTS / 3, LIFE / 2);
        let verdict = check::<Directory>(&events);
        assert_eq!(verdict, Verdict::Linearizable, "of {} operations", events.len());
    }
}

#[test]
fn without_their_etags_there_are_too_many_orders() {
    let events = told(&mut Random::new(23), 4 * LIFE, CLIENTS, 0);
    assert!(matches!(
        Search::<Directory>::new(&events, (Trust::None, usize::MAX)).run(),
        Verdict::Undecided(_)
    ));
}

#[test]
fn tampered_with_they_are_impossible() {
    let mut random = Random::new(29);
    for _ in 0..10 {
        let events = told(&mut random, LIFE, CLIENTS, 0);
        assert_eq!(Files::tamper(&events), Ok(2));
    }
}

/// ETags of a clock that runs backwards: the search finds the order without them.
#[test]
fn hints_of_a_clock_that_runs_backwards_do_no_harm() {
    let mut random = Random::new(31);
    let mut events = super::from_a_line(&mut random, 24, 5_000);
    for event in &mut events {
        let at = event.answer.map_or(0, |(_, moment)| moment);
        event.hints[0] = Some(Hint::Made(10_000 - at));
    }
    assert_eq!(check::<crate::history::blob::model::Blob>(&events), Verdict::Linearizable);
}
