//! Requests of the Queue service, signed by the one SAS, and the messages in its answers.

use lazuli_testing::xml::element;

use crate::Trial;
use crate::sas::signed;
use crate::wire::{Answer, Request};

/// As an answer shows it. What the answer does not show is empty or 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub id: String,
    pub receipt: String,
    pub count: u32,
    pub text: String,
}

pub fn create(queue: &str) -> Request {
    signed("PUT", queue, "")
}

pub fn metadata(queue: &str) -> Request {
    signed("GET", queue, "comp=metadata")
}

/// `life`: messagettl, -1 for ever.
pub fn put(queue: &str, text: &str, hidden: u64, life: i64) -> Request {
    signed("POST", &format!("{queue}/messages"), &format!("visibilitytimeout={hidden}&messagettl={life}"))
        .body(document(text))
}

pub fn get(queue: &str, most: usize, hidden: u64) -> Request {
    let query = format!("numofmessages={most}&visibilitytimeout={hidden}");
    signed("GET", &format!("{queue}/messages"), &query)
}

pub fn peek(queue: &str, most: usize) -> Request {
    signed("GET", &format!("{queue}/messages"), &format!("peekonly=true&numofmessages={most}"))
}

pub fn clear(queue: &str) -> Request {
    signed("DELETE", &format!("{queue}/messages"), "")
}

/// Without a text the old one stays.
pub fn update(queue: &str, id: &str, receipt: &str, hidden: u64, text: Option<&str>) -> Request {
    let query = format!("popreceipt={}&visibilitytimeout={hidden}", escaped(receipt));
    let request = signed("PUT", &format!("{queue}/messages/{id}"), &query);
    match text {
        Some(text) => request.body(document(text)),
        None => request,
    }
}

pub fn delete(queue: &str, id: &str, receipt: &str) -> Request {
    signed("DELETE", &format!("{queue}/messages/{id}"), &format!("popreceipt={}", escaped(receipt)))
}

/// The answer to every way of using a receipt that is not the newest, or whose message is gone.
pub fn is_lost(answer: &Answer) -> bool {
    answer.status == 404 && answer.code() == "MessageNotFound"
}

pub fn messages(answer: &Answer) -> Trial<Vec<Message>> {
    let text = String::from_utf8_lossy(&answer.body);
    let one = |shown: &str| {
        let count = element(shown, "DequeueCount");
        let count = if count.is_empty() { Ok(0) } else { count.parse() };
        Ok(Message {
            id: element(shown, "MessageId").to_owned(),
            receipt: element(shown, "PopReceipt").to_owned(),
            count: count.map_err(|_| format!("no DequeueCount: {shown}"))?,
            text: element(shown, "MessageText").to_owned(),
        })
    };
    text.split("<QueueMessage>").skip(1).map(one).collect()
}

pub fn count(answer: &Answer) -> Trial<u64> {
    let count = answer.header("x-ms-approximate-messages-count").and_then(|count| count.parse().ok());
    count.ok_or_else(|| "no x-ms-approximate-messages-count".to_owned())
}

fn document(text: &str) -> String {
    format!("<QueueMessage><MessageText>{text}</MessageText></QueueMessage>")
}

fn escaped(receipt: &str) -> String {
    receipt.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
}
