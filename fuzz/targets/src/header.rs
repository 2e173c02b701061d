//! Values of headers and parameters: ranges, dates, ETags, versions, tags, filters, markers.

use lazuli_model::odata::Filter;
use lazuli_model::tags::{TagExpression, Tags, WhereExpression};
use lazuli_model::{ApiVersion, ByteRange, ETag, ETagCondition, Timestamp};
use lazuli_service::shared::marker::Position;

pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    range(&text);
    dates(&text);
    etags(&text);
    if let Some(version) = ApiVersion::parse(&text) {
        assert_eq!(version.as_str(), text.as_ref());
    }
    if let Ok(tags) = Tags::parse_header(&text) {
        assert!(tags.len() <= 10, "more tags than a blob may have");
        let _ = TagExpression::parse(&text).map(|expression| expression.eval(&tags));
    }
    let _ = TagExpression::parse(&text);
    let _ = WhereExpression::parse(&text);
    if let Ok(filter) = Filter::parse(&text) {
        let _ = filter.key_boxes("PartitionKey", "RowKey");
    }
    if let Some(position) = Position::decode(&text) {
        assert_eq!(Position::decode(&position.encode()), Some(position), "a marker that moves");
    }
}

fn range(text: &str) {
    let Some(range) = ByteRange::parse(text) else { return };
    for len in [0, 1, 2, 511, 512, 4096, u64::MAX - 1, u64::MAX] {
        if let Ok(bytes) = range.resolve(len) {
            assert!(bytes.start < bytes.end && bytes.end <= len, "{text}: {bytes:?} of {len}");
            assert_eq!(bytes.start, range.start);
        } else {
            assert!(range.start >= len, "{text} is within {len}");
        }
    }
}

fn dates(text: &str) {
    for read in
        [Timestamp::parse_http_date(text), Timestamp::parse_iso(text), Timestamp::parse_snapshot(text)]
    {
        let Some(at) = read else { continue };
        assert!(at <= Timestamp::MAX, "{text}: behind the end of time");
        assert_eq!(Timestamp::parse_iso(&at.iso7()), Some(at), "{text}");
        assert_eq!(Timestamp::parse_snapshot(&at.iso7()), Some(at), "{text}");
        assert_eq!(Timestamp::parse_iso(&at.iso_trimmed()), Some(at), "{text}");
        let second = Timestamp(at.0 / 10_000_000 * 10_000_000);
        assert_eq!(Timestamp::parse_http_date(&at.rfc1123()), Some(second), "{text}");
    }
}

fn etags(text: &str) {
    if let Some(etag) = ETag::parse(text) {
        assert_eq!(etag.to_string(), text);
        assert!(ETagCondition::parse(&etag.quoted()).unwrap().matches(etag));
    }
    if let Some(condition) = ETagCondition::parse(text) {
        assert!(condition.count() > 0);
        assert_eq!(condition.is_any(), text.trim() == "*");
    }
}
