//! What a client asks of files, and what it makes of the answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::call::{Answer, Call, Event, NAMES, Name};
use super::model::Directory;
use super::tamper;
use crate::Trial;
use crate::history::record::{Actor, Identity};
use crate::random::Random;
use crate::sas::{self, signed};
use crate::server::Doors;
use crate::wire::{self, Request};

const SHARE: &str = "history";
/// A version in digits, again and again: more than one piece of the stored bytes.
const LENGTH: usize = 20 * 1000;

pub struct Files {
    random: Random,
    versions: Arc<AtomicU64>,
}

fn path(directory: usize, name: Name) -> String {
    format!("{SHARE}/{directory}-{name}")
}

/// As requests name a file of the server that they are sent to.
fn source(path: &str) -> String {
    sas::address(SocketAddr::from(([127, 0, 0, 1], 80)), path).replacen(":80/", "/", 1)
}

impl Actor for Files {
    type Model = Directory;
    const NAME: &'static str = "file-history";
    const SUBJECT: &'static str = "directory";
    const SUBJECTS: &'static str = "directories";

    fn new(_: u64, random: Random, versions: Arc<AtomicU64>, _: usize) -> Self {
        Self { random, versions }
    }

    fn door(doors: &Doors) -> SocketAddr {
        doors.file
    }

    fn first() -> Request {
        signed("PUT", SHARE, "restype=share")
    }

    fn choose(&mut self, directory: usize) -> (Call, Request) {
        let (name, other) = (self.random.index(NAMES), 1 + self.random.index(NAMES - 1));
        let (at, to) = (path(directory, name), (name + other) % NAMES);
        match self.random.below(100) {
            0..30 => (Call::Get(name), signed("GET", &at, "")),
            30..45 => {
                let request = signed("PUT", &at, "").header("x-ms-type", "file");
                (Call::Create(name), request.header("x-ms-content-length", LENGTH))
            }
            45..65 => {
                let new = self.versions.fetch_add(1, Ordering::Relaxed);
                let bytes = format!("{new:020}").repeat(LENGTH / 20);
                let request = signed("PUT", &at, "comp=range").header("x-ms-write", "update");
                let range = format!("bytes=0-{}", LENGTH - 1);
                (Call::Write(name, new), request.header("x-ms-range", range).body(bytes))
            }
            65..72 => (Call::Delete(name), signed("DELETE", &at, "")),
            72..86 => {
                let replaces = self.random.one_in(2);
                let request = signed("PUT", &path(directory, to), "comp=rename")
                    .header("x-ms-file-rename-source", source(&at))
                    .header("x-ms-file-rename-replace-if-exists", replaces);
                (Call::Rename { from: name, to, replaces }, request)
            }
            _ => {
                let request = signed("PUT", &path(directory, to), "").header("x-ms-copy-source", source(&at));
                (Call::Copy { from: name, to }, request)
            }
        }
    }

    fn reads(call: &Call) -> bool {
        call.reads()
    }

    fn etags(call: Call, answer: &wire::Answer, _told: &[Identity]) -> (Vec<(usize, String)>, bool) {
        let name = match call {
            Call::Get(name) | Call::Create(name) | Call::Write(name, _) | Call::Delete(name) => name,
            Call::Rename { to, .. } | Call::Copy { to, .. } => to,
        };
        (vec![(name, answer.etag())], !call.reads())
    }

    fn learn(&mut self, _: usize, _: Call, _: Answer, _: &[Identity]) {}

    fn read(call: Call, answer: &wire::Answer) -> Trial<(Answer, Vec<Identity>)> {
        let unexpected = || format!("{call:?} was answered {}", answer.shown());
        let told = match (call, answer.status, answer.code()) {
            (Call::Get(_), 200, _) => Answer::Seen(version(&answer.body)?),
            (Call::Create(_) | Call::Write(..), 201, _)
            | (Call::Delete(_) | Call::Copy { .. }, 202, _)
            | (Call::Rename { .. }, 200, _) => Answer::Done,
            (_, 404, "ResourceNotFound") => Answer::NotFound,
            // What a copy is told of a source that it names with a token.
            (Call::Copy { .. }, 404, "CannotVerifyCopySource") => Answer::NotFound,
            (Call::Rename { .. }, 409, "ResourceAlreadyExists") => Answer::AlreadyExists,
            _ => return Err(unexpected()),
        };
        // The ETag of a file is another one under each of its names.
        Ok((told, Vec::new()))
    }

    fn tamper(events: &[Event]) -> Trial<usize> {
        tamper::all_rejected(events)
    }
}

/// One version, all over the file.
fn version(body: &[u8]) -> Trial<u64> {
    if body.len() == LENGTH && body.iter().all(|byte| *byte == 0) {
        return Ok(0);
    }
    let first = body.get(..20).unwrap_or_default();
    if body.len() != LENGTH || body.chunks(20).any(|part| part != first) {
        return Err(format!("a file of {} bytes is TORN, it begins with {first:?}", body.len()));
    }
    let text = std::str::from_utf8(first).map_err(|error| error.to_string())?;
    text.parse().map_err(|_| format!("a file holds {text}"))
}
