//! One entity in one request.

use std::time::Instant;

use lazuli_testing::Signer;

use super::entity::{Entities, row};
use crate::Outcome;
use crate::load::{self, Done, Measured};
use crate::request::{Draft, Request};
use crate::workload::Scene;

/// New entities, in the order of their keys for each client.
pub async fn insert(
    scene: &Scene<'_>,
    table: &str,
    partition: impl Fn(usize) -> String,
) -> Outcome<Measured> {
    scene.server.create_table(table).await?;
    load::measure(scene, scene.run.connections, |client, mut connection, until| {
        let (table, partition) = (table.to_owned(), partition(client));
        async move {
            let entities = Entities::new();
            let first = insert_entity(&table, &entities, &partition, client, 0);
            let mut done = Done::default();
            for at in 0.. {
                let request = first.with_body(entities.json(&partition, client, at));
                let began = Instant::now();
                if began >= until {
                    break;
                }
                connection.expect(&request, 204).await?;
                done.note(began, 1);
            }
            Ok(done)
        }
    })
    .await
}

fn insert_entity(table: &str, entities: &Entities, partition: &str, client: usize, at: usize) -> Request {
    let (path, body) = (format!("/{table}"), entities.json(partition, client, at));
    let draft = Draft::new("POST", &path).header("Prefer", "return-no-content").json(body);
    draft.sign(&Signer::table())
}

fn address(table: &str, partition: &str, row: &str) -> String {
    format!("/{table}(PartitionKey='{partition}',RowKey='{row}')")
}

/// Each client reads entities of its own, all of which fit into memory.
pub async fn get(scene: &Scene<'_>) -> Outcome<Measured> {
    const ENTITIES: usize = 1024;
    let (table, partition) = ("gets", "one");
    scene.server.create_table(table).await?;
    let entities = Entities::new();
    let write = move |at| insert_entity(table, &entities, partition, 0, at);
    load::fill(scene.server.address(), ENTITIES, 204, write).await?;
    let signer = Signer::table();
    let request = |at| Draft::new("GET", &address(table, partition, &row(0, at))).accept_json().sign(&signer);
    let pool =
        |client| (client..ENTITIES).step_by(scene.run.connections).map(request).collect::<Vec<Request>>();
    load::cycle(scene, (0..scene.run.connections).map(pool).collect(), 200).await
}

/// Each client merges into its own entity, each time under the ETag that the last time gave.
pub async fn merge_if_match(scene: &Scene<'_>) -> Outcome<Measured> {
    let (table, partition) = ("merges", "one");
    scene.server.create_table(table).await?;
    load::measure(scene, scene.run.connections, |client, mut connection, until| async move {
        let (signer, entities) = (Signer::table(), Entities::new());
        let insert = insert_entity(table, &entities, partition, client, 0);
        let mut etag = connection.expect(&insert, 204).await?.etag;
        let path = address(table, partition, &row(client, 0));
        let mut done = Done::default();
        for at in 1.. {
            let body = entities.properties(at);
            let request = Draft::new("PATCH", &path).if_match(&etag).json(body).sign(&signer);
            let began = Instant::now();
            if began >= until {
                break;
            }
            etag = connection.expect(&request, 204).await?.etag;
            done.note(began, 1);
        }
        Ok(done)
    })
    .await
}
