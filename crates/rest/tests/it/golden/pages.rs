//! Pages of lists when memory for answers is short: they end earlier, and together they show everything once.

use std::collections::BTreeSet;

use lazuli_testing::xml;

use super::client::{Client, Request};

async fn all_pages(client: &Client, query: &str, element: &str) -> (Vec<String>, usize) {
    let (mut found, mut pages, mut marker) = (Vec::new(), 0, String::new());
    loop {
        let answer = client.send(Request::parse(&format!("GET {query}&marker={marker}"))).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let text = answer.text();
        // What each answer may have without asking.
        assert!(text.len() <= 64 * 1024, "a page of {} bytes", text.len());
        let open = format!("<{element}>");
        let entries = text.split(&open).skip(1);
        found.extend(entries.map(|entry| {
            let name = xml::element(entry, "Name");
            assert!(!name.is_empty(), "{entry}");
            format!("{name}@{}", xml::element(entry, "Snapshot"))
        }));
        pages += 1;
        marker = xml::element(&text, "NextMarker").to_owned();
        if marker.is_empty() {
            return (found, pages);
        }
    }
}

#[tokio::test]
async fn short_pages_show_everything_once() {
    let client = Client::with_answer_memory(0);
    let ok = async |request: String| {
        let answer = client.send(Request::parse(&request)).await;
        assert!(answer.status < 300, "{request}: {}", answer.text());
    };
    for number in 0..40 {
        let much = "m".repeat(6000);
        ok(format!("PUT /devstoreaccount1/con{number:02}?restype=container\nx-ms-meta-much: {much}")).await;
    }
    for number in 0..60 {
        let much = "m".repeat(4000);
        let name = format!("/devstoreaccount1/con00/{:02}/b{number:02}", number / 2);
        ok(format!("PUT {name}\nx-ms-blob-type: BlockBlob\ncontent-length: 0\nx-ms-meta-much: {much}")).await;
        if number % 3 == 0 {
            ok(format!("PUT {name}?comp=snapshot")).await;
        }
    }
    let listing = "/devstoreaccount1/con00?restype=container&comp=list&include=metadata";
    let containers = "/devstoreaccount1?comp=list&include=metadata";
    let staged = format!("{listing},uncommittedblobs,snapshots");
    let cases = [
        (listing, "Blob", 60, 3),
        (&staged, "Blob", 80, 4),
        (containers, "Container", 40, 3),
        ("/devstoreaccount1/con00?restype=container&comp=list&delimiter=/", "BlobPrefix", 30, 1),
    ];
    for (query, element, count, least_pages) in cases {
        let (found, pages) = all_pages(&client, query, element).await;
        assert_eq!(found.len(), count, "{query}");
        assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), count, "{query}: one is shown twice");
        assert!(pages >= least_pages, "{query}: {pages} pages");
    }
}
