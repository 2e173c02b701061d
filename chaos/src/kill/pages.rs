//! One writer of page blobs that are copied to each other: whatever is written, cleared or copied is there as a whole, or not at
//! all, and what was acknowledged is there.

use std::net::SocketAddr;

use super::Step;
use crate::Trial;
use crate::blob;
use crate::random::Random;
use crate::sas;
use crate::wire::{Answer, Client, Lost, Request};

const PAGE: usize = 512;
const PAGES: usize = 300;
const BLOBS: usize = 3;
/// In pages: inline, a chunk, more than half of the blob.
const LENGTHS: [usize; 4] = [1, 30, 60, 200];

pub struct Pages {
    number: u64,
    random: Random,
    /// The blobs as they were acknowledged; None before the first write.
    known: Vec<Option<Vec<u8>>>,
    /// Which blob was being changed when the server died, and to what.
    changing: Option<(usize, Vec<u8>)>,
    pub acknowledged: u64,
    pub open: u64,
}

impl Pages {
    pub fn new(number: u64, random: Random) -> Self {
        Self { number, random, known: vec![None; BLOBS], changing: None, acknowledged: 0, open: 0 }
    }

    fn name(&self, index: usize) -> String {
        format!("pages/w{}/{index}", self.number)
    }

    /// Writes until the server is gone.
    pub async fn write(&mut self, address: SocketAddr) -> Trial {
        let mut client = Client::new(address);
        while let Step::Done = self.change(&mut client, address).await? {}
        Ok(())
    }

    async fn change(&mut self, client: &mut Client, address: SocketAddr) -> Trial<Step> {
        let index = self.random.index(BLOBS);
        let name = self.name(index);
        let Some(now) = self.known.get(index).cloned().flatten() else {
            let create = blob::of_blob("PUT", &name, "")
                .header("x-ms-blob-type", "PageBlob")
                .header("x-ms-blob-content-length", PAGES * PAGE);
            let outcome = client.send(&create).await;
            return self.learn(index, vec![0; PAGES * PAGE], 201, outcome);
        };
        let start = self.random.index(PAGES);
        let length = LENGTHS.get(self.random.index(LENGTHS.len())).copied().unwrap_or(1).min(PAGES - start);
        let bytes = start * PAGE..(start + length) * PAGE;
        let range = format!("bytes={}-{}", bytes.start, bytes.end - 1);
        let mut next = now;
        let (request, status) = match self.random.below(10) {
            0..=5 => {
                let content = blob::content(self.random.next(), bytes.len());
                next[bytes].copy_from_slice(&content);
                (pages(&name, "update", &range).body(content), 201)
            }
            6..=7 => {
                next[bytes].fill(0);
                (pages(&name, "clear", &range), 201)
            }
            _ => {
                let from = self.random.index(BLOBS);
                let Some(source) = self.known.get(from).cloned().flatten() else { return Ok(Step::Done) };
                next = source;
                let source = sas::address(address, &format!("{}/{}", blob::CONTAINER, self.name(from)));
                (blob::of_blob("PUT", &name, "").header("x-ms-copy-source", source), 202)
            }
        };
        let outcome = client.send(&request).await;
        self.learn(index, next, status, outcome).map_err(|reason| format!("{name}: {reason}"))
    }

    fn learn(
        &mut self,
        index: usize,
        next: Vec<u8>,
        status: u16,
        outcome: Result<Answer, Lost>,
    ) -> Trial<Step> {
        match outcome {
            Ok(answer) if answer.status < 500 => {
                answer.expect(status, "a write that nobody disputes")?;
                if let Some(known) = self.known.get_mut(index) {
                    *known = Some(next);
                }
                self.acknowledged += 1;
                Ok(Step::Done)
            }
            Ok(_) | Err(Lost::Open) => {
                self.changing = Some((index, next));
                self.open += 1;
                Ok(Step::Gone)
            }
            Err(Lost::Unsent) => Ok(Step::Gone),
        }
    }

    /// Compares every blob with what must be there.
    pub async fn check(&mut self, address: SocketAddr) -> Trial {
        let mut client = Client::new(address);
        let changing = self.changing.take();
        for index in 0..BLOBS {
            let name = self.name(index);
            let answer = client.must(&blob::get(&name)).await?;
            let found = match answer.status {
                404 => None,
                _ => Some(answer.expect(200, &name)?.body.to_vec()),
            };
            let Some(known) = self.known.get_mut(index) else { continue };
            let changed = changing.as_ref().filter(|(at, _)| *at == index).map(|(_, next)| next);
            settle(found.as_ref(), known.as_ref(), changed).map_err(|reason| format!("{name}: {reason}"))?;
            *known = found;
        }
        Ok(())
    }
}

/// What was acknowledged, or what was under way as a whole; nothing else.
fn settle(found: Option<&Vec<u8>>, known: Option<&Vec<u8>>, changed: Option<&Vec<u8>>) -> Trial {
    if found == known || (found.is_some() && found == changed) {
        return Ok(());
    }
    Err(format!(
        "LOST or torn: beside what was acknowledged {}, beside what was under way {}",
        compare(found, known),
        compare(found, changed)
    ))
}

/// How many pages differ, for a person.
fn compare(found: Option<&Vec<u8>>, wanted: Option<&Vec<u8>>) -> String {
    match (found, wanted) {
        (Some(found), Some(wanted)) => {
            let pages = found.chunks(PAGE).zip(wanted.chunks(PAGE));
            format!("{} pages differ", pages.filter(|(one, other)| one != other).count())
        }
        (found, wanted) => format!("there is {}, there was {}", found.is_some(), wanted.is_some()),
    }
}

fn pages(name: &str, what: &str, range: &str) -> Request {
    blob::of_blob("PUT", name, "comp=page").header("x-ms-page-write", what).header("x-ms-range", range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_acknowledged_or_the_whole_of_what_was_under_way() {
        let [old, new] = [1, 2].map(|byte| vec![byte; 2 * PAGE]);
        let torn = [&old[..PAGE], &new[..PAGE]].concat();
        let ok = |found, known, changed| settle(found, known, changed).is_ok();
        assert!(ok(Some(&old), Some(&old), Some(&new)));
        assert!(ok(Some(&new), Some(&old), Some(&new)));
        assert!(ok(None, None, Some(&new)), "the first write did not come to be");
        assert!(!ok(Some(&torn), Some(&old), Some(&new)), "torn");
        assert!(!ok(Some(&new), Some(&old), None), "never written");
        assert!(!ok(None, Some(&old), Some(&new)), "lost");
        assert!(!ok(None, Some(&old), None), "lost");
    }
}
