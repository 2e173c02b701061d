//! Amounts are moved between the entities of one partition by group transactions under If-Match, each with a line in a
//! journal, while readers query all of them and the server dies: the sum is the same for everybody at any moment, and the
//! journal explains every amount. Beside it everybody merges a property of their own into one entity; none is lost.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::Trial;
use crate::arena::{Arena, Guest, Sent};
use crate::options::Options;
use crate::random::Random;
use crate::table::{self, Change, Entity, Properties, Verb};
use crate::wire::Client;

const WRITERS: usize = 32;
const READERS: usize = 8;
const ENTITIES: usize = 10;
const START: i64 = 1000;
const BANK: &str = "bank";
/// Rows of the journal stand behind all others.
const JOURNAL: char = 'j';
const AMOUNTS: &str = "PartitionKey%20eq%20'bank'%20and%20RowKey%20lt%20'a'";
const SHARED: &str = "shared";

pub async fn run(options: &Options) -> Trial<String> {
    let mut random = Random::new(options.seed ^ 0x5452_414E);
    let mut arena = Arena::open(options, "transfer")?;
    prepare(&mut Client::new(arena.doors().table)).await?;
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let (mut writers, mut readers) = (JoinSet::new(), JoinSet::new());
    for number in 0..WRITERS {
        let writer = Writer::new(number, random.fork(), arena.guest(|doors| doors.table));
        writers.spawn(writer.run(end));
    }
    for _ in 0..READERS {
        readers.spawn(watch(arena.guest(|doors| doors.table), end));
    }
    arena.kill_until(end, &mut random, (800, 2500)).await?;
    let mut done = Vec::new();
    while let Some(writer) = writers.join_next().await {
        done.push(writer.map_err(|error| error.to_string())??);
    }
    let mut readings = 0;
    while let Some(reader) = readers.join_next().await {
        readings += reader.map_err(|error| error.to_string())??;
    }
    // What was acknowledged last is there as well.
    arena.kill().await?;
    judge(&mut Client::new(arena.doors().table), &done).await?;
    let kills = arena.deaths.len();
    arena.close().await?;
    let sum = |of: fn(&Writer) -> u64| -> u64 { done.iter().map(of).sum() };
    let (moved, refused) = (sum(|writer| writer.moved.len() as u64), sum(|writer| writer.refused));
    let (merged, open) = (sum(|writer| writer.merged), sum(|writer| writer.unanswered));
    if moved == 0 || refused == 0 || readings == 0 {
        return Err(format!("{moved} moves, {refused} refused, {readings} readings: nobody met anybody"));
    }
    Ok(format!(
        "{WRITERS} writers, {kills} kills: {moved} moves ({refused} lost a race, {open} unanswered), {merged} merges, \
         and {readings} readings of one sum"
    ))
}

async fn prepare(client: &mut Client) -> Trial {
    client.must(&table::create()).await?.expect(201, "Create Table")?;
    let insert = |row: usize| Change {
        verb: Verb::Insert,
        partition: BANK.to_owned(),
        row: row.to_string(),
        properties: Properties::from([("amount".to_owned(), START.to_string())]),
        if_match: None,
    };
    let changes: Vec<Change> = (0..ENTITIES).map(insert).collect();
    let answer = client.must(&table::group(&changes)).await?;
    table::group_answer(&answer, changes.len())?.map_err(|refused| format!("{refused:?}"))?;
    Ok(())
}

fn amount(entity: &Entity) -> Trial<i64> {
    let amount = entity.properties.get("amount").and_then(|text| text.parse().ok());
    amount.ok_or_else(|| format!("no amount in {entity:?}"))
}

fn is_constant(amounts: &[Entity]) -> Trial {
    let sum: i64 = amounts.iter().map(amount).sum::<Trial<i64>>()?;
    if amounts.len() != ENTITIES || sum != START * ENTITIES as i64 {
        return Err(format!("NOT ONE MOMENT: {} entities with a sum of {sum}: {amounts:?}", amounts.len()));
    }
    Ok(())
}

/// How often the sum was seen.
async fn watch(mut guest: Guest, end: Instant) -> Trial<u64> {
    let mut readings = 0;
    while Instant::now() < end {
        let query = table::query_where(AMOUNTS);
        if let Some(answer) = guest.send(&query).await.answer() {
            is_constant(&table::entities(&table::expect(answer, 200, "Query Entities")?)?)?;
            readings += 1;
        }
    }
    Ok(readings)
}

struct Writer {
    number: usize,
    random: Random,
    guest: Guest,
    /// Rows of the journal, of moves that were acknowledged.
    moved: Vec<String>,
    refused: u64,
    unanswered: u64,
    attempts: u64,
    /// The last value of this writer's own property: sent, and acknowledged.
    sent: u64,
    merged: u64,
    acknowledged: u64,
}

impl Writer {
    fn new(number: usize, random: Random, guest: Guest) -> Self {
        Self {
            number,
            random,
            guest,
            moved: Vec::new(),
            refused: 0,
            unanswered: 0,
            attempts: 0,
            sent: 0,
            merged: 0,
            acknowledged: 0,
        }
    }

    async fn run(mut self, end: Instant) -> Trial<Self> {
        while Instant::now() < end {
            match self.random.below(4) {
                0 => self.merge().await?,
                _ => self.shift().await?,
            }
        }
        Ok(self)
    }

