//! What answers about tables may take, whatever is asked.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use super::client::{Answer, Client, Request};

const HOST: &str = "host: devstoreaccount1.table.localhost:10002";
/// The most that a page says, and a little for its frame.
const PAGE: usize = 4 * 1024 * 1024 + 1024;

async fn send(client: &Client, text: &str) -> Answer {
    client.send(Request::parse(text)).await
}

async fn ok(client: &Client, text: &str) -> Answer {
    let answer = send(client, text).await;
    assert!(answer.status < 300, "{} {}", answer.status, answer.text());
    answer
}

/// A table of so many entities with one property, a hundred to a batch.
async fn filled(count: usize, value: &str) -> Client {
    fill(Client::new(), count, value).await
}

async fn fill(client: Client, count: usize, value: &str) -> Client {
    ok(
        &client,
        &format!("POST /Tables\n{HOST}\ncontent-type: application/json\n\n{{\"TableName\":\"Many\"}}"),
    )
    .await;
    for group in 0..count.div_ceil(100) {
        let mut batch = String::from("--b\nContent-Type: multipart/mixed; boundary=c\n\n");
        for at in group * 100..count.min(group * 100 + 100) {
            batch.push_str(
                "--c\nContent-Type: application/http\n\nPOST /Many HTTP/1.1\nPrefer: return-no-content\n\n",
            );
            batch.push_str(&format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{at:04}\",\"v\":\"{value}\"}}\n"));
        }
        batch.push_str("--c--\n--b--");
        let done = ok(
            &client,
            &format!("POST /$batch\n{HOST}\ncontent-type: multipart/mixed; boundary=b\n\n{batch}"),
        )
        .await;
        assert!(!done.text().contains("HTTP/1.1 4"), "{}", done.text());
    }
    client
}

/// Every row of a query, page by page; no page is larger than one may be.
async fn rows(client: &Client, query: &str) -> (Vec<String>, usize) {
    rows_within(client, query, PAGE).await
}

async fn rows_within(client: &Client, query: &str, most: usize) -> (Vec<String>, usize) {
    let (mut rows, mut pages, mut from) = (Vec::new(), 0, String::new());
    loop {
        let request =
            format!("GET /Many()?{query}{from}\n{HOST}\naccept: application/json;odata=fullmetadata");
        let page = ok(client, &request).await;
        assert!(page.body.len() <= most, "a page of {}", page.body.len());
        let value: serde_json::Value = serde_json::from_slice(&page.body).unwrap();
        for entity in value["value"].as_array().unwrap() {
            rows.push(entity["RowKey"].as_str().unwrap().to_owned());
        }
        pages += 1;
        let key = |name: &str| page.headers.get(&format!("x-ms-continuation-next{name}"));
        match (key("partitionkey"), key("rowkey")) {
            (Some(partition), Some(row)) => {
                from = format!("&NextPartitionKey={partition}&NextRowKey={row}");
            }
            _ => return (rows, pages),
        }
    }
}

fn all(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("{at:04}")).collect()
}

/// 60 kB of names that no entity has, for each of a thousand entities: 60 MB if it were one page.
#[tokio::test]
async fn a_page_ends_where_it_would_say_too_much() {
    let client = filled(1_000, "x").await;
    let names: Vec<String> = (0..990).map(|at| format!("{at:04}{}", "n".repeat(55))).collect();
    let (found, pages) = rows(&client, &format!("$select=RowKey,{}", names.join(","))).await;
    assert_eq!(found, all(1_000));
    assert!(pages >= 10, "{pages}");
    assert_eq!(rows(&client, "$select=RowKey").await, (all(1_000), 1));
}

/// What is short where it is stored may be long where it is shown.
#[tokio::test]
async fn a_page_counts_what_it_shows_not_what_is_stored() {
    let client = filled(200, &"\\u0001".repeat(5_000)).await;
    assert_eq!(rows(&client, "$top=1000").await, (all(200), 2));
}

/// Each answer may take 64 KiB when there is no memory for more; together the pages show everything once.
#[tokio::test]
async fn pages_are_short_when_memory_is() {
    let client = fill(Client::with_answer_memory(0), 200, &"x".repeat(2_000)).await;
    let (found, pages) = rows_within(&client, "$top=1000", 64 * 1024).await;
    assert_eq!(found, all(200));
    assert!((8..=12).contains(&pages), "{pages}");
}

