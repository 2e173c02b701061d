use super::*;

fn of(pairs: &[(&str, &str)]) -> Result<Metadata, &'static str> {
    let owned = pairs.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    Metadata::from_pairs(owned).map_err(|failure| failure.code.name())
}

#[test]
fn order_and_case_are_kept_and_blanks_trimmed() {
    let metadata = of(&[("Beta", " 1 "), ("alpha", ""), ("_x9", "a  b")]).unwrap();
    let pairs: Vec<_> = metadata.iter().collect();
    assert_eq!(pairs, [("Beta", "1"), ("alpha", ""), ("_x9", "a  b")]);
    assert_eq!(metadata.get("BETA"), Some("1"));
}

#[test]
fn names_are_identifiers() {
    assert_eq!(of(&[("", "v")]), Err("EmptyMetadataKey"));
    for name in ["a-b", "1a", "!", "a b", "a.b"] {
        assert_eq!(of(&[(name, "v")]), Err("InvalidMetadata"), "{name}");
    }
    assert_eq!(of(&[("a", "1"), ("A", "2")]), Err("InvalidMetadata"));
}

#[test]
fn the_limit_counts_names_and_values() {
    let value = "v".repeat(METADATA_LIMIT - 4);
    assert!(of(&[("name", &value)]).is_ok());
    assert_eq!(of(&[("names", &value)]), Err("MetadataTooLarge"));
}

#[test]
fn sameness_ignores_order_and_the_case_of_names() {
    let one = of(&[("a", "1"), ("b", "2")]).unwrap();
    assert!(one.same_as(&of(&[("B", "2"), ("A", "1")]).unwrap()));
    assert!(!one.same_as(&of(&[("a", "1"), ("b", "3")]).unwrap()));
    assert!(!one.same_as(&of(&[("a", "1")]).unwrap()));
}
