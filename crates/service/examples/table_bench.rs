//! Entities without a wire: insert, point get, merge under an ETag, groups of a hundred, and a filter over a
//! partition that is mostly not what was asked for.
//!
//! `cargo run --release -p lazuli-service --example table_bench -- DIRECTORY [ENTITIES]`

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lazuli_engine::{Engine, Host, Options};
use lazuli_model::admission::table::{EntityMatch, entity_etag};
use lazuli_model::odata::{EdmValue, Filter};
use lazuli_model::operation::Op;
use lazuli_model::version::ApiVersion;
use lazuli_service::table::{
    CreateTable, EntityChange, EntityGroupTransaction, GetEntity, KeyLimits, PAGE_MAX, QueryEntities,
};
use lazuli_service::{Context, Fault, ServiceOptions, Services};
use tokio::task::JoinSet;

const TABLE: &str = "bench";

#[derive(Clone)]
struct Bench {
    services: Services,
    context: Context,
}

#[derive(Clone, Copy)]
enum What {
    Insert,
    Get,
    MergeIfMatch,
    GroupOfHundred,
}

impl Bench {
    async fn once(&self, what: What, number: usize) -> Result<(), Fault> {
        let row = format!("{number:08}");
        match what {
            What::Insert => self.commit(vec![change(Op::InsertEntity, "one", &row, number, None)]).await,
            What::Get => self.get("one", &row).await.map(drop),
            What::MergeIfMatch => {
                let found = self.get("one", &row).await?;
                let etag = EntityMatch::parse(&entity_etag(found.timestamp))?;
                self.commit(vec![change(Op::MergeEntity, "one", &row, number + 1, Some(etag))]).await
            }
            What::GroupOfHundred => {
                let rows = (0..100).map(|n| format!("{number:08}-{n:02}"));
                let changes = rows.map(|row| change(Op::InsertEntity, "group", &row, number, None));
                self.commit(changes.collect()).await
            }
        }
    }

    async fn commit(&self, changes: Vec<EntityChange>) -> Result<(), Fault> {
        let group = EntityGroupTransaction { table: TABLE.into(), changes };
        group.execute(&self.services, &self.context).await.map(drop).map_err(|refused| refused.fault)
    }

    async fn get(&self, partition: &str, row: &str) -> Result<lazuli_service::table::Entity, Fault> {
        let get = GetEntity { table: TABLE.into(), partition: partition.into(), row: row.into() };
        get.execute(&self.services, &self.context).await
    }

    /// How many a second, of `count` done by `clients` at a time.
    async fn rate(&self, what: What, clients: usize, count: usize, first: usize) -> Result<f64, Fault> {
        let left = Arc::new(AtomicUsize::new(count));
        let started = Instant::now();
        let mut tasks: JoinSet<Result<(), Fault>> = JoinSet::new();
        for _ in 0..clients {
            let (bench, left) = (self.clone(), left.clone());
            tasks.spawn(async move {
                let take = |left: usize| left.checked_sub(1);
                while let Ok(number) = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
                    bench.once(what, first + number).await?;
                }
                Ok(())
            });
        }
        tasks.join_all().await.into_iter().collect::<Result<(), Fault>>()?;
        Ok(count as f64 / started.elapsed().as_secs_f64())
    }

    async fn query(&self, filter: &str) -> Result<(usize, usize, Duration), Fault> {
        let (started, mut found, mut pages, mut from) = (Instant::now(), 0, 0, None);
        loop {
            let filter = Some(Filter::parse(filter)?);
            let limits = KeyLimits::default();
            let input = QueryEntities {
                table: TABLE.into(),
                filter,
                top: PAGE_MAX,
                from,
                limits,
                max_bytes: 4 << 20,
            };
            let page = input.execute(&self.services, &self.context).await?;
            (found, pages) = (found + page.entities.len(), pages + 1);
            from = page.next;
            if from.is_none() {
                return Ok((found, pages, started.elapsed()));
            }
        }
    }
}

fn change(op: Op, partition: &str, row: &str, number: usize, if_match: Option<EntityMatch>) -> EntityChange {
    let number = i32::try_from(number % 1_000).unwrap_or_default();
    let properties = vec![
        ("Number".to_owned(), EdmValue::Int32(number)),
        ("Name".to_owned(), EdmValue::String("x".repeat(100))),
        ("Active".to_owned(), EdmValue::Boolean(number % 2 == 0)),
    ];
    EntityChange { op, partition: partition.into(), row: row.into(), if_match, properties }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("which directory?")?;
    let entities: usize = arguments.next().map_or(Ok(100_000), |text| text.parse())?;
    let engine = Engine::open(Path::new(&directory), Options::default(), Host::real())?;
    let services = Services::new(engine, ServiceOptions::default());
    let bench = Bench { services, context: Context::of_owner("acct", ApiVersion::NEWEST) };
    let create = CreateTable { table: TABLE.into() };
    create.execute(&bench.services, &bench.context).await.map_err(|fault| fault.0)?;
    measure(&bench, entities).await.map_err(|fault| fault.0)?;
    Ok(())
}

async fn measure(bench: &Bench, entities: usize) -> Result<(), Fault> {
    println!(
        "{:>8} {:>10} {:>10} {:>16} {:>18}",
        "clients", "insert/s", "get/s", "merge If-Match/s", "batch entities/s"
    );
    let mut first = 0;
    for (clients, count) in [(1, 1_000), (16, 8_000), (64, 16_000)] {
        let insert = bench.rate(What::Insert, clients, count, first).await?;
        let get = bench.rate(What::Get, clients, count, first).await?;
        let merge = bench.rate(What::MergeIfMatch, clients, count, first).await?;
        let group = bench.rate(What::GroupOfHundred, clients, count / 100, first).await? * 100.0;
        println!("{clients:>8} {insert:>10.0} {get:>10.0} {merge:>16.0} {group:>18.0}");
        first += count;
    }
    bench.rate(What::GroupOfHundred, 16, entities.div_ceil(100), first).await?;
    for filter in [
        "PartitionKey eq 'group' and Number eq 7",
        "PartitionKey eq 'group' and RowKey ge '00025500' and RowKey lt '00025501'",
        "Name eq 'absent'",
    ] {
        let (found, pages, took) = bench.query(filter).await?;
        println!("{filter}: {found} found in {pages} pages, {:.1} ms", took.as_secs_f64() * 1e3);
    }
    Ok(())
}
