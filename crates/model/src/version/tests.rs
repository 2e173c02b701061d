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

/// A feature that is declared and that nothing asks for is a promise that nothing keeps.
#[test]
fn every_feature_is_asked_for_somewhere() {
    let mut sources = String::new();
    gather(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut sources);
    let asked = |feature: &Feature| {
        let name = format!("Feature::{feature:?}");
        let whole = |at: usize| !sources[at + name.len()..].starts_with(|c: char| c.is_alphanumeric());
        sources.match_indices(&name).any(|(at, _)| whole(at))
    };
    let unread: Vec<&Feature> = Feature::ALL.iter().filter(|feature| !asked(feature)).collect();
    assert!(unread.is_empty(), "declared and never asked for: {unread:?}");
}

/// The text of every source file below, without tests and without the declarations themselves.
fn gather(folder: &std::path::Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !matches!(name.as_str(), "tests" | "target" | "examples") {
            gather(&path, text);
        } else if name.ends_with(".rs") && name != "tests.rs" && !path.ends_with("model/src/version.rs") {
            let source = std::fs::read_to_string(&path).unwrap();
            text.push_str(source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default());
        }
    }
}
