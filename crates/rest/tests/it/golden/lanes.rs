//! What takes long to compute does not keep the thread of the request: others on the same lane get their turns meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;

use tokio::task::spawn_blocking;

use super::client::{Answer, Client, Request};

/// The answer, and how many turns another task on this thread got until it came. The only thread for long work is busy until
/// that task has had its first turn, so a request that leaves its work to it has to wait.
async fn turns_beside(client: &Client, request: Request) -> (Answer, u64) {
    let (open, gate) = channel::<()>();
    let busy = spawn_blocking(move || gate.recv());
    let turns = Arc::new(AtomicU64::new(0));
    let other = tokio::spawn({
        let turns = turns.clone();
        async move {
            let mut open = Some(open);
            loop {
                turns.fetch_add(1, Ordering::Relaxed);
                drop(open.take());
                tokio::task::yield_now().await;
            }
        }
    });
    let answer = client.send(request).await;
    let turns = turns.load(Ordering::Relaxed);
    other.abort();
    let _ = other.await;
    let _ = busy.await;
    (answer, turns)
}

async fn ok(client: &Client, request: &str) {
    let answer = client.send(Request::parse(request)).await;
    assert!(answer.status < 300, "{request}: {}", answer.text());
}

/// One thread: as long as a request does not wait for anything, no other task runs.
#[test]
fn long_work_leaves_the_lane_to_others() {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().max_blocking_threads(1).build().expect("a runtime");
    runtime.block_on(each_kind_of_request());
}

async fn each_kind_of_request() {
    let client = Client::new();
    ok(&client, "PUT /devstoreaccount1/con1?restype=container").await;
    for number in 0..150 {
        let put =
            format!("PUT /devstoreaccount1/con1/b{number:03}\nx-ms-blob-type: BlockBlob\ncontent-length: 0");
        ok(&client, &put).await;
        ok(&client, &format!("PUT /devstoreaccount1/many{number:03}?restype=container")).await;
    }
    let body = "x".repeat(100_000);
    ok(&client, &format!("PUT /devstoreaccount1/con1/large\nx-ms-blob-type: BlockBlob\n\n{body}")).await;

    let nodes = "<Cors/>".repeat(10_000);
    let cases = [
        ("a long list", "GET /devstoreaccount1/con1?restype=container&comp=list".to_owned(), 200, true),
        (
            "a long list by hierarchy",
            "GET /devstoreaccount1/con1?restype=container&comp=list&delimiter=/".to_owned(),
            200,
            true,
        ),
        ("a long list of containers", "GET /devstoreaccount1?comp=list".to_owned(), 200, true),
        (
            "a query",
            "POST /devstoreaccount1/con1/large?comp=query\n\n<QueryRequest><QueryType>SQL</QueryType>\
             <Expression>SELECT COUNT(*) FROM BlobStorage</Expression></QueryRequest>"
                .to_owned(),
            200,
            true,
        ),
        (
            "the hash of a range",
            "GET /devstoreaccount1/con1/large\nx-ms-range: bytes=0-99999\nx-ms-range-get-content-md5: true"
                .to_owned(),
            206,
            true,
        ),
        (
            "a long document",
            format!(
                "PUT /devstoreaccount1?restype=service&comp=properties\n\n<StorageServiceProperties>{nodes}"
            ),
            400,
            true,
        ),
        (
            "a long access policy",
            format!("PUT /devstoreaccount1/con1?restype=container&comp=acl\n\n<SignedIdentifiers>{nodes}"),
            400,
            true,
        ),
        (
            "a short list",
            "GET /devstoreaccount1/con1?restype=container&comp=list&maxresults=50".to_owned(),
            200,
            false,
        ),
        (
            "a short document",
            "PUT /devstoreaccount1?restype=service&comp=properties\n\n<a>".to_owned(),
            400,
            false,
        ),
    ];
    for (what, request, status, aside) in cases {
        let (answer, turns) = turns_beside(&client, Request::parse(&request)).await;
        assert_eq!(answer.status, status, "{what}: {}", answer.text());
        assert_eq!(turns > 0, aside, "{what}: others had {turns} turns");
    }
}
