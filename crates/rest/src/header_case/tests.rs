use super::*;

/// A head as a client spells it, read by the library, with what it keeps about the spelling.
fn parsed(names: &[&str]) -> (HeaderMap, Extensions) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut headers = HeaderMap::new();
    for name in &names {
        let name = format!("x-ms-meta-{name}");
        headers.insert(http::HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_static("v"));
    }
    headers.insert("x-ms-version", HeaderValue::from_static("2021-06-08"));
    (headers, spelling(&names).unwrap_or_default())
}

#[test]
fn names_come_back_as_they_were_spelled() {
    let (headers, extensions) = parsed(&["Colour", "UPPER", "foo"]);
    let mut names = metadata_names(&headers, extensions);
    names.sort();
    assert_eq!(names, ["Colour", "UPPER", "foo"]);
}

#[test]
fn nothing_is_known_without_the_library() {
    let (headers, _) = parsed(&["Colour"]);
    assert!(metadata_names(&headers, Extensions::new()).is_empty());
}

#[test]
fn lower_case_needs_no_spelling() {
    assert!(spelling(&["foo".into(), "bar_1".into()]).is_none());
}

/// Not a benchmark, a guard: this is on the path of every request with metadata.
#[test]
fn it_is_cheap() {
    let started = std::time::Instant::now();
    for _ in 0..200 {
        let (headers, extensions) = parsed(&["Colour", "UPPER", "foo"]);
        assert_eq!(metadata_names(&headers, extensions).len(), 3);
    }
    assert!(started.elapsed() < std::time::Duration::from_secs(2), "{:?}", started.elapsed());
}
