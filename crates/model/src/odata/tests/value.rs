use crate::odata::{EdmType, compare_ordinal};

#[test]
fn strings_order_by_utf16_code_unit() {
    let texts = [
        "",
        "A",
        "Aa",
        "B",
        "a",
        "ab",
        "z",
        "é",
        "\u{D7FF}",
        "\u{10000}",
        "\u{1F600}",
        "\u{1F600}a",
        "\u{E000}",
        "\u{FFFF}",
    ];
    for a in texts {
        for b in texts {
            let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
            assert_eq!(compare_ordinal(a, b), units(a).cmp(&units(b)), "{a:?} {b:?}");
        }
    }
}

#[test]
fn types_are_known_by_their_names() {
    for edm in EdmType::ALL {
        assert_eq!(EdmType::parse(edm.name()), Some(edm));
    }
    assert_eq!(EdmType::parse("Edm.Int16"), None);
}
