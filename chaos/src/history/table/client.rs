//! One client of a history: asks, and writes down when it asked and what it was told when.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::call::{Answer, Call, Change, Event, KEYS, Key, Kind, Match, Refusal, Version};
use crate::Trial;
use crate::arena::{Guest, Moment, Sent};
use crate::random::Random;
use crate::table::{self, Properties, Verb};
use crate::wire::{self, Request};

/// A version of an entity and the ETag that stands for it.
pub type Identity = (Key, Version, String);

pub struct Recorded {
    pub partition: usize,
    pub event: Event,
    pub identities: Vec<Identity>,
}

pub struct Actor {
    random: Random,
    guest: Guest,
    versions: Arc<AtomicU64>,
    /// Of each partition and entity: the version seen last and its ETag.
    seen: Vec<[Option<(Version, String)>; KEYS]>,
    recorded: Vec<Recorded>,
}

impl Actor {
    pub fn new(random: Random, guest: Guest, versions: Arc<AtomicU64>, partitions: usize) -> Self {
        Self { random, guest, versions, seen: vec![[const { None }; KEYS]; partitions], recorded: Vec::new() }
    }

    pub async fn run(mut self, end: Instant) -> Trial<Vec<Recorded>> {
        while Instant::now() < end {
            self.act().await?;
        }
        Ok(self.recorded)
    }

    async fn act(&mut self) -> Trial {
        let partition = self.random.index(self.seen.len());
        let call = self.choose(partition);
        let request = self.request(partition, call);
        let called = self.guest.now();
        let outcome = self.guest.send(&request).await;
        let answered = self.guest.now();
        let (answer, identities) = match outcome {
            Sent::Unsent => return Ok(()),
            Sent::Open => (None, Vec::new()),
            Sent::Told(answer) => {
                let (read, identities) = read(call, &answer)?;
                self.learn(partition, call, read, &identities);
                (Some((read, answered)), identities)
            }
        };
        // An unanswered reading says nothing.
        if answer.is_some() || !call.reads() {
            let event = Event { call, called, answer, until: Moment::MAX };
            self.recorded.push(Recorded { partition, event, identities });
        }
        Ok(())
    }

    fn choose(&mut self, partition: usize) -> Call {
        let key = self.random.index(KEYS);
        match self.random.below(100) {
            0..15 => Call::Get(key),
            15..35 => Call::Query,
            35..65 => Call::Change(self.change(partition, key)),
            _ => {
                let mut changes: [Option<Change>; KEYS] = [None; KEYS];
                let left_out = self.random.index(KEYS + 1);
                for (key, change) in changes.iter_mut().enumerate().filter(|(key, _)| *key != left_out) {
                    *change = Some(self.change(partition, key));
                }
                Call::Group(changes)
            }
        }
    }

    fn change(&mut self, partition: usize, key: Key) -> Change {
        let seen = self.seen[partition][key].as_ref().map(|(version, _)| *version);
        let new = self.versions.fetch_add(1, Ordering::Relaxed);
        let wanted = match seen {
            Some(version) if !self.random.one_in(6) => Match::Version(version),
            _ => Match::Any,
        };
        let kind = match (self.random.below(20), seen) {
            (0..10, Some(_)) => Kind::Update(new, wanted),
            (10..14, Some(_)) => Kind::Delete(wanted),
            (14..16, _) => Kind::Update(new, wanted),
            (16..18, _) => Kind::Upsert(new),
            _ => Kind::Insert(new),
        };
        Change { key, kind }
    }

    fn sent(&mut self, partition: usize, change: Change) -> table::Change {
        let overwrite = if self.random.one_in(2) { Verb::Merge } else { Verb::Replace };
        let (verb, new, wanted) = match change.kind {
            Kind::Insert(new) => (Verb::Insert, Some(new), None),
            Kind::Upsert(new) => (overwrite, Some(new), None),
            Kind::Update(new, wanted) => (overwrite, Some(new), Some(wanted)),
            Kind::Delete(wanted) => (Verb::Delete, None, Some(wanted)),
        };
        let seen = self.seen[partition][change.key].as_ref();
        let if_match = wanted.map(|wanted| match (wanted, seen) {
            (Match::Version(_), Some((_, etag))) => etag.clone(),
            _ => "*".to_owned(),
        });
        let properties: Properties = new.iter().map(|new| ("v".to_owned(), new.to_string())).collect();
        let (partition, row) = (name(partition), change.key.to_string());
        table::Change { verb, partition, row, properties, if_match }
    }

