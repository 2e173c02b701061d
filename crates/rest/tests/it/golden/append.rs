//! What a conversation in text is too short for: the largest blocks.

use super::client::{Client, Request};

const MIB: usize = 1024 * 1024;

/// common.md: 4 MiB, from 2022-11-02 on 100 MiB.
#[tokio::test]
async fn the_largest_block_depends_on_the_version() {
    let client = Client::new();
    let ask = async |text: String, body: usize| {
        let text = if body == 0 { text } else { format!("{text}\n\n{}", "x".repeat(body)) };
        let answer = client.send(Request::parse(&text)).await;
        (answer.status, answer.headers.get("x-ms-error-code").cloned().unwrap_or_default())
    };
    let made = (201, String::new());
    let too_large = (413, "RequestBodyTooLarge".to_owned());
    assert_eq!(ask("PUT /devstoreaccount1/box?restype=container".into(), 0).await, made);
    assert_eq!(ask("PUT /devstoreaccount1/box/log\nx-ms-blob-type: AppendBlob".into(), 0).await, made);
    for (version, length, wanted) in [
        ("2021-12-02", 4 * MIB, &made),
        ("2021-12-02", 4 * MIB + 1, &too_large),
        ("2022-11-02", 4 * MIB + 1, &made),
        ("2022-11-02", 100 * MIB, &made),
        ("2022-11-02", 100 * MIB + 1, &too_large),
    ] {
        let text = format!("PUT /devstoreaccount1/box/log?comp=appendblock\nx-ms-version: {version}");
        assert_eq!(&ask(text, length).await, wanted, "{version} {length}");
    }
}
