use super::*;

contract!(
    reads_what_was_committed,
    a_reader_stays_where_it_was_opened,
    an_old_reader_sees_deleted_keys_and_old_values,
    versions_name_the_commit,
    stamps_grow,
    the_engines_own_keys_are_hidden,
    get_many_keeps_the_order,
);

async fn reads_what_was_committed(place: Place) {
    let engine = place.open();
    assert_eq!(text(&engine, "a").await, None);
    write(&engine, vec![put("a", "1"), put("~wide", "2"), put("\u{7f}high", "3")]).await;
    assert_eq!(text(&engine, "a").await.as_deref(), Some("1"));
    assert_eq!(text(&engine, "~wide").await.as_deref(), Some("2"));
    assert_eq!(text(&engine, "\u{7f}high").await.as_deref(), Some("3"));
    write(&engine, vec![put("a", ""), delete("~wide")]).await;
    assert_eq!(text(&engine, "a").await.as_deref(), Some(""));
    assert_eq!(text(&engine, "~wide").await, None);
}

async fn a_reader_stays_where_it_was_opened(place: Place) {
    let engine = place.open();
    write(&engine, vec![put("a", "1"), put("b", "1")]).await;
    let reader = engine.reader().await.unwrap();
    write(&engine, vec![put("a", "2"), put("b", "2"), put("c", "2")]).await;
    for (name, expected) in [("a", Some("1")), ("b", Some("1")), ("c", None)] {
        let found = reader.get_untracked(key(name)).await.unwrap();
        assert_eq!(found.as_ref().map(|entry| &entry.value[..]), expected.map(str::as_bytes), "{name}");
    }
}

async fn an_old_reader_sees_deleted_keys_and_old_values(place: Place) {
    let engine = place.open();
    let mut readers = vec![];
    for round in 0..20 {
        let value = round.to_string();
        let writes = if round % 3 == 2 { vec![delete("k")] } else { vec![put("k", &value)] };
        write(&engine, writes).await;
        readers.push((round, engine.reader().await.unwrap()));
    }
    // Dropped from the middle: the others must not lose what they see.
    readers.retain(|(round, _)| round % 4 != 1);
    for _ in 0..5 {
        write(&engine, vec![put("k", "later")]).await;
    }
    for (round, reader) in readers {
        let found = reader.get_untracked(key("k")).await.unwrap().map(|entry| entry.value);
        let expected = (round % 3 != 2).then(|| key(&round.to_string()));
        assert_eq!(found, expected, "round {round}");
    }
}

async fn versions_name_the_commit(place: Place) {
    let engine = place.open();
    let first = write(&engine, vec![put("a", "1"), put("b", "1")]).await;
    let second = write(&engine, vec![put("b", "1")]).await;
    assert_ne!(first, second);
    assert_eq!(peek(&engine, "a").await.unwrap().version, first);
    assert_eq!(peek(&engine, "b").await.unwrap().version, second);
}

async fn stamps_grow(place: Place) {
    let engine = place.open();
    let before = engine.reader().await.unwrap().stamp();
    let commit = engine.commit(txn(&engine, vec![], vec![put("a", "1")])).await.unwrap();
    let after = engine.reader().await.unwrap().stamp();
    assert_ne!(after.version, before.version);
    assert!(before.now <= commit.now && commit.now <= after.now);
}

async fn the_engines_own_keys_are_hidden(place: Place) {
    let engine = place.open();
    write(&engine, vec![put("a", "1")]).await;
    let reader = engine.reader().await.unwrap();
    let all = reader.scan(super::scans::all("")).await.unwrap();
    assert_eq!(all.items.len(), 1);
    assert!(reader.get_untracked(Key::from_static(b"\0z")).await.unwrap().is_none());
    assert!(reader.get_untracked(Key::new()).await.unwrap().is_none());
}

async fn get_many_keeps_the_order(place: Place) {
    let engine = place.open();
    write(&engine, vec![put("a", "1"), put("c", "3")]).await;
    let reader = engine.reader().await.unwrap();
    let found = reader.get_many(vec![key("c"), key("b"), key("a"), key("c")]).await.unwrap();
    let found: Vec<_> = found.iter().map(|entry| entry.as_ref().map(|entry| &entry.value[..])).collect();
    assert_eq!(found, [Some(&b"3"[..]), None, Some(b"1"), Some(b"3")]);
}
