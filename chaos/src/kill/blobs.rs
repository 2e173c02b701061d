//! One writer of blobs: blobs that it changes in every way there is, and blobs that it writes once and never touches again.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use state::{Blob, Known, State};

use super::Step;
use crate::Trial;
use crate::blob::{self, lease_id};
use crate::random::Random;
use crate::wire::{Answer, Client, Lost, Request};

mod state;

const BLOBS: usize = 6;
/// Inline in a record, a chunk, several chunks.
const LENGTHS: [usize; 5] = [0, 900, 16 * 1024, 100 * 1024, 5 * 1024 * 1024];
const BLOCKS: usize = 3;

pub struct Blobs {
    number: u64,
    random: Random,
    blobs: Vec<Known>,
    /// Name to seed and ETag; no ETag when the answer never came.
    once: BTreeMap<String, (u64, Option<String>)>,
    pub acknowledged: u64,
    pub open: u64,
}

impl Blobs {
    pub fn new(number: u64, random: Random) -> Self {
        let blobs = vec![Known::default(); BLOBS];
        Self { number, random, blobs, once: BTreeMap::new(), acknowledged: 0, open: 0 }
    }

    fn name(&self, index: usize) -> String {
        format!("w{}/{index}", self.number)
    }

    fn lease_id(&self, index: usize) -> String {
        lease_id(self.number * 100 + index as u64)
    }

    /// Writes until the server is gone. An answer that contradicts what this writer knows is an error.
    pub async fn write(&mut self, address: SocketAddr) -> Trial {
        let mut client = Client::new(address);
        loop {
            let step = match self.random.below(3) {
                0 => self.write_once(&mut client).await?,
                _ => self.change(&mut client).await?,
            };
            if matches!(step, Step::Gone) {
                return Ok(());
            }
        }
    }

    async fn write_once(&mut self, client: &mut Client) -> Trial<Step> {
        let seed = self.random.next();
        let name = format!("once/w{}/{:06}", self.number, self.once.len());
        let request = blob::put(&name, once_content(seed)).header("If-None-Match", "*");
        let etag = match client.send(&request).await {
            Ok(answer) if answer.status < 500 => Some(answer.expect(201, &name)?.etag()),
            Ok(_) | Err(Lost::Open) => None,
            Err(Lost::Unsent) => return Ok(Step::Gone),
        };
        let step = if etag.is_some() { Step::Done } else { Step::Gone };
        self.count(&step);
        self.once.insert(name, (seed, etag));
        Ok(step)
    }

    fn count(&mut self, step: &Step) {
        match step {
            Step::Done => self.acknowledged += 1,
            Step::Gone => self.open += 1,
        }
    }

    async fn change(&mut self, client: &mut Client) -> Trial<Step> {
        let index = self.random.index(BLOBS);
        let name = self.name(index);
        let Some(now) = self.blobs.get(index).map(|known| known.acknowledged.clone()) else {
            return Ok(Step::Done);
        };
        let id = now.as_ref().is_some_and(|blob| blob.leased).then(|| self.lease_id(index));
        let (request, status, next) = match (&now, self.random.below(10)) {
            (None, _) | (Some(_), 0..=3) => {
                let next = self.fresh(&now);
                let request = blob::put(&name, next.content()).header("x-ms-meta-mark", next.mark);
                (request, 201, Some(next))
            }
            (Some(_), 4..=5) => {
                let next = Blob { length: BLOCKS * 40_000, ..self.fresh(&now) };
                if let Step::Gone = self.stage(client, &name, &next, id.as_deref()).await? {
                    return Ok(Step::Gone);
                }
                (block_list(&name).header("x-ms-meta-mark", next.mark), 201, Some(next))
            }
            (Some(blob), 6) => {
                let next = Blob { mark: self.random.next(), ..blob.clone() };
                let request =
                    blob::of_blob("PUT", &name, "comp=metadata").header("x-ms-meta-mark", next.mark);
                (request, 200, Some(next))
            }
            (Some(blob), 7..=8) if blob.leased => {
                let request = blob::lease(&name, "release");
                (request, 200, Some(Blob { leased: false, ..blob.clone() }))
            }
            (Some(blob), 7..=8) => {
                let request = blob::acquire(&name, &self.lease_id(index), -1);
                (request, 201, Some(Blob { leased: true, ..blob.clone() }))
            }
            (Some(_), _) => (blob::delete(&name), 202, None),
        };
        let outcome = client.send(&request.maybe("x-ms-lease-id", id)).await;
        self.learn(index, next, status, outcome).map_err(|reason| format!("{name}: {reason}"))
    }

