use super::*;

#[test]
fn known_versions_are_dates_in_order() {
    assert!(ApiVersion::KNOWN.windows(2).all(|pair| pair[0] < pair[1]));
    for version in ApiVersion::KNOWN {
        assert_eq!(ApiVersion::parse(version.as_str()), Some(*version));
    }
}

#[test]
fn any_date_is_a_version_and_comes_back_as_sent() {
    for text in ["2009-04-14", "2026-10-06", "2031-01-31"] {
        assert_eq!(ApiVersion::parse(text).unwrap().as_str(), text);
    }
    assert!(ApiVersion::parse("2031-01-31").unwrap().has(Feature::BothHashesReturned));
}

#[test]
fn what_is_no_date_is_no_version() {
    for text in [
        "",
        "latest",
        "2020-1-1",
        "2020-13-01",
        "2020-00-10",
        "2020-01-32",
        "2020/01/01",
        "2020-01-01 ",
        "é020-01-1",
    ] {
        assert_eq!(ApiVersion::parse(text), None, "{text}");
    }
}

#[test]
fn a_feature_begins_with_its_version_and_not_before() {
    for feature in Feature::ALL {
        let since = feature.since();
        let index = ApiVersion::KNOWN.iter().position(|known| *known == since).unwrap();
        assert!(since.has(*feature));
        if let Some(before) = index.checked_sub(1).and_then(|index| ApiVersion::KNOWN.get(index)) {
            assert!(!before.has(*feature), "{feature:?}");
        }
    }
}
