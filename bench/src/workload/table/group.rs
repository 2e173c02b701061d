//! Entity group transactions: a hundred entities inserted into one partition, all or none.

use std::io;
use std::time::Instant;

use bytes::Bytes;
use lazuli_testing::{ACCOUNT, Signer};

use super::entity::Entities;
use crate::Outcome;
use crate::load::{self, Done, Measured};
use crate::request::{Draft, Request};
use crate::wire::Connection;
use crate::workload::Scene;

pub const ENTITIES: usize = 100;
const TYPE: &str = "multipart/mixed; boundary=batch_1";

pub async fn insert(scene: &Scene<'_>) -> Outcome<Measured> {
    let table = "groups";
    scene.server.create_table(table).await?;
    load::measure(scene, scene.run.connections, |client, mut connection, until| async move {
        let mut groups = Groups::new(table, format!("client{client:02}"));
        let mut done = Done::default();
        for at in 0.. {
            let request = groups.request(at);
            let began = Instant::now();
            if began >= until {
                break;
            }
            groups.commit(&mut connection, &request).await?;
            done.note(began, ENTITIES as u64);
        }
        Ok(done)
    })
    .await
}

/// Groups of one partition.
pub struct Groups {
    table: &'static str,
    partition: String,
    entities: Entities,
    /// The signature is of the head alone.
    first: Option<Request>,
    answer: Vec<u8>,
}

impl Groups {
    pub fn new(table: &'static str, partition: String) -> Self {
        Self { table, partition, entities: Entities::new(), first: None, answer: Vec::new() }
    }

    /// The group of entities `100 * at` and after.
    pub fn request(&mut self, at: usize) -> Request {
        let body = self.body(at);
        let sign = || {
            Draft::new("POST", "/$batch").accept_json().typed_body(TYPE, body.clone()).sign(&Signer::table())
        };
        self.first.get_or_insert_with(sign).with_body(body)
    }

    fn body(&self, at: usize) -> Bytes {
        let mut body = "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n".to_owned();
        for entity in at * ENTITIES..(at + 1) * ENTITIES {
            let json = self.entities.json(&self.partition, 0, entity);
            body.push_str(concat!(
                "--changeset_1\r\nContent-Type: application/http\r\n",
                "Content-Transfer-Encoding: binary\r\n\r\n"
            ));
            body.push_str(&format!("POST http://127.0.0.1/{ACCOUNT}/{} HTTP/1.1\r\n", self.table));
            body.push_str(concat!(
                "Accept: application/json;odata=minimalmetadata\r\nContent-Type: application/json\r\n",
                "Prefer: return-no-content\r\nDataServiceVersion: 3.0\r\n\r\n"
            ));
            body.push_str(&String::from_utf8_lossy(&json));
            body.push_str("\r\n");
        }
        body.push_str("--changeset_1--\r\n--batch_1--\r\n");
        body.into()
    }

    pub async fn commit(&mut self, connection: &mut Connection, request: &Request) -> io::Result<()> {
        let answer = connection.exchange_into(request, &mut self.answer).await?;
        let inserted = memchr::memmem::find_iter(&self.answer, b"HTTP/1.1 204").count();
        if answer.status == 202 && inserted == ENTITIES {
            return Ok(());
        }
        let told: String = String::from_utf8_lossy(&self.answer).chars().take(1000).collect();
        Err(io::Error::other(format!("a group of {ENTITIES}: {} with {inserted}: {told}", answer.status)))
    }
}
