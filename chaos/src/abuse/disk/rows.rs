//! A disk that is full of small blobs and entities, which live in tables: they are overwritten, and overwritten again.
//! Whatever is refused, deletions work, also after a restart, and make room again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::{Disk, deletions};
use crate::Trial;
use crate::abuse::prepare;
use crate::blob;
use crate::options::Options;
use crate::random::Random;
use crate::server::{Doors, Launch, Server};
use crate::table::{self, Change, Verb};
use crate::wire::{Answer, Client, Request};

const CLIENTS: u64 = 8;
const BLOB: usize = 12 << 10;
/// Characters of an entity's property.
const TEXT: usize = 6 << 10;
const MOST: u64 = 20_000;
const RESTARTS: usize = 3;
const DELETED_BETWEEN: usize = 100;
/// So long before the overwriting ends, containers, queues, tables and snapshots are deleted.
const DELETING: Duration = Duration::from_secs(3);
/// In which deletions must have made room.
const RECOVERY: Duration = Duration::from_secs(30);

#[derive(Clone, Copy)]
enum Kind {
    Blob,
    Entity,
}

/// One client, which writes blobs or entities of its own.
struct Owner {
    number: u64,
    kind: Kind,
    /// What it stored, by number: the seed of what was acknowledged last.
    stored: BTreeMap<u64, u64>,
    random: Random,
}

impl Owner {
    fn client(&self, doors: &Doors) -> Client {
        Client::new(match self.kind {
            Kind::Blob => doors.blob,
            Kind::Entity => doors.table,
        })
    }

    fn name(&self, item: u64) -> String {
        format!("{}-{item}", self.number)
    }

    fn change(&self, verb: Verb, item: u64, seed: u64) -> Change {
        let properties = [("text".to_owned(), text(seed))].into();
        let if_match = (verb == Verb::Delete).then(|| "*".to_owned());
        Change { verb, partition: self.number.to_string(), row: self.name(item), properties, if_match }
    }

    fn put(&self, item: u64, seed: u64) -> Request {
        match self.kind {
            Kind::Blob => blob::put(&self.name(item), blob::content(seed, BLOB)),
            Kind::Entity => self.change(Verb::Replace, item, seed).request(),
        }
    }

    fn delete(&self, item: u64) -> Request {
        match self.kind {
            Kind::Blob => blob::delete(&self.name(item)),
            Kind::Entity => self.change(Verb::Delete, item, 0).request(),
        }
    }

    fn is_done(answer: &Answer) -> bool {
        matches!(answer.status, 201 | 202 | 204)
    }

    /// New ones, until one is refused.
    async fn fill(mut self, doors: Doors) -> Trial<Self> {
        let mut client = self.client(&doors);
        for _ in 0..MOST {
            let item = self.stored.last_key_value().map_or(0, |(item, _)| item + 1);
            let seed = self.random.next();
            let answer = client.must(&self.put(item, seed)).await?;
            if !Self::is_done(&answer) {
                full(&answer)?;
                return Ok(self);
            }
            self.stored.insert(item, seed);
        }
        Err("the disk does not run full".to_owned())
    }

