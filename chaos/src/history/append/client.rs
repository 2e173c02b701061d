//! What a client asks of append blobs, and what it makes of the answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::call::{Answer, Blocks, Call, Event, Refusal};
use super::model::AppendBlob;
use super::tamper;
use crate::Trial;
use crate::blob;
use crate::history::record::{Actor, Identity};
use crate::random::Random;
use crate::server::Doors;
use crate::wire::{self, Request};

/// A blob has no parts.
const WHOLE: usize = 0;
/// Bytes of a block: its number.
const BLOCK: usize = 8;
/// A blob with so many blocks is begun anew.
const MANY: u64 = 400;

pub struct AppendBlobs {
    random: Random,
    versions: Arc<AtomicU64>,
    /// Of each blob: how many blocks I know of.
    counts: Vec<u64>,
}

impl Actor for AppendBlobs {
    type Model = AppendBlob;
    const NAME: &'static str = "append-history";
    const SUBJECT: &'static str = "append blob";
    const SUBJECTS: &'static str = "append blobs";

    fn new(_number: u64, random: Random, versions: Arc<AtomicU64>, blobs: usize) -> Self {
        Self { random, versions, counts: vec![0; blobs] }
    }

    fn door(doors: &Doors) -> SocketAddr {
        doors.blob
    }

    fn first() -> Request {
        blob::create_container()
    }

    fn choose(&mut self, blob: usize) -> (Call, Request) {
        let name = format!("append-history/{blob}");
        let count = self.counts.get(blob).copied().unwrap_or(0);
        match self.random.below(100) {
            0..20 => (Call::Read, blob::get(&name)),
            20..90 => {
                let new = self.versions.fetch_add(1, Ordering::Relaxed);
                let at = self.random.one_in(3).then_some(count);
                let request = blob::of_blob("PUT", &name, "comp=appendblock")
                    .maybe("x-ms-blob-condition-appendpos", at.map(|at| at * BLOCK as u64))
                    .body(new.to_le_bytes().to_vec());
                (Call::Append { new, at }, request)
            }
            90..99 => {
                let if_absent = count < MANY;
                let request = blob::of_blob("PUT", &name, "")
                    .header("x-ms-blob-type", "AppendBlob")
                    .maybe("If-None-Match", if_absent.then_some("*"));
                (Call::Create { if_absent }, request)
            }
            _ => (Call::Delete, blob::delete(&name)),
        }
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
        let told = match (call, answer.status) {
            (Call::Read, 200) if answer.body.len().is_multiple_of(BLOCK) => {
                let blocks = answer.body.chunks(BLOCK).filter_map(|block| block.try_into().ok());
                Answer::Seen(blocks.map(u64::from_le_bytes).fold(Blocks::default(), Blocks::with))
            }
            (Call::Append { .. }, 201) => {
                let offset = answer.header("x-ms-blob-append-offset").and_then(|offset| offset.parse().ok());
                let offset: u64 = offset.ok_or_else(unexpected)?;
                if !offset.is_multiple_of(BLOCK as u64) {
                    return Err(format!("a block that begins inside another one: {}", answer.shown()));
                }
                Answer::Appended(offset / BLOCK as u64)
            }
            (Call::Create { .. }, 201) | (Call::Delete, 202) => Answer::Done,
            _ => return Err(unexpected()),
        };
        Ok((told, Vec::new()))
    }

    fn etags(call: Call, answer: &wire::Answer, _told: &[Identity]) -> (Vec<(usize, String)>, bool) {
        (vec![(WHOLE, answer.etag())], !call.reads())
    }

    fn learn(&mut self, blob: usize, call: Call, answer: Answer, _told: &[Identity]) {
        let Some(count) = self.counts.get_mut(blob) else { return };
        match (call, answer) {
            (_, Answer::Seen(blocks)) => *count = blocks.count,
            (_, Answer::Appended(at)) => *count = at + 1,
            (_, Answer::Done | Answer::Refused(Refusal::BlobNotFound)) => *count = 0,
            _ => {}
        }
    }

    fn tamper(events: &[Event]) -> Trial<usize> {
        tamper::all_rejected(events)
    }
}
