use crate::table::address::{Keys, entity, keys, quoted};
use crate::table::continuation::{decode, encode};

fn pair(partition: &str, row: &str) -> Option<Keys> {
    Some(Keys { partition: partition.to_owned(), row: row.to_owned() })
}

#[test]
fn keys_in_either_order_quotes_doubled() {
    assert_eq!(keys("PartitionKey='p',RowKey='r'"), pair("p", "r"));
    assert_eq!(keys("RowKey='r' , PartitionKey='p'"), pair("p", "r"));
    assert_eq!(keys("PartitionKey='o''clock',RowKey=''"), pair("o'clock", ""));
    assert_eq!(keys("PartitionKey='a,RowKey=''b',RowKey=')('"), pair("a,RowKey='b", ")("));
    for text in
        ["", "'p'", "PartitionKey='p'", "PartitionKey='p',RowKey='r", "PartitionKey='p',RowKey='r',X='x'"]
    {
        assert_eq!(keys(text), None, "{text}");
    }
    for text in ["PartitionKey='p',PartitionKey='q'", "PartitionKey=p,RowKey=r", "PartitionKey='p'RowKey='r'"]
    {
        assert_eq!(keys(text), None, "{text}");
    }
    assert_eq!(quoted("'t'"), Some(("t".to_owned(), "")));
    assert_eq!(quoted("'t"), None);
}

/// Recorded locations.
#[test]
fn keys_in_urls_are_escaped_as_recorded() {
    let cases = [
        ("A'aaa\"_bbbb2", "'t(PartitionKey='A''aaa%22_bbbb2',RowKey='r')"),
        (":@", "'t(PartitionKey='%3A%40',RowKey='r')"),
        ("+,$", "'t(PartitionKey='%2B%2C%24',RowKey='r')"),
        ("=& ", "'t(PartitionKey='%3D%26%20',RowKey='r')"),
        ("table@storage.com0", "'t(PartitionKey='table%40storage.com0',RowKey='r')"),
    ];
    for (key, expected) in cases {
        assert_eq!(entity("'t", key, "r"), expected);
    }
}

/// Recorded tokens.
#[test]
fn continuations_are_written_as_recorded() {
    for (key, token) in
        [("Smith", "1!8!U21pdGg-"), ("pk", "1!4!cGs-"), ("somPartition", "1!16!c29tUGFydGl0aW9u")]
    {
        assert_eq!(encode(key), token);
        assert_eq!(decode("NextRowKey", token).expect("a key"), key);
    }
    for key in ["", "?>?>\u{FFFF}", "\u{1F600}"] {
        assert_eq!(decode("NextRowKey", &encode(key)).expect("a key"), key);
    }
    for token in ["", "1!4!cGs", "2!4!cGs-", "1!4!!!!!", "x"] {
        assert!(decode("NextRowKey", token).is_err(), "{token}");
    }
}
