//! Golden conversations: requests and the whole of their answers, as text, against an engine in memory.
//!
//! A file is a conversation. A request is its line, headers, an empty line and a body; `--- STATUS` begins the
//! answer, of the same form; `===` ends the exchange. In an answer `*` stands for any text, and `NAME => word`
//! keeps a header's value for `{word}` in what follows. Headers of the answer must be exactly those listed, beside
//! the ones that every answer has, which are checked for all. `# features: LIST` in the first line says what the account
//! can do beyond a plain one.

mod append;
pub mod client;
mod encryption;
mod foreign_sources;
mod handles;
mod lanes;
pub mod opens;
mod pages;
mod restore;
mod rows;
mod structured;
mod tables;
mod website;
mod wire;

use std::collections::BTreeMap;
use std::path::Path;

use client::{Client, Request};

#[tokio::test]
async fn conversations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/conversations");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 6, "conversations are missing");
    let mut differences = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let client = match name.as_str() {
            "versions.txt" => Client::with_features(|features| features.versioning = true),
            "restored_containers.txt" => {
                Client::with_features(|features| features.container_soft_delete = Some(7))
            }
            _ => Client::of(&text),
        };
        differences.extend(converse(&name, &text, &client, BTreeMap::new()).await);
    }
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
    rows::update_and_delete_a_message().await;
    foreign_sources::abort_a_copy().await;
    foreign_sources::abort_a_file_copy().await;
    handles::list_and_close().await;
    restore::restore_a_container().await;
    restore::restore_a_share().await;
    rows::assert_all_answered();
}

/// conditional.md section 1: from 2013-08-15 on a container's lease leaves its ETag alone.
#[tokio::test]
async fn a_lease_of_an_old_version_changes_the_container() {
    for (version, changes) in [("2012-02-12", true), ("2013-08-15", false)] {
        let client = Client::new();
        let ask = async |text: String| {
            let answer = client.send(Request::parse(&text)).await;
            assert_eq!(answer.status, 201, "{}", answer.text());
            answer.headers["etag"].trim_matches('"').to_owned()
        };
        let made = ask("PUT /devstoreaccount1/box?restype=container".to_owned()).await;
        let leased = ask(format!(
            "PUT /devstoreaccount1/box?restype=container&comp=lease\nx-ms-version: {version}\n\
             x-ms-lease-action: acquire\nx-ms-lease-duration: 15"
        ))
        .await;
        assert_eq!(made != leased, changes, "{version}");
    }
}

/// Requests and what is expected of their answers.
pub fn exchanges(text: &str) -> Vec<(String, String)> {
    let mut exchanges = Vec::new();
    for exchange in text.split("\n===") {
        let lines = exchange.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
        let exchange = lines.trim_start();
        if exchange.is_empty() {
            continue;
        }
        let (asked, expected) = exchange.split_once("\n--- ").unwrap_or_else(|| panic!("{exchange}"));
        exchanges.push((asked.to_owned(), expected.to_owned()));
    }
    exchanges
}

/// The differences between what is expected and what is answered. The words stand for `{word}` in the text.
pub async fn converse(
    name: &str,
    text: &str,
    client: &Client,
    mut words: BTreeMap<String, String>,
) -> Vec<String> {
    let mut differences = Vec::new();
    let exchanges = exchanges(text);
    assert!(!exchanges.is_empty(), "{name} has no exchange");
    for (asked, expected) in exchanges {
        let asked = fill(&asked, &words);
        let answer = client.send(Request::parse(&asked)).await;
        if let Err(difference) = compare(&fill(&expected, &words), &answer, &mut words) {
            let line = asked.lines().next().unwrap_or_default();
            let (status, headers) = (answer.status, &answer.headers);
            let body = answer.text();
            differences.push(format!("{name}: {line}\n{difference}\nanswered {status} {headers:?}\n{body}"));
        }
    }
    differences
}

pub fn fill(text: &str, words: &BTreeMap<String, String>) -> String {
    words.iter().fold(text.to_owned(), |text, (word, value)| text.replace(&format!("{{{word}}}"), value))
}

fn compare(
    expected: &str,
    answer: &client::Answer,
    words: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    let (head, body) = expected.split_once("\n\n").unwrap_or((expected, ""));
    let mut lines = head.lines();
    let status = lines.next().unwrap_or_default().trim();
    if answer.status.to_string() != status {
        return Err(format!("status is not {status}"));
    }
    let mut left = answer.headers.clone();
    for line in lines.filter(|line| !line.trim().is_empty()) {
        if let Some((name, word)) = line.split_once(" => ") {
            words.insert(word.trim().to_owned(), left.remove(name).ok_or(format!("{name} is missing"))?);
            continue;
        }
        let (name, pattern) = line.split_once(':').ok_or(format!("bad line {line}"))?;
        let value = left.remove(name).ok_or(format!("{name} is missing"))?;
        if !matches(pattern.trim(), &value) {
            return Err(format!("{name}: {value} is not {pattern}"));
        }
    }
    if !left.is_empty() {
        return Err(format!("not expected: {left:?}"));
    }
    if !matches(body.trim_end(), answer.text().trim_end()) {
        return Err(format!("the body is not\n{body}"));
    }
    Ok(())
}

/// `*` stands for any text, line breaks included.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}
