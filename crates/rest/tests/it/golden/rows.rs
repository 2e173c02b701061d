//! Every answer that a golden test gets is one that the operation's row describes, and every operation that is built is
//! answered in some conversation.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use lazuli_model::operation::{Op, Row};
use lazuli_rest::is_built;

use super::client::{Client, Request};

static ANSWERED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

/// Tested where the tokens are, in `auth/bearer.rs`.
const WITH_TOKENS: [Op; 3] =
    [Op::GetUserDelegationKey, Op::GetQueueUserDelegationKey, Op::GetFileUserDelegationKey];
/// Answered before a row is looked for.
const PREFLIGHTS: [Op; 4] = [
    Op::PreflightBlobRequest,
    Op::PreflightQueueRequest,
    Op::PreflightTableRequest,
    Op::PreflightFileRequest,
];

fn answered() -> MutexGuard<'static, BTreeSet<&'static str>> {
    ANSWERED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn row(operation: &str) -> Option<&'static Row> {
    Op::ALL.iter().find(|op| op.name() == operation).map(|op| op.row())
}

/// What was carried out has a status of the row, and an ETag exactly if the row tells one.
pub fn check(operation: &'static str, status: u16, headers: &HeaderMap) {
    let Some(row) = row(operation).filter(|_| status < 300) else { return };
    let Row { answer, policy, op, .. } = row;
    assert!(answer.status.contains(&status), "{operation}: {status} is not of {:?}", answer.status);
    let told = headers.contains_key("etag");
    // A blob of uncommitted blocks only has nothing to tell.
    let may_lack = policy.finds_uncommitted && !op.writes();
    assert!(answer.etag == told || answer.etag && may_lack, "{operation}: ETag told: {told}");
    answered().insert(operation);
}

/// Whether an answer of this kind names its length, as nearly all do.
pub fn says_length(operation: &str, status: u16) -> bool {
    status >= 300 || row(operation).is_none_or(|row| row.answer.says_empty)
}

/// After all conversations.
pub fn assert_all_answered() {
    let answered = answered();
    let missing: Vec<&str> = Op::ALL
        .iter()
        .filter(|op| is_built(**op) && !WITH_TOKENS.contains(op) && !PREFLIGHTS.contains(op))
        .filter(|op| !answered.contains(op.name()))
        .map(|op| op.name())
        .collect();
    assert!(missing.is_empty(), "no conversation is answered by {missing:?}");
}

/// Put Message tells the id and the receipt of a message in its body, where a conversation cannot take them from.
pub async fn update_and_delete_a_message() {
    const HOST: &str = "host: devstoreaccount1.queue.localhost:10001";
    let client = Client::new();
    let send = async |text: String| client.send(Request::parse(&format!("{text}\n{HOST}"))).await;
    assert_eq!(send("PUT /line".to_owned()).await.status, 201);
    let body = "<QueueMessage><MessageText>one</MessageText></QueueMessage>";
    let put = client.send(Request::parse(&format!("POST /line/messages\n{HOST}\n\n{body}"))).await.text();
    let told = |name: &str| {
        let (_, rest) = put.split_once(&format!("<{name}>")).unwrap();
        let text = rest.split_once('<').unwrap().0;
        percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
    };
    let (id, receipt) = (told("MessageId").replace("%2D", "-"), told("PopReceipt"));
    let update = format!("PUT /line/messages/{id}?visibilitytimeout=0&popreceipt={receipt}");
    let updated = send(update).await;
    assert_eq!(updated.status, 204, "{}", updated.text());
    let receipt = updated.headers["x-ms-popreceipt"].clone();
    let receipt = percent_encoding::utf8_percent_encode(&receipt, percent_encoding::NON_ALPHANUMERIC);
    let deleted = send(format!("DELETE /line/messages/{id}?popreceipt={receipt}")).await;
    assert_eq!(deleted.status, 204, "{}", deleted.text());
}
