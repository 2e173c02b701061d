//! What a client asks of partitions, and what it makes of the answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::call::{Answer, Call, Change, Event, KEYS, Key, Kind, Match, Refusal, Version};
use super::model::Partition;
use super::tamper;
use crate::Trial;
use crate::history::record::{Actor, Identity};
use crate::random::Random;
use crate::server::Doors;
use crate::table::{self, Properties, Verb};
use crate::wire::{self, Request};

pub struct Partitions {
    random: Random,
    versions: Arc<AtomicU64>,
    /// Of each partition and entity: the version seen last and its ETag.
    seen: Vec<[Option<(Version, String)>; KEYS]>,
}

impl Actor for Partitions {
    type Model = Partition;
    const NAME: &'static str = "table-history";
    const SUBJECT: &'static str = "partition";
    const SUBJECTS: &'static str = "partitions of three entities";

    fn new(_number: u64, random: Random, versions: Arc<AtomicU64>, partitions: usize) -> Self {
        Self { random, versions, seen: vec![[const { None }; KEYS]; partitions] }
    }

    fn door(doors: &Doors) -> SocketAddr {
        doors.table
    }

    fn first() -> Request {
        table::create()
    }

    fn choose(&mut self, partition: usize) -> (Call, Request) {
        let call = self.call(partition);
        (call, self.request(partition, call))
    }

    fn reads(call: &Call) -> bool {
        call.reads()
    }

    fn read(call: Call, answer: &wire::Answer) -> Trial<(Answer, Vec<Identity>)> {
        let unexpected = || format!("{call:?} was answered {}", table::told(answer));
        let refusal = || {
            let refusal =
                Refusal::read(&table::code(answer)).filter(|refusal| refusal.status() == answer.status);
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

    fn etags(call: Call, _answer: &wire::Answer, told: &[Identity]) -> (Vec<(usize, String)>, bool) {
        (told.iter().map(|(key, _, etag)| (*key, etag.clone())).collect(), !call.reads())
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

    fn tamper(events: &[Event]) -> Trial<usize> {
        tamper::all_rejected(events)
    }
}

impl Partitions {
    fn call(&mut self, partition: usize) -> Call {
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

fn version(entity: &table::Entity) -> Trial<Version> {
    let version = entity.properties.get("v").and_then(|text| text.parse().ok());
    version.filter(|version| *version > 0).ok_or_else(|| format!("an entity holds {:?}", entity.properties))
}
