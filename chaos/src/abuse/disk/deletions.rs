//! Deletions by which one small commit leaves much to the sweeper. They make room, so they are taken while there is
//! none for anything else.

use std::net::SocketAddr;

use crate::Trial;
use crate::blob;
use crate::queue;
use crate::sas::signed;
use crate::server::Doors;
use crate::table;
use crate::wire::{Client, Request};

const DOOMED: &str = "doomed";
const CLEARED: &str = "cleared";
/// With such metadata, so many snapshots are too much for one commit to delete.
const METADATA: usize = 7 << 10;
const SNAPSHOTS: usize = 30;
const ITEMS: usize = 20;

/// Makes what is to be deleted, while there is room.
pub async fn prepare(doors: &Doors) -> Trial {
    let mut blobs = Client::new(doors.blob);
    for name in ["only", "include"] {
        let put = blob::put(name, "base").header("x-ms-meta-long", "m".repeat(METADATA));
        blobs.must(&put).await?.expect(201, "Put Blob")?;
        for _ in 0..SNAPSHOTS {
            blobs.must(&blob::of_blob("PUT", name, "comp=snapshot")).await?.expect(201, "Snapshot Blob")?;
        }
    }
    blobs.must(&signed("PUT", DOOMED, "restype=container")).await?.expect(201, "Create Container")?;
    for item in 0..ITEMS {
        let put = signed("PUT", &format!("{DOOMED}/{item}"), "").header("x-ms-blob-type", "BlockBlob");
        blobs.must(&put.body("doomed")).await?.expect(201, "Put Blob")?;
    }
    let mut queues = Client::new(doors.queue);
    for name in [DOOMED, CLEARED] {
        let create = queue::create(name).header("x-ms-meta-long", "m".repeat(METADATA));
        queues.must(&create).await?.expect(201, "Create Queue")?;
        for _ in 0..ITEMS {
            queues.must(&queue::put(name, "doomed", 0, -1)).await?.expect(201, "Put Message")?;
        }
    }
    let mut tables = Client::new(doors.table);
    tables.must(&table::create_named(DOOMED)).await?.expect(201, "Create Table").map(drop)
}

/// Each of them must be done.
pub async fn run(doors: &Doors) -> Trial {
    let snapshots = |name, which: &str| blob::delete(name).header("x-ms-delete-snapshots", which);
    let deletions: [(&str, SocketAddr, Request, u16); 6] = [
        ("only its snapshots", doors.blob, snapshots("only", "only"), 202),
        ("a blob and its snapshots", doors.blob, snapshots("include", "include"), 202),
        ("a container", doors.blob, signed("DELETE", DOOMED, "restype=container"), 202),
        ("the messages of a queue", doors.queue, queue::clear(CLEARED), 204),
        ("a queue", doors.queue, signed("DELETE", DOOMED, ""), 204),
        ("a table", doors.table, table::delete_named(DOOMED), 204),
    ];
    for (what, door, request, status) in deletions {
        let answer = Client::new(door).must(&request).await?;
        answer.expect(status, &format!("on a full disk, the deletion of {what}"))?;
    }
    gone(doors).await
}

/// The base of the first blob stays; of all the rest nothing is seen any more.
async fn gone(doors: &Doors) -> Trial {
    let mut blobs = Client::new(doors.blob);
    blobs.must(&blob::get("only")).await?.expect(200, "the base blob")?;
    blobs.must(&blob::get("include")).await?.expect(404, "a deleted blob")?;
    let peeked =
        Client::new(doors.queue).must(&queue::peek(CLEARED, 1)).await?.expect(200, "Peek Messages")?;
    if !queue::messages(&peeked)?.is_empty() {
        return Err("a cleared queue has messages".to_owned());
    }
    // Without its snapshots it is deleted like any other.
    blobs
        .must(&blob::delete("only"))
        .await?
        .expect(202, "on a full disk, the deletion of a base blob")
        .map(drop)
}
