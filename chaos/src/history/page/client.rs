//! What a client asks of page blobs, and what it makes of the answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::call::{Action, Answer, Call, Condition, Event, PAGES, Pages, Refusal, Version};
use super::model::PageBlob;
use super::tamper;
use crate::Trial;
use crate::blob;
use crate::history::record::{Actor, Identity};
use crate::random::Random;
use crate::server::Doors;
use crate::wire::{self, Request};

const PAGE: usize = 512;
/// A blob has no parts.
const WHOLE: usize = 0;

pub struct PageBlobs {
    random: Random,
    versions: Arc<AtomicU64>,
    /// Of each blob: the last change of my own and the ETag that it left, and the sequence number that I saw last.
    mine: Vec<Option<(Version, String)>>,
    sequence: Vec<u64>,
}

impl Actor for PageBlobs {
    type Model = PageBlob;
    const NAME: &'static str = "page-history";
    const SUBJECT: &'static str = "page blob";
    const SUBJECTS: &'static str = "page blobs of three pages";

    fn new(_number: u64, random: Random, versions: Arc<AtomicU64>, blobs: usize) -> Self {
        Self { random, versions, mine: vec![None; blobs], sequence: vec![0; blobs] }
    }

    fn door(doors: &Doors) -> SocketAddr {
        doors.blob
    }

    fn first() -> Request {
        blob::create_container()
    }

    fn choose(&mut self, blob: usize) -> (Call, Request) {
        let call = self.call(blob);
        (call, self.request(blob, call))
    }

    fn reads(call: &Call) -> bool {
        call.reads()
    }

    fn read(call: Call, answer: &wire::Answer) -> Trial<(Answer, Vec<Identity>)> {
        let unexpected = || format!("{call:?} was answered {}", answer.shown());
        if answer.status >= 300 {
            let refusal = Refusal::read(answer.status, answer.code()).ok_or_else(unexpected)?;
            return Ok((Answer::Refused(refusal), Vec::new()));
        }
        let expected = match call {
            Call::Read | Call::Sequence { .. } => 200,
            Call::Create { .. } | Call::Write { .. } | Call::Clear { .. } => 201,
            Call::Delete => 202,
        };
        if answer.status != expected {
            return Err(unexpected());
        }
        if call == Call::Read {
            let mut pages = [0; PAGES];
            if answer.body.len() != PAGES * PAGE {
                return Err(unexpected());
            }
            for (page, bytes) in pages.iter_mut().zip(answer.body.chunks(PAGE)) {
                *page = version_of(bytes)?;
            }
            let sequence = answer.header("x-ms-blob-sequence-number").and_then(|number| number.parse().ok());
            return Ok((Answer::Seen(pages, sequence.ok_or_else(unexpected)?), Vec::new()));
        }
        let made = call.made().map(|version| (WHOLE, version, answer.etag()));
        Ok((Answer::Done, made.into_iter().collect()))
    }

    fn etags(call: Call, answer: &wire::Answer, _told: &[Identity]) -> (Vec<(usize, String)>, bool) {
        (vec![(WHOLE, answer.etag())], !call.reads())
    }

    fn learn(&mut self, blob: usize, _call: Call, answer: Answer, told: &[Identity]) {
        if let (Some(mine), Some((_, version, etag))) = (self.mine.get_mut(blob), told.first()) {
            *mine = Some((*version, etag.clone()));
        }
        if let (Some(seen), Answer::Seen(_, sequence)) = (self.sequence.get_mut(blob), answer) {
            *seen = sequence;
        }
    }

    fn tamper(events: &[Event]) -> Trial<usize> {
        tamper::all_rejected(events)
    }
}

impl PageBlobs {
    fn call(&mut self, blob: usize) -> Call {
        let chance = self.random.below(100);
        if chance < 30 {
            return Call::Read;
        }
        let new = self.versions.fetch_add(1, Ordering::Relaxed);
        match chance {
            30..60 => Call::Write { new, pages: self.pages(), condition: self.condition(blob) },
            60..75 => Call::Clear { new, pages: self.pages(), condition: self.condition(blob) },
            75..85 => {
                let seen = self.sequence.get(blob).copied().unwrap_or(0);
                let action = match self.random.one_in(2) {
                    true => Action::Increment,
                    false => Action::Max(seen + self.random.below(3)),
                };
                Call::Sequence { new, action }
            }
            85..98 => Call::Create { new, if_absent: !self.random.one_in(10) },
            _ => Call::Delete,
        }
    }

    fn pages(&mut self) -> Pages {
        let (one, other) = (self.random.index(PAGES), self.random.index(PAGES));
        Pages { first: one.min(other), last: one.max(other) }
    }

    fn condition(&mut self, blob: usize) -> Condition {
        let seen = self.sequence.get(blob).copied().unwrap_or(0);
        match (self.random.below(4), self.mine.get(blob)) {
            (0, Some(Some((version, _)))) => Condition::IfMatch(*version),
            (1, _) => Condition::SequenceBelow(seen + 1),
            (2, _) => Condition::SequenceIs(seen),
            _ => Condition::None,
        }
    }

    fn request(&self, blob: usize, call: Call) -> Request {
        let name = format!("page-history/{blob}");
        match call {
            Call::Read => blob::get(&name),
            Call::Create { if_absent, .. } => blob::of_blob("PUT", &name, "")
                .header("x-ms-blob-type", "PageBlob")
                .header("x-ms-blob-content-length", PAGES * PAGE)
                .maybe("If-None-Match", if_absent.then_some("*")),
            Call::Write { new, pages, condition } => {
                let count = pages.last + 1 - pages.first;
                let request = self.page_write(&name, "update", pages, blob, condition);
                request.body(page_of(new).repeat(count))
            }
            Call::Clear { pages, condition, .. } => self.page_write(&name, "clear", pages, blob, condition),
            Call::Sequence { action, .. } => {
                let request = blob::of_blob("PUT", &name, "comp=properties");
                match action {
                    Action::Increment => request.header("x-ms-sequence-number-action", "increment"),
                    Action::Max(least) => request
                        .header("x-ms-sequence-number-action", "max")
                        .header("x-ms-blob-sequence-number", least),
                }
            }
            Call::Delete => blob::delete(&name),
        }
    }

    fn page_write(&self, name: &str, what: &str, pages: Pages, blob: usize, condition: Condition) -> Request {
        let range = format!("bytes={}-{}", pages.first * PAGE, (pages.last + 1) * PAGE - 1);
        let request = blob::of_blob("PUT", name, "comp=page")
            .header("x-ms-page-write", what)
            .header("x-ms-range", range);
        let etag = self.mine.get(blob).and_then(|mine| mine.as_ref()).map(|(_, etag)| etag.clone());
        match condition {
            Condition::None => request,
            Condition::IfMatch(_) => request.maybe("If-Match", etag),
            Condition::SequenceBelow(limit) => request.header("x-ms-if-sequence-number-lt", limit),
            Condition::SequenceIs(wanted) => request.header("x-ms-if-sequence-number-eq", wanted),
        }
    }
}

/// A page that tells in each of its words which request wrote it.
fn page_of(version: Version) -> Vec<u8> {
    version.to_le_bytes().repeat(PAGE / 8)
}

fn version_of(page: &[u8]) -> Trial<Version> {
    let mut words = page.chunks(8).filter_map(|word| word.try_into().ok().map(u64::from_le_bytes));
    let first = words.next().ok_or("an empty page")?;
    match words.all(|word| word == first) {
        true => Ok(first),
        false => Err(format!("a torn page: it begins with the bytes of {first} and has others")),
    }
}