    fn request(&mut self, partition: usize, call: Call) -> Request {
        match call {
            Call::Get(key) => table::get(&name(partition), &key.to_string()),
            Call::Query => table::query(&name(partition)),
            Call::Change(change) => self.sent(partition, change).request(),
            Call::Group(changes) => {
                let changes: Vec<table::Change> =
                    changes.into_iter().flatten().map(|change| self.sent(partition, change)).collect();
                table::group(&changes)
            }
        }
    }

    fn learn(&mut self, partition: usize, call: Call, answer: Answer, identities: &[Identity]) {
        let seen = &mut self.seen[partition];
        match (call, answer) {
            (Call::Query, _) => *seen = [const { None }; KEYS],
            (Call::Get(key), Answer::Seen(0)) => seen[key] = None,
            (Call::Change(Change { key, .. }), Answer::Refused(_, Refusal::ResourceNotFound)) => {
                seen[key] = None
            }
            (Call::Change(Change { key, kind: Kind::Delete(_) }), Answer::Done) => seen[key] = None,
            (Call::Group(changes), Answer::Done) => {
                for change in changes.iter().flatten() {
                    seen[change.key] = None;
                }
            }
            _ => {}
        }
        for (key, version, etag) in identities {
            seen[*key] = Some((*version, etag.clone()));
        }
    }
}

pub fn name(partition: usize) -> String {
    format!("p{partition}")
}

fn made(change: &Change) -> Option<Version> {
    match change.kind {
        Kind::Insert(new) | Kind::Upsert(new) | Kind::Update(new, _) => Some(new),
        Kind::Delete(_) => None,
    }
}

/// What was told; anything that the service never says in such a case is an error.
fn read(call: Call, answer: &wire::Answer) -> Trial<(Answer, Vec<Identity>)> {
    let unexpected = || format!("{call:?} was answered {}", table::told(answer));
    let refusal = || {
        let refusal = Refusal::read(&table::code(answer)).filter(|refusal| refusal.status() == answer.status);
        refusal.ok_or_else(unexpected)
    };
    match (call, answer.status) {
        (Call::Get(key), 200) => {
            let entity = table::read(answer)?;
            let version = version(&entity)?;
            Ok((Answer::Seen(version), vec![(key, version, answer.etag())]))
        }
        (Call::Get(_), _) => match refusal()? {
            Refusal::ResourceNotFound => Ok((Answer::Seen(0), Vec::new())),
            _ => Err(unexpected()),
        },
        (Call::Query, 200) => {
            let (mut all, mut identities) = ([0; KEYS], Vec::new());
            for entity in table::entities(answer)? {
                let key: Key = entity.row.parse().map_err(|_| unexpected())?;
                let version = version(&entity)?;
                *all.get_mut(key).ok_or_else(unexpected)? = version;
                identities.push((key, version, entity.etag));
            }
            Ok((Answer::SeenAll(all), identities))
        }
        (Call::Query, _) => Err(unexpected()),
        (Call::Change(change), 204) => {
            let identity = made(&change).map(|new| (change.key, new, answer.etag()));
            Ok((Answer::Done, identity.into_iter().collect()))
        }
        (Call::Change(_), _) => Ok((Answer::Refused(0, refusal()?), Vec::new())),
        (Call::Group(changes), _) => {
            let changes: Vec<Change> = changes.into_iter().flatten().collect();
            match table::group_answer(answer, changes.len())? {
                Err((index, code)) => {
                    let refusal = Refusal::read(&code).ok_or_else(|| format!("{call:?}: {code}"))?;
                    Ok((Answer::Refused(index, refusal), Vec::new()))
                }
                Ok(etags) => {
                    let told = changes.iter().zip(etags);
                    let told = told.filter_map(|(change, etag)| Some((change.key, made(change)?, etag)));
                    Ok((Answer::Done, told.collect()))
                }
            }
        }
    }
}

fn version(entity: &table::Entity) -> Trial<Version> {
    let version = entity.properties.get("v").and_then(|text| text.parse().ok());
    version.filter(|version| *version > 0).ok_or_else(|| format!("an entity holds {:?}", entity.properties))
}
