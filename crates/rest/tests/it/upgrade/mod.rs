//! A data directory that an earlier build made is kept as a fixture; today's build reads all of it, writes to it, and
//! reads it again.
//!
//! `format-1.tar.gz` is the directory as a crash would have left it: the first half of `filling.txt` was written before a
//! clean stop, the second half is only in the log. `format-1.words` holds what the answers said then (ETags, snapshots),
//! so `reading.txt` demands the very same values today. A new format, or a new shape of a record, gets a fixture of its
//! own beside this one: the ignored test `make_the_fixture` makes it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use lazuli_engine::{Engine, Host, Options};
use lazuli_service::upkeep;

use crate::golden::client::{Client, Request};
use crate::golden::{converse, exchanges, fill};

type Words = BTreeMap<String, String>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/upgrade")
}

fn conversation(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

/// Texts too long to be spelled in a conversation.
fn long_texts() -> Words {
    let text = |length: usize| "0123456789abcdef".chars().cycle().take(length).collect::<String>();
    [("big", text(20_000)), ("long", text(30_000))]
        .map(|(word, text)| (word.to_owned(), text))
        .into_iter()
        .collect()
}

fn open(directory: &Path) -> (Engine, Client) {
    let engine = Engine::open(directory, Options::default(), Host::real()).unwrap();
    (engine.clone(), Client::over(engine))
}

/// The directory is let go of when the last handle is; the next one to open it waits for that.
async fn close(engine: Engine, client: Client) {
    drop(client);
    engine.close().await.unwrap();
}

fn tar(arguments: &[&str], directory: &Path) {
    let archive = folder().join("format-1.tar.gz");
    let status = Command::new("tar").args(arguments).arg(archive).arg("-C").arg(directory).arg(".").status();
    assert!(status.unwrap().success(), "tar {arguments:?}");
}

#[tokio::test]
async fn a_directory_of_an_earlier_build_is_read_written_and_read_again() {
    let directory = tempfile::tempdir().unwrap();
    tar(&["-xzf"], directory.path());
    let mut words = long_texts();
    words.extend(serde_json::from_str::<Words>(&conversation("format-1.words")).unwrap());

    let (engine, client) = open(directory.path());
    assert_conversation("reading.txt", &client, &words).await;
    // As a server does at its start.
    client.gateway.services.index_tags().await.map_err(|fault| fault.0).unwrap();
    assert_conversation("finding.txt", &client, &words).await;
    while upkeep::sweep(&client.gateway.services).await.unwrap() > 0 {}
    assert_conversation("reading.txt", &client, &words).await;
    assert_conversation("writing.txt", &client, &words).await;
    close(engine, client).await;

    let (engine, client) = open(directory.path());
    while upkeep::sweep(&client.gateway.services).await.unwrap() > 0 {}
    assert_conversation("written.txt", &client, &words).await;
    close(engine, client).await;
}

async fn assert_conversation(name: &str, client: &Client, words: &Words) {
    let differences = converse(name, &conversation(name), client, words.clone()).await;
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

#[tokio::test]
#[ignore = "makes format-1.tar.gz anew: only for a new format"]
async fn make_the_fixture() {
    let directory = tempfile::tempdir().unwrap();
    let (mut words, text) = (long_texts(), conversation("filling.txt"));
    let exchanges = exchanges(&text);
    let (first, second) = exchanges.split_at(exchanges.len() / 2);

    let (engine, client) = open(directory.path());
    fill_with(&client, first, &mut words).await;
    close(engine, client).await;
    let (engine, client) = open(directory.path());
    fill_with(&client, second, &mut words).await;
    // The short visibility timeouts of filling.txt end before the copy is made.
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    tar(&["-S", "--exclude=LOCK", "-czf"], directory.path());
    close(engine, client).await;

    for word in long_texts().keys() {
        words.remove(word);
    }
    std::fs::write(folder().join("format-1.words"), serde_json::to_string_pretty(&words).unwrap()).unwrap();
}

async fn fill_with(client: &Client, exchanges: &[(String, String)], words: &mut Words) {
    for (asked, expected) in exchanges {
        let answer = client.send(Request::parse(&fill(asked, words))).await;
        let mut lines = expected.lines();
        let status = lines.next().unwrap_or_default();
        assert_eq!(answer.status.to_string(), status, "{}\n{}", asked.lines().next().unwrap(), answer.text());
        for (header, word) in lines.filter_map(|line| line.split_once(" => ")) {
            words.insert(word.to_owned(), answer.headers[header].clone());
        }
    }
}
