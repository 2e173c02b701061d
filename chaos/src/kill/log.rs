//! One of the writers that append to the same log, an append blob: every block that was acknowledged is there, once, where
//! its answer said; one that was under way is there once or not at all; and none is torn or mixed with another.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use blocks::{Block, Placed};

use super::Step;
use crate::Trial;
use crate::blob;
use crate::random::Random;
use crate::wire::{Client, Lost, Request};

mod blocks;

/// Inline in a key, a chunk, several chunks.
const LENGTHS: [usize; 4] = [100, 3_000, 100 * 1024, 5 * 1024 * 1024];

pub struct Log {
    number: u64,
    random: Random,
    /// Each life of the server has a log of its own.
    life: u64,
    sequence: u64,
    /// What this writer knows of its blocks in the log of this life, and in those before.
    known: Placed,
    before: Vec<Placed>,
    pub acknowledged: u64,
    pub open: u64,
}

impl Log {
    pub fn new(number: u64, random: Random) -> Self {
        let known = Placed::default();
        Self { number, random, life: 0, sequence: 0, known, before: Vec::new(), acknowledged: 0, open: 0 }
    }

    /// Appends until the server is gone.
    pub async fn write(&mut self, address: SocketAddr) -> Trial {
        let mut client = Client::new(address);
        match client.send(&create(self.life)).await {
            // One of the writers makes it.
            Ok(answer) if matches!(answer.status, 201 | 409) => {}
            Ok(answer) if answer.status < 500 => answer.expect(201, "creating a log").map(drop)?,
            Ok(_) | Err(_) => return Ok(()),
        }
        while let Step::Done = self.append(&mut client).await? {}
        Ok(())
    }

    async fn append(&mut self, client: &mut Client) -> Trial<Step> {
        let length = match self.random.below(40) {
            0 => 3,
            other => (other % 3) as usize,
        };
        let length = LENGTHS.get(length).copied().unwrap_or_default();
        self.sequence += 1;
        let block = Block { writer: self.number, sequence: self.sequence, length: length as u64 };
        let request = blob::of_blob("PUT", &name(self.life), "comp=appendblock").body(block.bytes());
        match client.send(&request).await {
            Ok(answer) if answer.status < 500 => {
                let answer = answer.expect(201, "Append Block")?;
                let offset = answer.header("x-ms-blob-append-offset").and_then(|text| text.parse().ok());
                self.known.acknowledge(self.sequence, offset.ok_or("an answer without an offset")?);
                self.acknowledged += 1;
                Ok(Step::Done)
            }
            Ok(_) | Err(Lost::Open) => {
                self.known.open = Some(self.sequence);
                self.open += 1;
                Ok(Step::Gone)
            }
            Err(Lost::Unsent) => Ok(Step::Gone),
        }
    }

    /// Compares the log with what must be there. `thorough`: the logs of all lives before, too.
    pub async fn check(&mut self, address: SocketAddr, thorough: bool) -> Trial {
        let mut client = Client::new(address);
        let life = self.life;
        let mut known = std::mem::take(&mut self.known);
        self.look(&mut client, life, &mut known).await?;
        self.before.push(known);
        self.life += 1;
        if thorough {
            for (life, mut known) in (0..).zip(std::mem::take(&mut self.before)) {
                self.look(&mut client, life, &mut known).await?;
            }
        }
        Ok(())
    }

    async fn look(&self, client: &mut Client, life: u64, known: &mut Placed) -> Trial {
        let name = name(life);
        let answer = client.must(&blob::get(&name)).await?;
        let body = match answer.status {
            404 => Vec::new(),
            _ => answer.expect(200, &name)?.body,
        };
        let blocks = blocks::parse(&body).map_err(|reason| format!("{name}: {reason}"))?;
        let own: BTreeMap<u64, Block> =
            blocks.into_iter().filter(|(_, block)| block.writer == self.number).collect();
        known.settle(&own).map_err(|reason| format!("LOST: {name}: {reason}"))
    }
}

fn name(life: u64) -> String {
    format!("log/{life}")
}

fn create(life: u64) -> Request {
    blob::of_blob("PUT", &name(life), "").header("x-ms-blob-type", "AppendBlob").header("If-None-Match", "*")
}