#[tokio::test]
async fn names_are_selected_once_and_so_many_at_most() {
    let client = filled(1, "x").await;
    let repeated = ["v"; 20_000].join(",");
    let answer = ok(&client, &format!("GET /Many()?$select={repeated}\n{HOST}")).await;
    assert!(answer.body.len() < 400, "{}", answer.text());
    assert_eq!(answer.text().matches("\"v\":").count(), 1);
    let names = |count: usize| (0..count).map(|at| format!("n{at}")).collect::<Vec<_>>().join(",");
    ok(&client, &format!("GET /Many()?$select={}\n{HOST}", names(1_000))).await;
    let refused = send(&client, &format!("GET /Many()?$select={}\n{HOST}", names(1_001))).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("InvalidInput"), "{}", refused.text());
}

/// A part says no more before its body than a request may.
#[tokio::test]
async fn the_head_of_a_part_is_as_long_as_that_of_a_request() {
    let client = filled(1, "x").await;
    for (length, status) in [(1_000, 202), (4_000_000, 400)] {
        let names = "n".repeat(length);
        let part =
            format!("--b\nContent-Type: application/http\n\nGET /Many()?$select={names} HTTP/1.1\n\n--b--");
        let request = format!("POST /$batch\n{HOST}\ncontent-type: multipart/mixed; boundary=b\n\n{part}");
        assert_eq!(send(&client, &request).await.status, status, "{length}");
    }
}

/// Recorded: nothing but the two delimiters.
#[tokio::test]
async fn an_empty_changeset_is_answered_by_one() {
    let client = Client::new();
    let batch = "--b\nContent-Type: multipart/mixed; boundary=c\n\n--c--\n--b--";
    let answer =
        ok(&client, &format!("POST /$batch\n{HOST}\ncontent-type: multipart/mixed; boundary=b\n\n{batch}"))
            .await;
    let text = answer.text();
    let lines: Vec<&str> = text.split("\r\n").collect();
    let [open, content_type, "", inner, close, ""] = lines[..] else { panic!("{text}") };
    assert_eq!(close, format!("{open}--"));
    let boundary = content_type.strip_prefix("Content-Type: multipart/mixed; boundary=").unwrap();
    assert_eq!(inner, format!("--{boundary}--"));
}

/// How often an answer gave way. A body that is there and a refusal before anything is stored wait for nothing else.
async fn turns(client: &Client, text: &str) -> (u16, usize) {
    let mut answer = pin!(send(client, text));
    let mut turns = 0;
    let answer = poll_fn(|context| match answer.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(answer),
        Poll::Pending => {
            turns += 1;
            Poll::Pending
        }
    })
    .await;
    (answer.status, turns)
}

/// Whether an answer ever gives way. A thread aside may be done before it is waited for, so it is asked some times.
async fn gives_way(client: &Client, text: &str) -> (u16, bool) {
    let mut last = (0, false);
    for _ in 0..20 {
        let (status, given) = turns(client, text).await;
        last = (status, given > 0);
        if last.1 {
            break;
        }
    }
    last
}

/// A large document is not read on the lane.
#[tokio::test]
async fn a_large_document_is_read_elsewhere() {
    let client = filled(1, "x").await;
    for (length, elsewhere) in [(1_000, false), (1_000_000, true)] {
        // An array is no value.
        let document =
            format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"v\":[\"{}\"]}}", "x".repeat(length));
        let insert = format!("POST /Many\n{HOST}\ncontent-type: application/json\n\n{document}");
        assert_eq!(gives_way(&client, &insert).await, (400, elsewhere), "{length}");
        let part = format!("--c\nContent-Type: application/http\n\nPOST /Many HTTP/1.1\n\n{document}\n--c--");
        let batch = format!("--b\nContent-Type: multipart/mixed; boundary=c\n\n{part}\n--b--");
        let batch = format!("POST /$batch\n{HOST}\ncontent-type: multipart/mixed; boundary=b\n\n{batch}");
        assert_eq!(gives_way(&client, &batch).await, (202, elsewhere), "{length}");
    }
}

/// Nor is a page of them written in one go.
#[tokio::test]
async fn a_large_page_gives_way_while_it_is_written() {
    let client = filled(300, &"y".repeat(10_000)).await;
    let (status, given) = turns(&client, &format!("GET /Many()\n{HOST}")).await;
    // Once for each quarter of a megabyte that is looked at, and again for as much that is written.
    assert_eq!(status, 200);
    assert!(given >= 2 * 300 * 10_000 / (256 * 1024), "{given}");
}
