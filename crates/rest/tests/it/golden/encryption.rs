//! Encryption scopes, on an account that has two.

use std::collections::BTreeMap;

use lazuli_model::account::AccountFeatures;

use super::client::Client;
use super::converse;

#[tokio::test]
async fn encryption_scopes() {
    let mut features = AccountFeatures::default();
    features.entry("devstoreaccount1").encryption_scopes = vec!["red".into(), "blue".into()];
    let client = Client::with_features(features);
    let text = include_str!("encryption_scopes.txt");
    let differences = converse("encryption_scopes.txt", text, &client, BTreeMap::new()).await;
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}
