use super::*;

/// In ticks of 100 ns since 1970.
fn ticks(time: SystemTime) -> Moment {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    u64::try_from(since.as_nanos() / 100).expect("before the year 2500")
}

#[test]
fn an_etag_of_either_form_tells_its_moment() {
    let [blob, entity, none] = read(
        [
            (0, ETag(Timestamp::from_unix_ticks(12_345_678).0).quoted()),
            (1, "W/\"datetime'1970-01-01T00%3A00%3A02.5Z'\"".to_owned()),
            (2, "\"of somebody else\"".to_owned()),
        ],
        Hint::Seen,
        ticks,
    );
    assert_eq!(blob, Some(Hint::Seen(12_345_678)));
    assert_eq!(entity, Some(Hint::Seen(25_000_000)));
    assert_eq!(none, None);
}

#[test]
fn an_answer_without_etags_tells_nothing() {
    assert_eq!(
        read([(0, String::new()), (PARTS, "\"0x8D8C5A1F2E3B4C5\"".to_owned())], Hint::Made, ticks),
        Hints::default()
    );
}
