//! Events and kill -9: whatever was acknowledged is told, once, through a queue; what was refused or never arrived is not.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::Trial;
use crate::options::Options;
use crate::random::Random;
use crate::server::{Launch, Server};
use crate::wire::{Client, Lost};
use crate::{blob, queue};

const WRITERS: u64 = 8;
const QUEUE: &str = "chaos-events";
/// How long the queue may be empty before it counts as such: deliverers look every second. Of several servers one has the
/// job, for up to 30 s after it was killed.
fn quiet(servers: u8) -> Duration {
    Duration::from_secs(if servers > 1 { 40 } else { 5 })
}

/// Of each blob, by name: how many events there must be, and how many there may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Owed {
    least: usize,
    most: usize,
}

pub async fn run(options: &Options) -> Trial<String> {
    of_servers(options, options.servers).await
}

pub async fn several(options: &Options) -> Trial<String> {
    of_servers(options, 3).await
}

async fn of_servers(options: &Options, servers: u8) -> Trial<String> {
    let mut random = Random::new(options.seed);
    let launch = Launch::new(options, "events")?.with(&["--createQueues", QUEUE]);
    let launch = launch.with(&["--events", &format!("queue:{QUEUE}")]);
    let launch = launch.with_servers(servers);
    let mut server = launch.start()?;
    let container = blob::create_container();
    Client::new(server.blob).must(&container).await?.expect(201, "Create Container")?;
    let mut owed = BTreeMap::new();
    for cycle in 0..options.cycles {
        let doors = server.all_doors();
        let mut work = JoinSet::new();
        for writer in 0..WRITERS {
            let at = doors[(writer as usize) % doors.len()].blob;
            work.spawn(write(at, format!("{cycle}-{writer}")));
        }
        tokio::time::sleep(Duration::from_millis(random.between(50, 700))).await;
        server.must_run()?;
        server.kill();
        while let Some(done) = work.join_next().await {
            owed.extend(done.map_err(|error| error.to_string())??);
        }
        server = launch.start()?;
    }
    let told = drain(&server, quiet(servers)).await?;
    server.stop().await?;
    judge(&owed, &told)?;
    let sure: usize = owed.values().map(|owed| owed.least).sum();
    if (sure as u64) < options.cycles {
        return Err(format!("{sure} acknowledged writes: no load"));
    }
    let all: usize = told.values().sum();
    Ok(format!(
        "{} kills, {sure} acknowledged writes, {all} events, none lost and none twice",
        options.cycles
    ))
}

/// Makes blobs until the server is gone, and deletes every third again.
async fn write(at: SocketAddr, prefix: String) -> Trial<BTreeMap<String, Owed>> {
    let (mut client, mut owed) = (Client::new(at), BTreeMap::new());
    for number in 0_u64.. {
        let name = format!("{prefix}-{number}");
        let mut requests = vec![(blob::put(&name, "x"), 201)];
        if number % 3 == 0 {
            requests.push((blob::delete(&name), 202));
        }
        for (request, status) in requests {
            let of: &mut Owed = owed.entry(name.clone()).or_default();
            match client.send(&request).await {
                Ok(answer) if answer.status < 500 => {
                    answer.expect(status, &name)?;
                    of.least += 1;
                    of.most += 1;
                }
                Ok(_) | Err(Lost::Open) => {
                    of.most += 1;
                    return Ok(owed);
                }
                Err(Lost::Unsent) => return Ok(owed),
            }
        }
    }
    Ok(owed)
}

/// How many events of each blob the queue holds.
async fn drain(server: &Server, enough: Duration) -> Trial<BTreeMap<String, usize>> {
    let (mut client, mut told, mut quiet) = (Client::new(server.queue), BTreeMap::new(), Duration::ZERO);
    while quiet < enough {
        let answer = client.must(&queue::get(QUEUE, 32, 3600)).await?.expect(200, "Get Messages")?;
        let messages = queue::messages(&answer)?;
        if messages.is_empty() {
            tokio::time::sleep(Duration::from_millis(250)).await;
            quiet += Duration::from_millis(250);
            continue;
        }
        quiet = Duration::ZERO;
        for message in messages {
            *told.entry(name_in(&message.text)?).or_default() += 1;
            let delete = queue::delete(QUEUE, &message.id, &message.receipt);
            client.must(&delete).await?.expect(204, "Delete Message")?;
        }
    }
    Ok(told)
}

fn name_in(text: &str) -> Trial<String> {
    let bytes = BASE64_STANDARD.decode(text).map_err(|error| format!("{text}: {error}"))?;
    let event: Value = serde_json::from_slice(&bytes).map_err(|error| format!("{text}: {error}"))?;
    let subject = event["subject"].as_str().ok_or("no subject")?;
    let name = subject.rsplit('/').next().unwrap_or_default();
    Ok(name.to_owned())
}

fn judge(owed: &BTreeMap<String, Owed>, told: &BTreeMap<String, usize>) -> Trial {
    for (name, Owed { least, most }) in owed {
        let count = told.get(name).copied().unwrap_or(0);
        if !(*least..=*most).contains(&count) {
            return Err(format!("{name}: {least} to {most} events are owed, and {count} came"));
        }
    }
    match told.keys().find(|name| !owed.contains_key(*name)) {
        Some(name) => Err(format!("{name}: an event of a blob that was never written")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_too_many_and_unknown_events_are_seen() {
        let owed = BTreeMap::from([("a".to_owned(), Owed { least: 1, most: 2 })]);
        let told = |pairs: &[(&str, usize)]| {
            judge(&owed, &pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect())
        };
        assert!(told(&[("a", 1)]).is_ok() && told(&[("a", 2)]).is_ok());
        for bad in [&[][..], &[("a", 3)], &[("a", 1), ("b", 1)]] {
            assert!(told(bad).is_err(), "{bad:?}");
        }
    }
}
