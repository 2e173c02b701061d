use super::*;

/// One instant in four notations. The ticks come from another program (Python's datetime).
const KNOWN: [(u64, &str, &str, &str); 8] = [
    (0, "Mon, 01 Jan 0001 00:00:00 GMT", "0001-01-01T00:00:00.0000000Z", "0001-01-01T00:00:00Z"),
    (
        504911232000000000,
        "Mon, 01 Jan 1601 00:00:00 GMT",
        "1601-01-01T00:00:00.0000000Z",
        "1601-01-01T00:00:00Z",
    ),
    (
        599317056000000000,
        "Thu, 01 Mar 1900 00:00:00 GMT",
        "1900-03-01T00:00:00.0000000Z",
        "1900-03-01T00:00:00Z",
    ),
    (
        621355968000000000,
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "1970-01-01T00:00:00.0000000Z",
        "1970-01-01T00:00:00Z",
    ),
    (
        629197085770000000,
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "1994-11-06T08:49:37.0000000Z",
        "1994-11-06T08:49:37Z",
    ),
    (
        630874655990000000,
        "Tue, 29 Feb 2000 23:59:59 GMT",
        "2000-02-29T23:59:59.0000000Z",
        "2000-02-29T23:59:59Z",
    ),
    (
        637521209190494820,
        "Tue, 23 Mar 2021 18:28:39 GMT",
        "2021-03-23T18:28:39.0494820Z",
        "2021-03-23T18:28:39.049482Z",
    ),
    (
        3155378975999999999,
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "9999-12-31T23:59:59.9999999Z",
        "9999-12-31T23:59:59.9999999Z",
    ),
];

#[test]
fn known_instants_print_as_the_calendar_says() {
    for (ticks, rfc1123, iso7, trimmed) in KNOWN {
        let at = Timestamp(ticks);
        assert_eq!(at.rfc1123(), rfc1123);
        assert_eq!(at.iso7(), iso7);
        assert_eq!(at.iso_trimmed(), trimmed);
    }
}

#[test]
fn known_instants_are_read_back() {
    for (ticks, rfc1123, iso7, trimmed) in KNOWN {
        let at = Timestamp(ticks);
        assert_eq!(Timestamp::parse_http_date(rfc1123), Some(at.whole_seconds()));
        assert_eq!(Timestamp::parse_iso(iso7), Some(at));
        assert_eq!(Timestamp::parse_iso(trimmed), Some(at));
        assert_eq!(Timestamp::parse_snapshot(iso7), Some(at));
    }
}

#[test]
fn every_day_of_four_centuries_has_its_successor() {
    let mut day = Timestamp::parse_iso("1970-01-01").unwrap();
    let end = Timestamp::parse_iso("2370-01-01").unwrap();
    let mut days = 0;
    while day < end {
        let text = day.iso7();
        assert_eq!(Timestamp::parse_iso(text.get(..10).unwrap()), Some(day), "{text}");
        assert_eq!(Timestamp::parse_http_date(&day.rfc1123()), Some(day), "{text}");
        day = day.plus_seconds(86_400);
        days += 1;
    }
    assert_eq!(days, 146_097);
}

#[test]
fn the_three_http_dates_are_one() {
    let expected = Some(Timestamp(629197085770000000));
    for text in
        ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
    {
        assert_eq!(Timestamp::parse_http_date(text), expected, "{text}");
    }
}

#[test]
fn the_forms_of_a_sas_time() {
    for (text, full) in [
        ("2024-01-02", "2024-01-02T00:00:00.0000000Z"),
        ("2024-01-02T03:04Z", "2024-01-02T03:04:00.0000000Z"),
        ("2024-01-02T03:04:05Z", "2024-01-02T03:04:05.0000000Z"),
        ("2024-01-02T03:04:05.6Z", "2024-01-02T03:04:05.6000000Z"),
        ("2024-01-02T03:04:05.6789012Z", "2024-01-02T03:04:05.6789012Z"),
        ("2024-01-02T03:04:05+01:30", "2024-01-02T01:34:05.0000000Z"),
        ("2024-01-02T03:04:05-01:30", "2024-01-02T04:34:05.0000000Z"),
    ] {
        assert_eq!(Timestamp::parse_iso(text).map(Timestamp::iso7).as_deref(), Some(full), "{text}");
    }
}

#[test]
fn what_is_no_time_is_refused() {
    for text in [
        "",
        "null",
        "2024",
        "2024-13-01",
        "2024-02-30",
        "2023-02-29",
        "2024-1-2",
        "2024-01-02T",
        "2024-01-02T25:00Z",
        "2024-01-02T03:04:05.12345678Z",
        "2024-01-02T03:04:05",
        "2024-01-02T+3:04Z",
        "0000-01-01",
        "2024-01-02T03:04:05.Z",
        "+024-01-02",
        "２０２４-01-02",
    ] {
        assert_eq!(Timestamp::parse_iso(text), None, "{text}");
    }
    for text in [
        "",
        "null",
        "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37",
        "06 Nov 1994",
        "é, é é é GMT",
    ] {
        assert_eq!(Timestamp::parse_http_date(text), None, "{text}");
    }
    for text in ["2024-01-02", "2024-01-02T03:04Z", "2024-01-02T03:04:05+00:00"] {
        assert_eq!(Timestamp::parse_snapshot(text), None, "{text}");
    }
}

#[test]
fn arithmetic_stays_inside_what_can_be_printed() {
    assert_eq!(Timestamp(5).plus_seconds(-1), Timestamp(0));
    assert_eq!(Timestamp(0).plus_seconds(i64::MAX), Timestamp::MAX);
    assert_eq!(Timestamp(u64::MAX).rfc1123(), "Fri, 31 Dec 9999 23:59:59 GMT");
    assert_eq!(Timestamp::from_unix_ticks(10_000_000).iso_trimmed(), "1970-01-01T00:00:01Z");
    assert_eq!(Timestamp::from_unix_ticks(7).to_unix_ticks(), 7);
    assert_eq!(Timestamp(19_999_999).whole_seconds(), Timestamp(10_000_000));
}
