//! Put and get-and-delete of messages without a wire, by how many clients ask and how long the queue is.
//!
//! `cargo run --release -p lazuli-service --example queue_bench -- DIRECTORY [LONGEST]`

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use lazuli_engine::{Engine, Host, Options};
use lazuli_model::metadata::Metadata;
use lazuli_model::version::ApiVersion;
use lazuli_service::queue::{CreateQueue, DeleteMessage, GetMessages, PutMessage};
use lazuli_service::{Context, Fault, ServiceOptions, Services};
use tokio::task::JoinSet;

#[derive(Clone)]
struct Bench {
    services: Services,
    context: Context,
}

impl Bench {
    async fn put(&self) -> Result<(), Fault> {
        let text = "x".repeat(100);
        let put = PutMessage { queue: "q".into(), text, visibility_timeout: 0, time_to_live: None };
        put.execute(&self.services, &self.context).await.map(drop)
    }

    async fn get_and_delete(&self) -> Result<(), Fault> {
        let get = GetMessages { queue: "q".into(), count: 1, visibility_timeout: 30 };
        for message in get.execute(&self.services, &self.context).await? {
            let (id, receipt) = (Some(message.id), message.receipt);
            let delete = DeleteMessage { queue: "q".into(), message: id, receipt };
            delete.execute(&self.services, &self.context).await?;
        }
        Ok(())
    }

    /// How many a second, of `count` done by `clients` at a time.
    async fn rate(&self, what: What, clients: usize, count: usize) -> Result<f64, Fault> {
        let left = Arc::new(AtomicUsize::new(count));
        let started = Instant::now();
        let mut tasks: JoinSet<Result<(), Fault>> = JoinSet::new();
        for _ in 0..clients {
            let (bench, left) = (self.clone(), left.clone());
            tasks.spawn(async move {
                let take = |left: usize| left.checked_sub(1);
                while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
                    match what {
                        What::Put => bench.put().await?,
                        What::GetAndDelete => bench.get_and_delete().await?,
                    }
                }
                Ok(())
            });
        }
        tasks.join_all().await.into_iter().collect::<Result<(), Fault>>()?;
        Ok(count as f64 / started.elapsed().as_secs_f64())
    }
}

#[derive(Clone, Copy)]
enum What {
    Put,
    GetAndDelete,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("which directory?")?;
    let longest: usize = arguments.next().map_or(Ok(100_000), |text| text.parse())?;
    let engine = Engine::open(Path::new(&directory), Options::default(), Host::real())?;
    let services = Services::new(engine, ServiceOptions::default());
    let bench = Bench { services, context: Context::of_owner("acct", ApiVersion::NEWEST) };
    let create = CreateQueue { queue: "q".into(), metadata: Metadata::default() };
    create.execute(&bench.services, &bench.context).await.map_err(|fault| fault.0)?;
    measure(&bench, longest).await.map_err(|fault| fault.0)?;
    Ok(())
}

async fn measure(bench: &Bench, longest: usize) -> Result<(), Fault> {
    let mut length = 100;
    bench.rate(What::Put, 16, length).await?;
    println!("{:>9} {:>7} {:>9} {:>14}", "messages", "clients", "put/s", "get+delete/s");
    while length <= longest {
        for (clients, count) in [(1, 2_000), (16, 10_000), (64, 20_000)] {
            let put = bench.rate(What::Put, clients, count).await?;
            let got = bench.rate(What::GetAndDelete, clients, count).await?;
            println!("{length:>9} {clients:>7} {put:>9.0} {got:>14.0}");
        }
        bench.rate(What::Put, 256, length * 9).await?;
        length *= 10;
    }
    Ok(())
}