    /// The same again with other bytes of the same length, taken or refused.
    async fn overwrite(mut self, doors: Doors, end: Instant) -> Trial<Self> {
        let mut client = self.client(&doors);
        while Instant::now() < end {
            let item = self.random.below(self.stored.len() as u64);
            let seed = self.random.next();
            let answer = client.must(&self.put(item, seed)).await?;
            match Self::is_done(&answer) {
                true => drop(self.stored.insert(item, seed)),
                false => {
                    full(&answer)?;
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
        }
        Ok(self)
    }

    async fn verify(&self, doors: &Doors, some: usize) -> Trial {
        let mut client = self.client(doors);
        let step = (self.stored.len() / some).max(1);
        for (item, seed) in self.stored.iter().step_by(step) {
            let name = self.name(*item);
            let right = match self.kind {
                Kind::Blob => {
                    let found = client.must(&blob::get(&name)).await?.expect(200, &name)?;
                    found.body == blob::content(*seed, BLOB)
                }
                Kind::Entity => {
                    let found = client.must(&table::get(&self.number.to_string(), &name)).await?;
                    let found = table::read(&found.expect(200, &name)?)?;
                    found.properties.get("text").is_some_and(|found| *found == text(*seed))
                }
            };
            if !right {
                return Err(format!("{name}: other content"));
            }
        }
        Ok(())
    }

    /// Each of them must be done.
    async fn delete_some(mut self, doors: Doors, most: usize) -> Trial<Self> {
        let mut client = self.client(&doors);
        for _ in 0..most {
            let Some((item, _)) = self.stored.pop_first() else { break };
            let answer = client.must(&self.delete(item)).await?;
            if !Self::is_done(&answer) {
                return Err(format!("a deletion on a full disk: {}", answer.shown()));
            }
        }
        Ok(self)
    }
}

fn text(seed: u64) -> String {
    let mut random = Random::new(seed);
    let letter = |_| char::from(b'a' + random.below(26) as u8);
    (0..TEXT).map(letter).collect()
}

/// The Table service has its word for it in the body.
fn full(answer: &Answer) -> Trial {
    match answer.status {
        507 => Ok(()),
        _ => Err(format!("a full disk was answered {}", answer.shown())),
    }
}

/// All clients at once.
async fn each<F>(owners: Vec<Owner>, work: impl Fn(Owner) -> F) -> Trial<Vec<Owner>>
where
    F: Future<Output = Trial<Owner>> + Send + 'static,
{
    let mut running: JoinSet<_> = owners.into_iter().map(work).collect();
    let mut owners = Vec::new();
    while let Some(done) = running.join_next().await {
        owners.push(done.map_err(|error| error.to_string())??);
    }
    Ok(owners)
}

async fn verify(owners: &[Owner], server: &mut Server, when: &str) -> Trial {
    server.must_run().map_err(|reason| format!("{when}: {reason}"))?;
    for owner in owners {
        owner.verify(&server.doors(), 40).await.map_err(|reason| format!("{when}: {reason}"))?;
    }
    Ok(())
}

fn count(owners: &[Owner]) -> usize {
    owners.iter().map(|owner| owner.stored.len()).sum()
}

pub async fn run(options: &Options) -> Trial<String> {
    let place = tempfile::tempdir_in(&options.work).map_err(|error| error.to_string())?;
    let Some(disk) = Disk::mount(place.path()) else {
        return Ok("NOT TRIED: no file system can be mounted here".to_owned());
    };
    let launch = Launch::at(options, "disk-full-rows", &disk.0.join("data"));
    let mut server = launch.start()?;
    prepare(&server).await?;
    Client::new(server.table).must(&table::create()).await?.expect(201, "Create Table")?;
    deletions::prepare(&server.doors()).await?;
    let mut random = Random::new(options.seed);
    let kinds = [Kind::Blob, Kind::Entity].into_iter().cycle();
    let owner = |(number, kind)| Owner { number, kind, stored: BTreeMap::new(), random: random.fork() };
    let owners: Vec<Owner> = (0..CLIENTS).zip(kinds).map(owner).collect();

    let doors = server.doors();
    let owners = each(owners, |owner| owner.fill(doors)).await?;
    let filled = count(&owners);
    verify(&owners, &mut server, "full").await?;
    let end = Instant::now() + Duration::from_secs(if options.long { 120 } else { 10 });
    let overwriting = each(owners, |owner| owner.overwrite(doors, end));
    let deleting = async {
        tokio::time::sleep_until((end - DELETING).into()).await;
        full(&Client::new(doors.blob).must(&blob::put("more", blob::content(1, BLOB))).await?)?;
        deletions::run(&doors).await
    };
    let (mut owners, ()) = tokio::try_join!(overwriting, deleting)?;
    verify(&owners, &mut server, "overwritten").await?;

    for turn in 0..RESTARTS {
        server.kill();
        server = launch.start().map_err(|reason| format!("start {turn} on a full disk: {reason}"))?;
        let doors = server.doors();
        owners = each(owners, |owner| owner.delete_some(doors, DELETED_BETWEEN)).await?;
        verify(&owners, &mut server, "after a restart").await?;
    }
    let doors = server.doors();
    let owners = each(owners, |owner| owner.delete_some(doors, usize::MAX)).await?;
    server.must_run().map_err(|reason| format!("everything is deleted: {reason}"))?;

    // What was deleted is room again: as much as before fits in, or nearly.
    let started = Instant::now();
    let mut owners = owners;
    loop {
        owners = each(owners, |owner| owner.fill(doors)).await?;
        if count(&owners) * 4 >= filled * 3 {
            break;
        }
        if started.elapsed() > RECOVERY {
            return Err(format!("{filled} fitted in at first, {} after all were deleted", count(&owners)));
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let waited = started.elapsed();
    verify(&owners, &mut server, "full again").await?;
    server.stop().await?;
    Ok(format!(
        "{filled} small blobs and entities overwritten on a full disk, all deleted, room again in {} ms",
        waited.as_millis()
    ))
}