    async fn read(&mut self, row: usize) -> Trial<Option<Entity>> {
        match self.guest.send(&table::get(BANK, &row.to_string())).await.answer() {
            Some(answer) => table::read(&table::expect(answer, 200, "an amount")?).map(Some),
            None => Ok(None),
        }
    }

    async fn shift(&mut self) -> Trial {
        let from = self.random.index(ENTITIES);
        let to = (from + 1 + self.random.index(ENTITIES - 1)) % ENTITIES;
        let by = self.random.between(1, 50) as i64;
        let (Some(giver), Some(taker)) = (self.read(from).await?, self.read(to).await?) else {
            return Ok(());
        };
        let merge = |entity: &Entity, by: i64| {
            Ok::<Change, String>(Change {
                verb: Verb::Merge,
                partition: BANK.to_owned(),
                row: entity.row.clone(),
                properties: Properties::from([("amount".to_owned(), (amount(entity)? + by).to_string())]),
                if_match: Some(entity.etag.clone()),
            })
        };
        self.attempts += 1;
        let row = format!("{JOURNAL}-{}-{}", self.number, self.attempts);
        let line = [("from", from.to_string()), ("to", to.to_string()), ("by", by.to_string())];
        let journal = Change {
            verb: Verb::Insert,
            partition: BANK.to_owned(),
            row: row.clone(),
            properties: line.map(|(name, value)| (name.to_owned(), value)).into(),
            if_match: None,
        };
        let changes = [merge(&giver, -by)?, merge(&taker, by)?, journal];
        match self.guest.send(&table::group(&changes)).await {
            Sent::Told(answer) => match table::group_answer(&answer, changes.len())? {
                Ok(_) => self.moved.push(row),
                Err((0 | 1, code)) if code == "UpdateConditionNotSatisfied" => self.refused += 1,
                Err(refused) => return Err(format!("a move was refused: {refused:?}")),
            },
            Sent::Open => self.unanswered += 1,
            Sent::Unsent => {}
        }
        Ok(())
    }

    fn property(&self) -> String {
        format!("w{}", self.number)
    }

    async fn merge(&mut self) -> Trial {
        self.sent += 1;
        let change = Change {
            verb: Verb::Merge,
            partition: SHARED.to_owned(),
            row: SHARED.to_owned(),
            properties: Properties::from([(self.property(), self.sent.to_string())]),
            if_match: None,
        };
        match self.guest.send(&change.request()).await {
            Sent::Told(answer) => {
                table::expect(answer, 204, "Insert Or Merge Entity")?;
                self.acknowledged = self.sent;
                self.merged += 1;
            }
            Sent::Open => self.unanswered += 1,
            Sent::Unsent => return Ok(()),
        }
        if let Some(answer) = self.guest.send(&table::get(SHARED, SHARED)).await.answer()
            && self.acknowledged > 0
        {
            self.is_merged(&table::read(&table::expect(answer, 200, "the shared entity")?)?)?;
        }
        Ok(())
    }

    /// Nobody else writes this property, so it holds what was acknowledged last, or what was sent after it.
    fn is_merged(&self, entity: &Entity) -> Trial {
        let found = entity.properties.get(&self.property()).map_or("0", String::as_str);
        match found.parse::<u64>() {
            Ok(value) if (self.acknowledged..=self.sent).contains(&value) => Ok(()),
            _ => Err(format!(
                "LOST: {} is {found}; acknowledged {}, sent {}",
                self.property(),
                self.acknowledged,
                self.sent
            )),
        }
    }
}

/// All that is left: every acknowledged move has its line, and the lines explain the amounts.
async fn judge(client: &mut Client, writers: &[Writer]) -> Trial {
    let all = table::all(client, BANK).await?;
    let (lines, amounts): (Vec<Entity>, Vec<Entity>) =
        all.into_iter().partition(|entity| entity.row.starts_with(JOURNAL));
    is_constant(&amounts)?;
    let lines: BTreeMap<&str, &Entity> = lines.iter().map(|line| (line.row.as_str(), line)).collect();
    if let Some(row) =
        writers.iter().flat_map(|writer| &writer.moved).find(|row| !lines.contains_key(row.as_str()))
    {
        return Err(format!("LOST: the journal has no line of the acknowledged move {row}"));
    }
    let lines: Vec<&Entity> = lines.into_values().collect();
    explains(&lines, &amounts)?;
    let answer = client.must(&table::get(SHARED, SHARED)).await?;
    let shared = table::read(&table::expect(answer, 200, "the shared entity")?)?;
    writers.iter().try_for_each(|writer| writer.is_merged(&shared))
}

fn explains(lines: &[&Entity], amounts: &[Entity]) -> Trial {
    let mut expected = [START; ENTITIES];
    for line in lines {
        let field = |name: &str| line.properties.get(name).and_then(|text| text.parse::<i64>().ok());
        let (Some(from), Some(to), Some(by)) = (field("from"), field("to"), field("by")) else {
            return Err(format!("no line: {line:?}"));
        };
        for (place, change) in [(from, -by), (to, by)] {
            let place = usize::try_from(place).ok().and_then(|place| expected.get_mut(place));
            *place.ok_or_else(|| format!("no line: {line:?}"))? += change;
        }
    }
    for entity in amounts {
        let known = entity.row.parse().ok().and_then(|row: usize| expected.get(row).copied());
        if known != Some(amount(entity)?) {
            return Err(format!("HALF DONE: the journal makes {known:?} of {entity:?}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
