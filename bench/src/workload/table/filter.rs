//! Partitions queried in tables of `--partition` entities, whole and filtered by a property that is no key. An
//! operation is the query with all the pages that a server makes of it.

use std::io;
use std::time::Instant;

use lazuli_testing::Signer;

use super::entity::{GROUPS, group};
use super::group::{ENTITIES, Groups};
use crate::Outcome;
use crate::load::{self, Done, Measured};
use crate::request::Draft;
use crate::wire::Connection;
use crate::workload::Scene;

/// One partition holds all. One entity in 10,000 matches, spread over the whole partition: every entity must be
/// looked at and the answer is small. Counted are the entities looked at.
pub async fn all(scene: &Scene<'_>) -> Outcome<Measured> {
    const TABLE: &str = "sparse";
    let stored = scene.run.partition.next_multiple_of(GROUPS);
    fill(scene, TABLE, "one", stored).await?;
    load::measure(scene, scene.run.connections, |client, mut connection, until| async move {
        let mut done = Done::default();
        for at in 0.. {
            let began = Instant::now();
            if began >= until {
                break;
            }
            let group = GROUPS + (client * 617 + at) % GROUPS;
            let filter = format!("PartitionKey eq 'one' and Group eq {group}");
            query(&mut connection, TABLE, &filter, stored / GROUPS).await?;
            done.note(began, stored as u64);
        }
        Ok(done)
    })
    .await
}

/// Entities of a partition that fill one page.
const SMALL: usize = 1_000;

/// Partitions of 1,000 entities. One of them whole is the answer: a page.
pub async fn whole(scene: &Scene<'_>) -> Outcome<Measured> {
    small(scene, "", SMALL).await
}

/// Partitions of 1,000 entities. Some ten of one match, spread over it, and are the answer.
pub async fn some(scene: &Scene<'_>) -> Outcome<Measured> {
    let below = GROUPS + GROUPS / 100;
    let wanted = (0..SMALL).filter(|at| group(*at) < below).count();
    small(scene, &format!(" and Group lt {below}"), wanted).await
}

/// Counted are the entities of the partitions, answered or not.
async fn small(scene: &Scene<'_>, further: &str, wanted: usize) -> Outcome<Measured> {
    const TABLE: &str = "thousands";
    let partitions = scene.run.partition.div_ceil(SMALL);
    if !is_filled(scene, TABLE).await? {
        for partition in 0..partitions {
            fill(scene, TABLE, &name(partition), SMALL).await?;
        }
    }
    load::measure(scene, scene.run.connections, |client, mut connection, until| {
        let further = further.to_owned();
        async move {
            let mut done = Done::default();
            // In no order, and each client elsewhere.
            for at in (client * 7..).step_by(31) {
                let began = Instant::now();
                if began >= until {
                    break;
                }
                let filter = format!("PartitionKey eq '{}'{further}", name(at % partitions));
                query(&mut connection, TABLE, &filter, wanted).await?;
                done.note(began, SMALL as u64);
            }
            Ok(done)
        }
    })
    .await
}

/// An earlier workload on this server did it.
async fn is_filled(scene: &Scene<'_>, table: &'static str) -> Outcome<bool> {
    scene.server.create_table(table).await?;
    let path = format!("/{table}()");
    let first = Draft::new("GET", &path).query("$top", "1").accept_json().sign(&Signer::table());
    let mut body = Vec::new();
    Connection::open(scene.server.address()).await?.exchange_into(&first, &mut body).await?;
    Ok(memchr::memmem::find(&body, b"\"RowKey\"").is_some())
}

/// Partitions of 10,000 entities. A quarter of one matches, spread over it, and is the answer. Counted are the
/// entities answered.
pub async fn tenth(scene: &Scene<'_>) -> Outcome<Measured> {
    const TABLE: &str = "quarters";
    let partitions = scene.run.partition.div_ceil(GROUPS);
    for partition in 0..partitions {
        fill(scene, TABLE, &name(partition), GROUPS).await?;
    }
    load::measure(scene, scene.run.connections, |client, mut connection, until| async move {
        let mut done = Done::default();
        for at in client.. {
            let began = Instant::now();
            if began >= until {
                break;
            }
            let (partition, below) = (name(at % partitions), GROUPS + GROUPS / 4);
            let filter = format!("PartitionKey eq '{partition}' and Group lt {below}");
            query(&mut connection, TABLE, &filter, GROUPS / 4).await?;
            done.note(began, (GROUPS / 4) as u64);
        }
        Ok(done)
    })
    .await
}

fn name(partition: usize) -> String {
    format!("partition-{partition:04}")
}

async fn fill(scene: &Scene<'_>, table: &'static str, partition: &str, entities: usize) -> Outcome {
    scene.server.create_table(table).await?;
    let mut connection = Connection::open(scene.server.address()).await?;
    let mut filling = Groups::new(table, partition.to_owned());
    for at in 0..entities / ENTITIES {
        let request = filling.request(at);
        filling.commit(&mut connection, &request).await?;
    }
    Ok(())
}

async fn query(connection: &mut Connection, table: &str, filter: &str, wanted: usize) -> io::Result<()> {
    let (signer, path) = (Signer::table(), format!("/{table}()"));
    let (mut partition, mut row) = (String::new(), String::new());
    let (mut body, mut found) = (Vec::new(), 0);
    loop {
        let mut draft = Draft::new("GET", &path).query("$filter", filter).accept_json();
        if !partition.is_empty() {
            draft = draft.query("NextPartitionKey", &partition).query("NextRowKey", &row);
        }
        let answer = connection.exchange_into(&draft.sign(&signer), &mut body).await?;
        if answer.status != 200 {
            return Err(io::Error::other(format!("query entities: {}", answer.status)));
        }
        found += memchr::memmem::find_iter(&body, b"\"RowKey\"").count();
        (partition, row) = (answer.next_partition, answer.next_row);
        if partition.is_empty() {
            break;
        }
    }
    if found == wanted {
        return Ok(());
    }
    Err(io::Error::other(format!("{filter}: {found} entities instead of {wanted}")))
}
