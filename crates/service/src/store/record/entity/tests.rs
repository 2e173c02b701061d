use super::*;

fn everything() -> Vec<(String, EdmValue)> {
    [
        ("s", EdmValue::String("é\u{1F600}".repeat(100))),
        ("", EdmValue::String(String::new())),
        ("b", EdmValue::Boolean(true)),
        ("c", EdmValue::Boolean(false)),
        ("i", EdmValue::Int32(i32::MIN)),
        ("l", EdmValue::Int64(i64::MAX)),
        ("d", EdmValue::Double(f64::NEG_INFINITY)),
        ("g", EdmValue::Guid(Uuid::from_u128(7))),
        ("t", EdmValue::DateTime(Timestamp::YEAR_1601)),
        ("x", EdmValue::Binary(vec![0; 65_536])),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

#[test]
fn what_was_stored_is_read() {
    let properties = everything();
    let body = encode_body(&properties);
    let read: Vec<_> = Properties::of(&body).map(|property| property.expect("a property")).collect();
    assert_eq!(read.len(), properties.len());
    for (raw, (name, value)) in read.iter().zip(&properties) {
        assert_eq!(raw.name().expect("a name"), name);
        assert_eq!(raw.value().expect("a value"), value.borrowed());
    }
    let whole: Vec<u8> = read.iter().flat_map(|raw| raw.whole).copied().collect();
    assert_eq!(whole, body);
}

#[test]
fn an_entity_is_inline_or_in_segments() {
    let timestamp = Timestamp(42);
    let body = StoredBody::Inline(encode_body(&everything()));
    let segments = StoredBody::Segments { content: ContentId(u128::MAX - 1), length: 1_000_000 };
    for body in [body, segments, StoredBody::Inline(Bytes::new())] {
        let stored = StoredEntity { timestamp, body };
        assert_eq!(StoredEntity::decode(&stored.encode()).expect("an entity"), stored);
    }
}

/// Damage is reported, never read as data and never a panic.
#[test]
fn damage_is_found() {
    let body = encode_body(&everything());
    for cut in 0..300 {
        for property in Properties::of(&body[..cut]).flatten() {
            let _ = property.value();
        }
        let _ = StoredEntity::decode(&body.slice(..cut));
    }
    assert!(Properties::of(&body[..body.len() - 1]).any(|property| property.is_err()));
    assert!(Properties::of(&[1, b'a', 9]).any(|property| property.is_err()));
    assert!(Properties::of(&[0xFF; 9]).any(|property| property.is_err()));
    let bad_text = [1, b'a', 0, 1, 0xFF];
    let raw = Properties::of(&bad_text).next().expect("a property").expect("well framed");
    assert!(raw.value().is_err());
}
