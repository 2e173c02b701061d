//! The store of bytes is killed, stays away for a while, and comes back. What needs no bytes goes on; what was acknowledged is
//! there afterwards.

use std::time::{Duration, Instant};

use lazuli_testing::seaweed::Seaweed;

use crate::options::Options;
use crate::server::Launch;
use crate::wire::Client;
use crate::{Outcome, Trial, blob};

const LARGE: usize = 5 << 20;
const BUCKET: &str = "down";

pub async fn run(options: &Options) -> Trial<Outcome> {
    let away = Duration::from_secs(if options.long { 60 } else { 30 });
    let Some(mut seaweed) = tokio::task::block_in_place(Seaweed::start) else {
        return Ok(Outcome::Skipped("SeaweedFS cannot be had"));
    };
    tokio::task::block_in_place(|| seaweed.make_bucket(BUCKET));
    let launch = Launch::new(options, "cluster-bytes-down")?.with_bytes(&seaweed.url(BUCKET));
    let mut server = launch.start()?;
    let doors = server.all_doors();
    let clients = || doors.iter().map(|doors| Client::new(doors.blob)).collect::<Vec<_>>();
    let mut all = clients();
    let [first, ..] = &mut all[..] else { return Err("no server".into()) };
    first.must(&blob::create_container()).await?.expect(201, "Create Container")?;
    let mut kept: Vec<u64> = Vec::new();
    for number in 0..6 {
        first
            .must(&blob::put(&format!("large{number}"), blob::content(number, LARGE)))
            .await?
            .expect(201, "Put Blob")?;
        kept.push(number);
    }
    tokio::task::block_in_place(|| seaweed.kill());
    let end = Instant::now() + away;
    let (mut small, mut refused, mut number) = (0_u64, 0_u64, 100);
    // Uploads that need the store, beside others that do not.
    let mut uploads = tokio::task::JoinSet::new();
    for mut client in clients() {
        number += 1;
        let name = number;
        uploads.spawn(async move {
            (name, client.send(&blob::put(&format!("large{name}"), blob::content(name, LARGE))).await)
        });
    }
    while Instant::now() < end {
        for client in &mut all {
            small += 1;
            let put =
                client.must(&blob::put(&format!("small{small}"), small.to_string().into_bytes())).await?;
            put.expect(201, "Put Blob without the store")?;
            let read = client.must(&blob::get(&format!("small{small}"))).await?;
            if read.body != small.to_string().as_bytes() {
                return Err(format!("small{small}: {}", read.text()));
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::task::block_in_place(|| seaweed.come_back());
    while let Some(upload) = uploads.join_next().await {
        match upload.map_err(|error| error.to_string())? {
            (name, Ok(answer)) if answer.status == 201 => kept.push(name),
            (_, Ok(answer)) if answer.status >= 500 => refused += 1,
            (_, Ok(answer)) => return Err(format!("Put Blob while the store is away: {}", answer.status)),
            (_, Err(_)) => refused += 1,
        }
    }
    let patience = Instant::now() + Duration::from_secs(60);
    for number in &kept {
        let client = all.last_mut().ok_or("no server")?;
        loop {
            // A download may be cut while the store is not back for all of its objects; a whole one is right.
            let read = client.send(&blob::get(&format!("large{number}"))).await;
            let told = match &read {
                Ok(read) if read.status == 200 && read.body == blob::content(*number, LARGE) => break,
                Ok(read) => format!("{} and {} bytes", read.status, read.body.len()),
                Err(_) => "no answer".to_owned(),
            };
            if read.is_ok_and(|read| read.status == 200) || Instant::now() > patience {
                return Err(format!("large{number}: {told}"));
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }
    server.must_run()?;
    server.stop().await?;
    Ok(Outcome::Passed(format!(
        "away for {} s: {small} small blobs written meanwhile, {refused} large ones refused, {} large ones whole",
        away.as_secs(),
        kept.len()
    )))
}
