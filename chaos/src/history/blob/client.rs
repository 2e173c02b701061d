//! What a client asks of blobs, and what it makes of the answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::call::{Answer, Call, Condition, Event, Holder, Lease, Refusal, Version};
use super::model::Blob;
use super::tamper;
use crate::Trial;
use crate::blob::{self, lease_id};
use crate::history::record::{Actor, Identity};
use crate::random::Random;
use crate::server::Doors;
use crate::wire::{self, Request};

/// A blob has no parts.
const WHOLE: usize = 0;

pub struct Blobs {
    me: Holder,
    random: Random,
    versions: Arc<AtomicU64>,
    /// Of each blob: the version seen last and its ETag.
    seen: Vec<Option<(Version, String)>>,
    /// Of each blob: whether I think that I hold the lease.
    holds: Vec<bool>,
}

impl Actor for Blobs {
    type Model = Blob;
    const NAME: &'static str = "history";
    const SUBJECT: &'static str = "blob";
    const SUBJECTS: &'static str = "blobs";

    fn new(me: Holder, random: Random, versions: Arc<AtomicU64>, blobs: usize) -> Self {
        Self { me, random, versions, seen: vec![None; blobs], holds: vec![false; blobs] }
    }

    fn door(doors: &Doors) -> SocketAddr {
        doors.blob
    }

    fn first() -> Request {
        blob::create_container()
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

    fn reads(call: &Call) -> bool {
        call.reads()
    }

    fn etags(call: Call, answer: &wire::Answer, _told: &[Identity]) -> (Vec<(usize, String)>, bool) {
        // A lease is no part of the content, and leaves its ETag.
        (vec![(WHOLE, answer.etag())], matches!(call, Call::Put { .. }))
    }

    fn learn(&mut self, blob: usize, call: Call, answer: Answer, told: &[Identity]) {
        let (Some(seen), Some(holds)) = (self.seen.get_mut(blob), self.holds.get_mut(blob)) else { return };
        if let Some((_, version, etag)) = told.first() {
            *seen = Some((*version, etag.clone()));
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

    fn read(call: Call, answer: &wire::Answer) -> Trial<(Answer, Vec<Identity>)> {
        let unexpected = || format!("{call:?} was answered {}", answer.shown());
        if answer.status >= 300 {
            let refusal = Refusal::read(answer.status, answer.code()).ok_or_else(unexpected)?;
            return Ok((Answer::Refused(refusal), Vec::new()));
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
                Ok((Answer::Seen(version, lease), vec![(WHOLE, version, answer.etag())]))
            }
            Call::Put { new, .. } => Ok((Answer::Done, vec![(WHOLE, new, answer.etag())])),
            _ => Ok((Answer::Done, Vec::new())),
        }
    }

    fn tamper(events: &[Event]) -> Trial<usize> {
        tamper::all_rejected(events)
    }
}

impl Blobs {
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
}
