use super::*;

/// A name with a capital would make the program stop where the constant is first used.
#[test]
fn every_header_name_is_one() {
    for name in headers::ALL {
        assert!(HeaderName::from_lowercase(name.as_bytes()).is_ok(), "{name}");
    }
}

#[test]
fn a_value_that_no_header_can_hold_is_left_out() {
    let reply = Reply::new(200).header(headers::CONTENT_TYPE, "a\r\nx-evil: 1").header(headers::ETAG, "é");
    assert!(reply.headers.get(headers::CONTENT_TYPE).is_none());
    assert_eq!(reply.headers.get(headers::ETAG).unwrap().as_bytes(), "é".as_bytes());
}

/// common.md section 11.
#[test]
fn a_crc64_is_written_least_significant_byte_first() {
    let reply = Reply::new(200).crc64(headers::X_MS_CONTENT_CRC64, Some(0xAE8B_1486_0A79_9888));
    assert_eq!(reply.headers.get(headers::X_MS_CONTENT_CRC64).unwrap(), "iJh5CoYUi64=");
}

/// Recorded: one in ten ids ends in a zero, and headers and listings write it alike.
#[test]
fn the_id_of_a_version_keeps_its_zeros() {
    let at = Timestamp::parse_iso("2026-11-18T04:16:54.0061840Z");
    let reply = Reply::new(200).version(at);
    assert_eq!(reply.headers.get(headers::X_MS_VERSION_ID).unwrap(), "2026-11-18T04:16:54.0061840Z");
    assert!(Reply::new(200).version(None).headers.get(headers::X_MS_VERSION_ID).is_none());
}
