//! A directory that is given another name, and back, whatever lies below it.

use std::time::Instant;

use lazuli_testing::{ACCOUNT, Signer};

use super::create::{create, make_directory};
use super::{Side, create_root};
use crate::Outcome;
use crate::load::{self, Done, Measured};
use crate::request::{Draft, Request};
use crate::wire::Connection;
use crate::workload::Scene;

pub async fn rename(scene: &Scene<'_>, below: usize) -> Outcome<Measured> {
    create_root(scene, Side::File, "renamed").await?;
    let names = [format!("/renamed/a{below}"), format!("/renamed/b{below}")];
    let mut connection = Connection::open(scene.at).await?;
    make_directory(&mut connection, Side::File, &names[0]).await?;
    let (signer, directory) = (Signer::development(), names[0].clone());
    let write = move |at| create(&signer, Side::File, &format!("{directory}/f{at:09}"), 0);
    load::fill(scene.at, below, 201, write).await?;
    let there = request(&names[0], &names[1]);
    let back = request(&names[1], &names[0]);
    load::measure(scene, 1, |_, mut connection, until| {
        let (there, back) = (there.clone(), back.clone());
        async move {
            let mut done = Done::default();
            while Instant::now() < until {
                for request in [&there, &back] {
                    let began = Instant::now();
                    connection.expect(request, 200).await?;
                    done.note(began, 0);
                }
            }
            Ok(done)
        }
    })
    .await
}

fn request(from: &str, to: &str) -> Request {
    let source = format!("http://127.0.0.1/{ACCOUNT}{from}");
    let draft = Draft::new("PUT", to).query("restype", "directory").query("comp", "rename");
    draft.header("x-ms-file-rename-source", &source).sign(&Signer::development())
}
