//! One partition, filtered by a property that is no key: one entity in 10,000 matches, spread over the whole
//! partition, so every entity must be looked at and the answer is small. An operation is the query with all the
//! pages that a server makes of it; its entities are those looked at.

use std::io;
use std::time::Instant;

use super::entity::GROUPS;
use super::group::{ENTITIES, Groups};
use crate::Outcome;
use crate::load::{self, Done, Measured};
use crate::request::Draft;
use crate::sign::Signer;
use crate::wire::Connection;
use crate::workload::Scene;

const TABLE: &str = "filter";
const PARTITION: &str = "one";

pub async fn filter(scene: &Scene<'_>) -> Outcome<Measured> {
    scene.server.create_table(TABLE).await?;
    let groups = scene.run.partition.div_ceil(ENTITIES);
    let mut connection = Connection::open(scene.server.address()).await?;
    let mut filling = Groups::new(TABLE, PARTITION.to_owned());
    for at in 0..groups {
        let request = filling.request(at);
        filling.commit(&mut connection, &request).await?;
    }
    let stored = groups * ENTITIES;
    load::measure(scene, scene.run.connections, |client, mut connection, until| async move {
        let mut done = Done::default();
        // Every client asks for another group, the next one the next time.
        for at in 0.. {
            let began = Instant::now();
            if began >= until {
                break;
            }
            let group = (client * 617 + at) % GROUPS;
            let found = query(&mut connection, group).await?;
            let wanted = (stored + GROUPS - 1 - group) / GROUPS;
            if found != wanted {
                return Err(io::Error::other(format!("group {group}: {found} entities, not {wanted}")));
            }
            done.note(began, stored as u64);
        }
        Ok(done)
    })
    .await
}

async fn query(connection: &mut Connection, group: usize) -> io::Result<usize> {
    let signer = Signer::table();
    let (path, filter) =
        (format!("/{TABLE}()"), format!("PartitionKey eq '{PARTITION}' and Group eq {}", GROUPS + group));
    let (mut partition, mut row) = (String::new(), String::new());
    let (mut body, mut found) = (Vec::new(), 0);
    loop {
        let mut draft = Draft::new("GET", &path).query("$filter", &filter).accept_json();
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
            return Ok(found);
        }
    }
}
