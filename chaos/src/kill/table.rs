//! One writer of a partition. It changes one entity or a group of them at a time, so after a crash the whole partition
//! is as it was acknowledged, or as the one open change would have made it: a group is there or not, never half.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use super::Step;
use crate::Trial;
use crate::random::Random;
use crate::table::{self, Change, Entity, Properties, Verb};
use crate::wire::{Answer, Client, Lost};

const ROWS: u64 = 8;
/// As many as a group may have.
const WIDE: u64 = 100;
const NEVER: &str = "W/\"datetime'2000-01-01T00%3A00%3A00Z'\"";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Row {
    properties: Properties,
    /// None: nobody told.
    etag: Option<String>,
}

type Partition = BTreeMap<String, Row>;

pub struct Table {
    name: String,
    random: Random,
    acknowledged_state: Partition,
    open_state: Option<Partition>,
    /// Inserted once and never touched again; with the ETag, when the answer came.
    once: BTreeMap<String, Option<String>>,
    pub acknowledged: u64,
    pub unanswered: u64,
}

impl Table {
    pub fn new(number: u64, random: Random) -> Self {
        Self {
            name: format!("w{number}"),
            random,
            acknowledged_state: Partition::new(),
            open_state: None,
            once: BTreeMap::new(),
            acknowledged: 0,
            unanswered: 0,
        }
    }

    pub async fn write(&mut self, address: SocketAddr) -> Trial {
        let mut client = Client::new(address);
        loop {
            let step = match self.random.below(10) {
                0..2 => self.insert_once(&mut client).await,
                2..6 => self.change_one(&mut client).await,
                6 => self.refused_group(&mut client).await,
                _ => self.change_group(&mut client).await,
            };
            match step.map_err(|reason| format!("partition {}: {reason}", self.name))? {
                Step::Done => self.acknowledged += 1,
                Step::Gone => return Ok(()),
            }
        }
    }

    fn change(&mut self, row: String) -> Change {
        let known = self.acknowledged_state.get(&row);
        let etag = known.and_then(|row| row.etag.clone());
        let (verb, if_match) = match (known.is_some(), self.random.below(6)) {
            (false, 0..=3) => (Verb::Insert, None),
            (true, 0..2) => (Verb::Delete, etag.or_else(|| Some("*".to_owned()))),
            (true, 2) => (Verb::Merge, etag),
            (true, 3) => (Verb::Replace, etag),
            (_, 4) => (Verb::Replace, None),
            _ => (Verb::Merge, None),
        };
        let mut properties = Properties::new();
        for _ in 0..self.random.between(1, 3) {
            let name = format!("p{}", self.random.below(5));
            properties.insert(name, format!("{:016x}", self.random.next()));
        }
        if self.random.one_in(12) {
            // Together more than a record holds.
            for name in ["long0", "long1", "long2"] {
                properties.insert(name.to_owned(), format!("{:016x}", self.random.next()).repeat(1800));
            }
        }
        Change { verb, partition: self.name.clone(), row, properties, if_match }
    }

    async fn change_one(&mut self, client: &mut Client) -> Trial<Step> {
        let row = format!("r{}", self.random.below(ROWS));
        let change = self.change(row);
        let next = after(&self.acknowledged_state, std::slice::from_ref(&change));
        let told = |answer: &Answer| {
            let what = format!("{:?} of {}", change.verb, change.row);
            let answer = table::expect(answer.clone(), 204, &what)?;
            Ok(vec![answer.etag()])
        };
        let outcome = client.send(&change.request()).await;
        self.learn(std::slice::from_ref(&change), next, outcome, told)
    }

    fn group(&mut self) -> Vec<Change> {
        if self.random.one_in(15) {
            let length = if self.random.one_in(3) { 1200 } else { 4 };
            let value = format!("{:016x}", self.random.next()).repeat(length);
            let properties = Properties::from([("wide".to_owned(), value)]);
            let one = |row| Change {
                verb: Verb::Replace,
                partition: self.name.clone(),
                row: format!("wide{row:02}"),
                properties: properties.clone(),
                if_match: None,
            };
            return (0..WIDE).map(one).collect();
        }
        let wanted = self.random.between(2, 6);
        let rows: BTreeSet<u64> = (0..wanted).map(|_| self.random.below(ROWS)).collect();
        rows.into_iter().map(|row| self.change(format!("r{row}"))).collect()
    }

    async fn change_group(&mut self, client: &mut Client) -> Trial<Step> {
        let changes = self.group();
        let next = after(&self.acknowledged_state, &changes);
        let outcome = client.send(&table::group(&changes)).await;
        let told = |answer: &Answer| {
            let told = table::group_answer(answer, changes.len())?;
            told.map_err(|(index, code)| {
                format!("a group that nobody disputes: {index}: {code}: {changes:?}")
            })
        };
        self.learn(&changes, next, outcome, told)
    }

    /// Its last change is refused, so nothing of it may ever be seen.
    async fn refused_group(&mut self, client: &mut Client) -> Trial<Step> {
        let mut changes = self.group();
        changes.push(Change {
            verb: Verb::Merge,
            partition: self.name.clone(),
            row: "refused".to_owned(),
            properties: Properties::new(),
            if_match: Some(NEVER.to_owned()),
        });
        if changes.len() as u64 > WIDE {
            changes.remove(0);
        }
        let last = changes.len() - 1;
        match client.send(&table::group(&changes)).await {
            Ok(answer) if answer.status < 500 => match table::group_answer(&answer, changes.len())? {
                Err((index, code)) if index == last && code == "ResourceNotFound" => Ok(Step::Done),
                other => Err(format!("a group with a change that must be refused: {other:?}")),
            },
            Ok(_) | Err(Lost::Open) => {
                self.unanswered += 1;
                Ok(Step::Gone)
            }
            Err(Lost::Unsent) => Ok(Step::Gone),
        }
    }

