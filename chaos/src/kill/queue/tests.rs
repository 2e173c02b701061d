//! What may be found after a crash, and what may not.

use super::*;

fn queue(messages: &[(&str, u32)]) -> Queue {
    let mut queue = Queue::new(0, Random::new(1));
    for (id, count) in messages {
        let message = Message { text: format!("text of {id}"), count: *count, receipt: None, hidden: false };
        queue.messages.insert((*id).to_owned(), message);
    }
    queue
}

/// Id, text, DequeueCount.
type Found = (&'static str, &'static str, u32);

fn found(messages: &[Found]) -> Vec<queue::Message> {
    let one = |(id, text, count): &Found| queue::Message {
        id: (*id).to_owned(),
        receipt: String::new(),
        count: *count,
        text: (*text).to_owned(),
    };
    messages.iter().map(one).collect()
}

#[test]
fn what_may_be_there() {
    let (a, b) = (("a", "text of a", 0), ("b", "text of b", 2));
    let both = [("a", 0), ("b", 2)];
    let update = Open::Update { id: "a".to_owned(), text: Some("new".to_owned()) };
    let rows: [(&str, Option<Open>, &[Found], bool); 15] = [
        ("nothing was open", None, &[a, b], true),
        ("an acknowledged message is gone", None, &[a], false),
        ("a message comes back", None, &[a, b, ("c", "x", 0)], false),
        ("a Get was forgotten", None, &[a, ("b", "text of b", 1)], false),
        ("an update was forgotten", None, &[("a", "old text", 0), b], false),
        ("an open Put was done", Some(Open::Put("x".to_owned())), &[a, b, ("c", "x", 0)], true),
        ("an open Put was not done", Some(Open::Put("x".to_owned())), &[a, b], true),
        ("another than the open Put", Some(Open::Put("x".to_owned())), &[a, b, ("c", "y", 0)], false),
        ("an open Get took one", Some(Open::Get(1)), &[a, ("b", "text of b", 3)], true),
        (
            "an open Get took too many",
            Some(Open::Get(1)),
            &[("a", "text of a", 1), ("b", "text of b", 3)],
            false,
        ),
        ("an open update was done", Some(update.clone()), &[("a", "new", 0), b], true),
        ("an open update hit another", Some(update), &[a, ("b", "new", 2)], false),
        ("an open delete was done", Some(Open::Delete("a".to_owned())), &[b], true),
        ("an open delete hit another", Some(Open::Delete("a".to_owned())), &[a], false),
        ("an open clear was half done", Some(Open::Clear), &[a], false),
    ];
    for (what, open, left, right) in rows {
        let outcome = queue(&both).settle(&open, found(left));
        assert_eq!(outcome.is_ok(), right, "{what}: {outcome:?}");
    }
}
