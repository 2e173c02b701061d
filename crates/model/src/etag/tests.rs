use super::*;

/// ETag and Last-Modified of one recorded answer of the real service.
#[test]
fn a_recorded_etag_is_the_time_of_its_write() {
    let etag = ETag::parse("0x8D9A30B68B73CB9").unwrap();
    assert_eq!(etag.timestamp().rfc1123(), "Mon, 08 Nov 2021 22:59:24 GMT");
    assert_eq!(etag.quoted(), "\"0x8D9A30B68B73CB9\"");
}

/// conditional.md section 1: what a blob of uncommitted blocks shows when leased.
#[test]
fn the_etag_of_an_uncommitted_blob_is_the_year_1601() {
    assert_eq!(ETag::from_timestamp(Timestamp::YEAR_1601).quoted(), "\"0x701CE1722770000\"");
    assert_eq!(Timestamp::YEAR_1601.rfc1123(), "Mon, 01 Jan 1601 00:00:00 GMT");
}

#[test]
fn small_numbers_are_padded() {
    assert_eq!(ETag(1).to_string(), "0x000000000000001");
    assert_eq!(ETag::parse(&ETag(1).to_string()), Some(ETag(1)));
}

#[test]
fn headers_are_read_quoted_unquoted_and_in_lists() {
    let one = ETag(0x8D8C5A1F2E3B4C5);
    let two = ETag(0x8D8C5A1F2E3B4C6);
    for header in ["\"0x8D8C5A1F2E3B4C5\"", "0x8D8C5A1F2E3B4C5", " \"0x8D8C5A1F2E3B4C5\" "] {
        let condition = ETagCondition::parse(header).unwrap();
        assert_eq!((condition.count(), condition.matches(one), condition.matches(two)), (1, true, false));
    }
    let list = ETagCondition::parse("\"a,b\", 0x8D8C5A1F2E3B4C6,,\"0x8D8C5A1F2E3B4C5\"").unwrap();
    assert_eq!((list.count(), list.matches(one), list.matches(two)), (3, true, true));
    assert_eq!(ETagCondition::parse("*"), Some(ETagCondition::Any));
    assert!(ETagCondition::Any.matches(one));
}

#[test]
fn foreign_values_are_legal_and_match_nothing() {
    for header in
        ["\"garbage\"", "\"*\"", "W/\"0x8D8C5A1F2E3B4C5\"", "0x8d8c5a1f2e3b4c5", "0x8D8C5A1F2E3B4C", "\""]
    {
        let condition = ETagCondition::parse(header).unwrap();
        assert!(!condition.matches(ETag(0x8D8C5A1F2E3B4C5)), "{header}");
        assert!(!condition.is_any() && !condition.names_service_etag(), "{header}");
    }
}

#[test]
fn an_empty_header_is_absent() {
    for header in ["", "  ", ",", " , "] {
        assert_eq!(ETagCondition::parse(header), None);
    }
}
