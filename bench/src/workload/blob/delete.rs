//! Each blob once, until the time is over or none is left.

use std::time::Instant;

use lazuli_testing::Signer;

use super::Scene;
use crate::Outcome;
use crate::load::{self, Done, Measured};
use crate::request::{Draft, Request, put_blob};
use crate::workload::content::content;

pub async fn delete(scene: &Scene<'_>) -> Outcome<Measured> {
    let (signer, content, count) = (Signer::development(), content(1024), scene.run.delete);
    scene.server.create_container("delete").await?;
    let write = move |at| put_blob(&signer, &format!("/delete/{at}"), content.clone());
    load::fill(scene.server.address(), count, 201, write).await?;
    let (signer, connections) = (Signer::development(), scene.run.connections);
    load::measure(scene, connections, |connection_at, mut connection, until| {
        let request = |at| Draft::new("DELETE", &format!("/delete/{at}")).sign(&signer);
        let requests: Vec<Request> = (connection_at..count).step_by(connections).map(request).collect();
        async move {
            let mut done = Done::default();
            for request in &requests {
                let began = Instant::now();
                if began >= until {
                    break;
                }
                connection.expect(request, 202).await?;
                done.note(began, 0);
            }
            Ok(done)
        }
    })
    .await
}
