//! Messages in XML: what a producer sends is what a consumer reads.

use lazuli_model::Timestamp;
use lazuli_model::admission::queue::PopReceipt;
use lazuli_rest::queue::message::{self, Shown, TEXT_LIMIT};
use lazuli_rest::xml;
use lazuli_service::queue::Delivered;
use uuid::Uuid;

pub fn run(data: &[u8]) {
    if let Ok(text) = message::parse(data) {
        comes_back(&text);
    }
    let text = String::from_utf8_lossy(data);
    let sent = format!("<QueueMessage><MessageText>{}</MessageText></QueueMessage>", escaped(&text));
    match message::parse(sent.as_bytes()) {
        Ok(read) => {
            assert!(xml::is_legal(&text), "a text that no answer can hold was taken: {text:?}");
            assert_eq!(read, text, "{sent}");
            comes_back(&read);
        }
        Err(_) => assert!(!xml::is_legal(&text) || text.len() > TEXT_LIMIT, "refused: {sent}"),
    }
}

/// Everything that could mean something else is written by number; a carriage return would be read as a line feed.
fn escaped(text: &str) -> String {
    let mut written = String::new();
    for char in text.chars() {
        match char {
            '<' | '>' | '&' | '"' | '\'' | '\r' => written.push_str(&format!("&#{};", u32::from(char))),
            _ => written.push(char),
        }
    }
    written
}

fn comes_back(text: &str) {
    assert!(text.len() <= TEXT_LIMIT, "{} bytes", text.len());
    let message = |dequeue_count| Delivered {
        id: Uuid::nil(),
        inserted: Timestamp::MAX,
        expires: None,
        next_visible: Timestamp::MAX,
        receipt: PopReceipt::issue(Uuid::nil(), Timestamp::MAX),
        dequeue_count,
        text: text.to_owned(),
    };
    for shown in [Shown::Got, Shown::Peeked] {
        let written = message::write(&[message(1), message(2)], shown);
        let list = xml::parse(written.as_bytes()).unwrap();
        assert_eq!(list.children.len(), 2, "{written}");
        for (message, count) in list.children.iter().zip(["1", "2"]) {
            let read = |name: &str| message.child(name).map(|child| child.text.as_str());
            assert_eq!(read("MessageText"), Some(text), "{written}");
            assert_eq!(read("DequeueCount"), Some(count), "{written}");
            assert_eq!(read("PopReceipt").is_some(), shown == Shown::Got, "{written}");
        }
    }
    assert_eq!(message::write(&[message(0)], Shown::Put).matches("MessageText").count(), 0);
}
