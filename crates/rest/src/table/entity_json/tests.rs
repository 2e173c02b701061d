use super::text;

fn written(value: &str) -> String {
    let mut out = Vec::new();
    text(&mut out, value);
    String::from_utf8(out).unwrap()
}

/// Every character that could need escaping, at every place of a text of more than one block.
#[test]
fn texts_are_written_as_a_json_library_writes_them() {
    for length in [0, 1, 63, 64, 65, 200] {
        let plain = "é".repeat(length);
        assert_eq!(written(&plain), serde_json::to_string(&plain).unwrap());
    }
    for at in 0..130 {
        for byte in 0..=0x7F_u8 {
            let mut value = "x".repeat(130);
            value.insert(at, char::from(byte));
            assert_eq!(written(&value), serde_json::to_string(&value).unwrap(), "{byte} at {at}");
        }
    }
}