    fn fresh(&mut self, now: &State) -> Blob {
        let length = match self.random.below(20) {
            0 => 4,
            other => (other % 4) as usize,
        };
        let length = LENGTHS.get(length).copied().unwrap_or_default();
        let leased = now.as_ref().is_some_and(|blob| blob.leased);
        Blob { seed: self.random.next(), length, mark: self.random.next(), leased }
    }

    /// Blocks change nothing that anybody sees.
    async fn stage(&mut self, client: &mut Client, name: &str, next: &Blob, id: Option<&str>) -> Trial<Step> {
        let content = next.content();
        for block in 0..BLOCKS {
            let part = content.slice(block * 40_000..(block + 1) * 40_000);
            let query = format!("comp=block&blockid={}", block_id(block));
            let request = blob::of_blob("PUT", name, &query).maybe("x-ms-lease-id", id).body(part);
            match client.send(&request).await {
                Ok(answer) if answer.status < 500 => answer.expect(201, "Put Block").map(drop)?,
                _ => return Ok(Step::Gone),
            }
        }
        Ok(Step::Done)
    }

    fn learn(
        &mut self,
        index: usize,
        next: State,
        status: u16,
        outcome: Result<Answer, Lost>,
    ) -> Trial<Step> {
        let Some(known) = self.blobs.get_mut(index) else { return Ok(Step::Done) };
        let step = match outcome {
            Ok(answer) if answer.status < 500 => {
                answer.expect(status, "a write that nobody disputes")?;
                known.acknowledged = next;
                Step::Done
            }
            Ok(_) | Err(Lost::Open) => {
                known.open = Some(next);
                Step::Gone
            }
            Err(Lost::Unsent) => return Ok(Step::Gone),
        };
        self.count(&step);
        Ok(step)
    }

    /// Compares everything with what must be there. `thorough`: reads the blobs written once, too.
    pub async fn check(&mut self, address: SocketAddr, thorough: bool) -> Trial {
        let mut client = Client::new(address);
        for index in 0..BLOBS {
            let name = self.name(index);
            let answer = client.must(&blob::get(&name)).await?;
            let id = self.lease_id(index);
            let Some(known) = self.blobs.get_mut(index) else { continue };
            known.settle(&answer).map_err(|reason| format!("{name}: {reason}"))?;
            if known.acknowledged.as_ref().is_some_and(|blob| blob.leased) {
                let renew = blob::lease(&name, "renew").header("x-ms-lease-id", id);
                client.must(&renew).await?.expect(200, &format!("{name}: renewing the lease"))?;
                let unleased = blob::of_blob("PUT", &name, "comp=metadata");
                client.must(&unleased).await?.expect(412, &format!("{name}: writing without the lease"))?;
            }
        }
        self.check_once(&mut client, thorough).await
    }

    async fn check_once(&mut self, client: &mut Client, thorough: bool) -> Trial {
        let listed = blob::list(client, &format!("once/w{}/", self.number)).await?;
        let mut listed: BTreeMap<String, String> = listed.into_iter().collect();
        let mut gone = Vec::new();
        for (name, (_, etag)) in &mut self.once {
            match (listed.remove(name), &etag) {
                (Some(found), Some(known)) if same_etag(&found, known) => {}
                (Some(found), None) => *etag = Some(found),
                (None, None) => gone.push(name.clone()),
                (found, known) => {
                    return Err(format!("LOST: {name}: acknowledged with {known:?}, listed with {found:?}"));
                }
            }
        }
        for name in gone {
            self.once.remove(&name);
        }
        if let Some(name) = listed.keys().next() {
            return Err(format!("{name} is listed, and was never written"));
        }
        for (name, (seed, _)) in self.once.iter().filter(|_| thorough) {
            let answer = client.must(&blob::get(name)).await?.expect(200, name)?;
            if answer.body != once_content(*seed) {
                return Err(format!("LOST: {name} has other content"));
            }
        }
        Ok(())
    }
}

/// Listings write ETags without quotes.
fn same_etag(one: &str, other: &str) -> bool {
    one.trim_matches('"') == other.trim_matches('"')
}

fn once_content(seed: u64) -> bytes::Bytes {
    blob::content(seed, if seed.is_multiple_of(8) { 30_000 } else { 300 })
}

fn block_id(number: usize) -> String {
    BASE64_STANDARD.encode(format!("{number:03}"))
}

fn block_list(name: &str) -> Request {
    let blocks: String = (0..BLOCKS).map(|block| format!("<Latest>{}</Latest>", block_id(block))).collect();
    let body = format!("<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>{blocks}</BlockList>");
    blob::of_blob("PUT", name, "comp=blocklist").body(body)
}
