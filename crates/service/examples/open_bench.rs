//! Opens, reads and writes of files without a wire, by how many clients ask.
//!
//! `cargo run --release -p lazuli-service --example open_bench -- DIRECTORY [COUNT]`

use std::path::Path;
use std::time::Instant;

use bytes::Bytes;
use lazuli_engine::{Engine, Host, Options};
use lazuli_model::version::ApiVersion;
use lazuli_service::file::{CreateShare, NewShare};
use lazuli_service::open_file::*;
use lazuli_service::{Context, ServiceOptions, Services};
use tokio::task::JoinSet;

type Failed = Box<dyn std::error::Error + Send + Sync>;

fn failed(refusal: Refusal) -> Failed {
    format!("{refusal:?}").into()
}

fn request(name: String, caching: CachingWanted) -> Create {
    Create {
        path: vec![name],
        snapshot: None,
        desired_access: AccessMask::FILE_ALL,
        share_access: Rights::ALL,
        disposition: Disposition::OpenIf,
        options: CreateOptions::default(),
        attributes: FileAttributes::NONE,
        security: None,
        allocation_size: 0,
        caching,
        durable: None,
    }
}

#[derive(Clone, Copy, Debug)]
enum What {
    OpenAndClose,
    LookAtAttributes,
    Read4k,
    Write4k,
    /// All clients into one file.
    Write4kTogether,
    Write1m,
}

async fn work(share: ShareClient, what: What, client: usize, count: usize) -> Result<(), Failed> {
    let together = matches!(what, What::Write4kTogether);
    let name = if together { "all".to_owned() } else { format!("f{client}") };
    let create = request(name, CachingWanted::None);
    let file = share.create(create.clone()).await.map_err(failed)?.file;
    for number in 0..count {
        let (offset, bytes) = match what {
            What::Write1m => ((number as u64) << 20, Bytes::from(vec![7; 1 << 20])),
            _ => (((client * count + number) as u64) << 12, Bytes::from(vec![7; 4_096])),
        };
        match what {
            What::OpenAndClose => {
                let opened = share.create(create.clone()).await.map_err(failed)?.file;
                opened.close().await.map_err(failed)?;
            }
            What::LookAtAttributes => drop(file.info().await.map_err(failed)?),
            What::Read4k => drop(file.read((number as u64 % 16) << 12, 4_096).await.map_err(failed)?),
            What::Write4k | What::Write4kTogether | What::Write1m => {
                file.write(offset, bytes).await.map_err(failed)?;
            }
        }
    }
    file.close().await.map_err(failed)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("a directory")?;
    let count: usize = arguments.next().map_or(Ok(200), |text| text.parse())?;
    let engine = Engine::open(Path::new(&directory), Options::default(), Host::real())?;
    let services = Services::new(engine, ServiceOptions::default());
    let context = Context::of_owner("acct", ApiVersion::NEWEST);
    let create = CreateShare { share: "share".into(), new: NewShare::default() };
    // It may be there from a run before.
    drop(create.execute(&services, &context).await);
    let (notices, _heard) = tokio::sync::mpsc::unbounded_channel();
    let client = Client { guid: 1, session: 1, address: "127.0.0.1:1".into(), name: None, notices };
    let share = ShareClient::connect(&services, &context, "share", client).await.map_err(failed)?;
    for what in [
        What::Write4k,
        What::OpenAndClose,
        What::LookAtAttributes,
        What::Read4k,
        What::Write4kTogether,
        What::Write1m,
    ] {
        for clients in [1, 4, 16] {
            let count = if matches!(what, What::Write1m) { count.div_ceil(10) } else { count };
            let started = Instant::now();
            let mut tasks = JoinSet::new();
            for client in 0..clients {
                tasks.spawn(work(share.clone(), what, client, count));
            }
            tasks.join_all().await.into_iter().collect::<Result<(), Failed>>()?;
            let rate = (clients * count) as f64 / started.elapsed().as_secs_f64();
            println!("{what:?} {clients} clients: {rate:.0}/s");
        }
    }
    Ok(())
}