    fn learn(
        &mut self,
        changes: &[Change],
        mut next: Partition,
        outcome: Result<Answer, Lost>,
        told: impl FnOnce(&Answer) -> Trial<Vec<String>>,
    ) -> Trial<Step> {
        match outcome {
            Ok(answer) if answer.status < 500 => {
                for (change, etag) in changes.iter().zip(told(&answer)?) {
                    if let Some(row) = next.get_mut(&change.row) {
                        row.etag = Some(etag);
                    }
                }
                self.acknowledged_state = next;
                Ok(Step::Done)
            }
            Ok(_) | Err(Lost::Open) => {
                self.unanswered += 1;
                self.open_state = Some(next);
                Ok(Step::Gone)
            }
            Err(Lost::Unsent) => Ok(Step::Gone),
        }
    }

    fn once_name(&self) -> String {
        format!("{}-once", self.name)
    }

    async fn insert_once(&mut self, client: &mut Client) -> Trial<Step> {
        let row = format!("{:07}", self.once.len());
        let insert = Change {
            verb: Verb::Insert,
            partition: self.once_name(),
            row: row.clone(),
            properties: Properties::from([("row".to_owned(), row.clone())]),
            if_match: None,
        };
        let (etag, step) = match client.send(&insert.request()).await {
            Ok(answer) if answer.status < 500 => (Some(table::expect(answer, 204, &row)?.etag()), Step::Done),
            Ok(_) | Err(Lost::Open) => (None, Step::Gone),
            Err(Lost::Unsent) => return Ok(Step::Gone),
        };
        self.unanswered += u64::from(etag.is_none());
        self.once.insert(row, etag);
        Ok(step)
    }

    pub async fn check(&mut self, address: SocketAddr) -> Trial {
        let mut client = Client::new(address);
        let found = table::all(&mut client, &self.name).await?;
        self.settle(found).map_err(|reason| format!("partition {}: {reason}", self.name))?;
        let found = table::all(&mut client, &self.once_name()).await?;
        self.settle_once(found).map_err(|reason| format!("partition {}: {reason}", self.once_name()))
    }

    fn settle(&mut self, found: Vec<Entity>) -> Trial {
        let one =
            |entity: Entity| (entity.row, Row { properties: entity.properties, etag: Some(entity.etag) });
        let found: Partition = found.into_iter().map(one).collect();
        let open = self.open_state.take();
        if !std::iter::once(&self.acknowledged_state).chain(&open).any(|state| shows(&found, state)) {
            return Err(format!(
                "LOST: found {}; acknowledged {}; open {}",
                brief(&found),
                brief(&self.acknowledged_state),
                open.as_ref().map_or("nothing".to_owned(), brief)
            ));
        }
        self.acknowledged_state = found;
        Ok(())
    }

    fn settle_once(&mut self, found: Vec<Entity>) -> Trial {
        let mut found: BTreeMap<String, Entity> =
            found.into_iter().map(|entity| (entity.row.clone(), entity)).collect();
        let known = std::mem::take(&mut self.once);
        for (row, etag) in known {
            match (found.remove(&row), etag) {
                (Some(entity), etag)
                    if etag.as_ref().is_none_or(|etag| *etag == entity.etag)
                        && entity.properties.get("row") == Some(&row) =>
                {
                    self.once.insert(row, Some(entity.etag));
                }
                (None, None) => {}
                (entity, etag) => return Err(format!("LOST: {row}, acknowledged {etag:?}: {entity:?}")),
            }
        }
        match found.keys().next() {
            Some(row) => Err(format!("{row} is there, and was never inserted")),
            None => Ok(()),
        }
    }
}

/// What these changes make of it when nothing refuses them.
fn after(state: &Partition, changes: &[Change]) -> Partition {
    let mut next = state.clone();
    for change in changes {
        let fresh = Row { properties: change.properties.clone(), etag: None };
        match change.verb {
            Verb::Delete => drop(next.remove(&change.row)),
            Verb::Insert | Verb::Replace => drop(next.insert(change.row.clone(), fresh)),
            Verb::Merge => {
                let row = next.entry(change.row.clone()).or_default();
                row.properties.extend(fresh.properties);
                row.etag = None;
            }
        }
    }
    next
}

/// An ETag that nobody told may be any.
fn shows(found: &Partition, state: &Partition) -> bool {
    found.len() == state.len()
        && found.iter().zip(state).all(|((row, found), (other, known))| {
            row == other
                && found.properties == known.properties
                && known.etag.as_ref().is_none_or(|etag| found.etag.as_ref() == Some(etag))
        })
}

fn brief(partition: &Partition) -> String {
    let one = |(row, known): (&String, &Row)| {
        let values = known.properties.iter();
        let values: Vec<String> =
            values.map(|(name, value)| format!("{name}={}", value.get(..8).unwrap_or(value))).collect();
        format!("{row}[{}]", values.join(","))
    };
    partition.iter().map(one).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
