//! What takes long to compute does not keep the thread of the request: others on the same lane get their turns meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::client::{Answer, Client, Request};

/// The answer, and how many turns another task on this thread got until it came.
async fn turns_beside(client: &Client, request: Request) -> (Answer, u64) {
    let turns = Arc::new(AtomicU64::new(0));
    let other = tokio::spawn({
        let turns = turns.clone();
        async move {
            loop {
                turns.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        }
    });
    let answer = client.send(request).await;
    let turns = turns.load(Ordering::Relaxed);
    other.abort();
    (answer, turns)
}

async fn ok(client: &Client, request: &str) {
    let answer = client.send(Request::parse(request)).await;
    assert!(answer.status < 300, "{request}: {}", answer.text());
}

/// One thread: as long as a request does not wait for anything, no other task runs.
#[tokio::test(flavor = "current_thread")]
async fn long_work_leaves_the_lane_to_others() {
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
        // The other thread may be done before this one looks for the first time: then there was nothing to wait for.
        let mut most = 0;
        for _ in 0..20 {
            let (answer, turns) = turns_beside(&client, Request::parse(&request)).await;
            assert_eq!(answer.status, status, "{what}: {}", answer.text());
            most = most.max(turns);
        }
        assert_eq!(most > 0, aside, "{what}: others had {most} turns");
    }
}
