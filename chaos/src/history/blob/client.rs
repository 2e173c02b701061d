//! One client of a history: asks, and writes down when it asked and what it was told when.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::call::{Answer, Call, Condition, Event, Holder, Lease, Refusal, Version};
use crate::Trial;
use crate::arena::{Guest, Moment, Sent};
use crate::blob::{self, lease_id};
use crate::random::Random;
use crate::wire::{self, Request};

pub struct Recorded {
    pub blob: usize,
    pub event: Event,
    /// A version and the ETag that stands for it, when the answer told.
    pub identity: Option<(Version, String)>,
}

pub struct Actor {
    me: Holder,
    random: Random,
    guest: Guest,
    versions: Arc<AtomicU64>,
    /// Of each blob: the version seen last and its ETag.
    seen: Vec<Option<(Version, String)>>,
    /// Of each blob: whether I think that I hold the lease.
    holds: Vec<bool>,
    recorded: Vec<Recorded>,
}

impl Actor {
    pub fn new(me: Holder, random: Random, guest: Guest, versions: Arc<AtomicU64>, blobs: usize) -> Self {
        let (seen, holds) = (vec![None; blobs], vec![false; blobs]);
        Self { me, random, guest, versions, seen, holds, recorded: Vec::new() }
    }

    pub async fn run(mut self, end: Instant) -> Trial<Vec<Recorded>> {
        while Instant::now() < end {
            self.act().await?;
        }
        Ok(self.recorded)
    }

    async fn act(&mut self) -> Trial {
        let blob = self.random.index(self.seen.len());
        let (call, request) = self.choose(blob);
        let called = self.guest.now();
        let outcome = self.guest.send(&request).await;
        let answered = self.guest.now();
        let (answer, identity) = match outcome {
            Sent::Unsent => return Ok(()),
            Sent::Open => (None, None),
            Sent::Told(answer) => {
                let (read, identity) = read(call, &answer)?;
                self.learn(blob, call, read, &identity);
                (Some((read, answered)), identity)
            }
        };
        // An unanswered reading says nothing.
        if answer.is_some() || call != Call::Get {
            let event = Event { call, called, answer, until: Moment::MAX };
            self.recorded.push(Recorded { blob, event, identity });
        }
        Ok(())
    }

    fn choose(&mut self, blob: usize) -> (Call, Request) {
        let name = format!("history/{blob}");
        let held = self.holds.get(blob).copied().unwrap_or(false);
        // Now and then a client forgets its lease, or sends an id without having one.
        let shows = held ^ self.random.one_in(8);
        let lease = shows.then_some(self.me);
        let seen = self.seen.get(blob).cloned().flatten();
        let id = lease_id(self.me);
        match (self.random.below(100), seen) {
            (0..30, _) => (Call::Get, blob::get(&name)),
            (30..60, Some((version, etag))) => {
                self.put(&name, Condition::IfMatch(version), lease, ("If-Match", etag))
            }
            (30..72, _) => self.put(&name, Condition::IfAbsent, lease, ("If-None-Match", "*".to_owned())),
            (72..76, _) => self.put(&name, Condition::None, lease, ("x-ms-client-request-id", "none".into())),
            (76..79, Some((version, etag))) => {
                let call = Call::Delete { condition: Condition::IfMatch(version), lease };
                let request = blob::delete(&name).header("If-Match", etag);
                (call, request.maybe("x-ms-lease-id", lease.map(lease_id)))
            }
            (76..84, _) => {
                let call = Call::Delete { condition: Condition::None, lease };
                (call, blob::delete(&name).maybe("x-ms-lease-id", lease.map(lease_id)))
            }
            (84..91, _) => (Call::Acquire(self.me), blob::acquire(&name, &id, -1)),
            (91..95, _) => (Call::Break, blob::break_now(&name)),
            _ => (Call::Release(self.me), blob::lease(&name, "release").header("x-ms-lease-id", id)),
        }
    }

    fn put(
        &mut self,
        name: &str,
        condition: Condition,
        lease: Option<Holder>,
        header: (&'static str, String),
    ) -> (Call, Request) {
        let new = self.versions.fetch_add(1, Ordering::Relaxed);
        let request = blob::put(name, new.to_string()).header(header.0, header.1);
        (Call::Put { new, condition, lease }, request.maybe("x-ms-lease-id", lease.map(lease_id)))
    }

    fn learn(&mut self, blob: usize, call: Call, answer: Answer, identity: &Option<(Version, String)>) {
        let (Some(seen), Some(holds)) = (self.seen.get_mut(blob), self.holds.get_mut(blob)) else { return };
        if let Some(identity) = identity {
            *seen = Some(identity.clone());
        }
        match (call, answer) {
            (_, Answer::Refused(Refusal::BlobNotFound)) | (Call::Delete { .. }, Answer::Done) => {
                *seen = None;
                *holds = false;
            }
            (Call::Acquire(_), answer) => *holds = answer == Answer::Done,
            (Call::Break | Call::Release(_), Answer::Done) => *holds = false,
            (
                _,
                Answer::Refused(
                    Refusal::LeaseLost
                    | Refusal::LeaseIdMismatchWithBlobOperation
                    | Refusal::LeaseNotPresentWithBlobOperation,
                ),
            ) => *holds = false,
            _ => {}
        }
    }
}

type Told = (Answer, Option<(Version, String)>);

/// What was told; anything that the service never says in such a case is an error.
fn read(call: Call, answer: &wire::Answer) -> Trial<Told> {
    let unexpected = || format!("{call:?} was answered {}", answer.shown());
    if answer.status >= 300 {
        let refusal = Refusal::read(answer.status, answer.code()).ok_or_else(unexpected)?;
        return Ok((Answer::Refused(refusal), None));
    }
    let expected = match call {
        Call::Get | Call::Release(_) => 200,
        Call::Put { .. } | Call::Acquire(_) => 201,
        Call::Delete { .. } | Call::Break => 202,
    };
    if answer.status != expected {
        return Err(unexpected());
    }
    match call {
        Call::Get => {
            let version = std::str::from_utf8(&answer.body).ok().and_then(|text| text.parse().ok());
            let version = version.ok_or_else(|| format!("a blob holds {:?}", answer.body))?;
            let lease = match answer.header("x-ms-lease-state") {
                Some("available") => Lease::Available,
                Some("leased") => Lease::Leased,
                Some("broken") => Lease::Broken,
                other => return Err(format!("lease state {other:?}")),
            };
            Ok((Answer::Seen(version, lease), Some((version, answer.etag()))))
        }
        Call::Put { new, .. } => Ok((Answer::Done, Some((new, answer.etag())))),
        _ => Ok((Answer::Done, None)),
    }
}
