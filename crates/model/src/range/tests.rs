use super::*;

#[test]
fn forms_that_the_service_knows() {
    assert_eq!(ByteRange::parse("bytes=0-"), Some(ByteRange { start: 0, end: None }));
    assert_eq!(ByteRange::parse("bytes=5-9"), Some(ByteRange { start: 5, end: Some(9) }));
    assert_eq!(ByteRange::parse(" bytes=5-5 "), Some(ByteRange { start: 5, end: Some(5) }));
}

#[test]
fn other_forms_are_ignored() {
    for header in [
        "",
        "bytes",
        "bytes=",
        "bytes=-5",
        "bytes=9-5",
        "bytes=0-1,3-4",
        "items=0-1",
        "bytes=a-b",
        "bytes=+1-2",
        "bytes=99999999999999999999-",
    ] {
        assert_eq!(ByteRange::parse(header), None, "{header}");
    }
}

#[test]
fn resolution_against_a_length() {
    let resolve = |header: &str, len| ByteRange::parse(header).unwrap().resolve(len).map_err(|f| f.status());
    assert_eq!(resolve("bytes=0-", 10), Ok(0..10));
    assert_eq!(resolve("bytes=0-9", 10), Ok(0..10));
    assert_eq!(resolve("bytes=2-4", 10), Ok(2..5));
    assert_eq!(resolve("bytes=9-100", 10), Ok(9..10));
    assert_eq!(resolve("bytes=0-18446744073709551615", 10), Ok(0..10));
    assert_eq!(resolve("bytes=10-", 10), Err(416));
    assert_eq!(resolve("bytes=0-0", 0), Err(416));
}
