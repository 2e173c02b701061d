use crate::store::table::utf16_order::{decode, encode, split};

#[test]
fn bytes_order_as_utf16_does() {
    let texts = [
        "",
        " ",
        "A",
        "Aa",
        "a",
        "z",
        "é",
        "\u{D7FF}",
        "\u{10000}",
        "\u{1F600}",
        "\u{1F600}x",
        "\u{E000}",
        "\u{FFFF}",
        "a\u{10FFFF}b",
    ];
    for a in texts {
        assert_eq!(decode(&encode(a)).as_deref(), Some(a));
        for b in texts {
            let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
            assert_eq!(encode(a).cmp(&encode(b)), units(a).cmp(&units(b)), "{a:?} {b:?}");
            let joined = [&encode(a)[..], &[0], &encode(b)[..]].concat();
            let (first, second) = split(&joined).expect("two keys");
            assert_eq!((first.as_ref(), second.as_ref()), (a, b));
        }
    }
}

#[test]
fn what_is_no_key_is_not_read_as_one() {
    for bytes in [&b"\xFF"[..], b"\xED\xA0\x80", b"\xED\xB0\x80\xED\xA0\x80", b"a\xED\xA0\x80b", b"\xED"] {
        assert_eq!(decode(bytes), None, "{bytes:?}");
    }
    assert!(split(b"no end").is_none());
}
