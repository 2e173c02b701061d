//! Encryption scopes, on an account that has two.

use std::collections::BTreeMap;

use super::client::Client;
use super::converse;

#[tokio::test]
async fn encryption_scopes() {
    let client =
        Client::with_features(|features| features.encryption_scopes = vec!["red".into(), "blue".into()]);
    let text = include_str!("encryption_scopes.txt");
    let differences = converse("encryption_scopes.txt", text, &client, BTreeMap::new()).await;
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}
