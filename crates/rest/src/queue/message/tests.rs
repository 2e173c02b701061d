use lazuli_engine::{Engine, Host};
use lazuli_model::error::ErrorCode;
use lazuli_service::{Body, ServiceOptions, Services};

use super::{TEXT_LIMIT, parse, read};

fn text(inner: &str) -> Result<String, ErrorCode> {
    let document = format!("<QueueMessage><MessageText>{inner}</MessageText></QueueMessage>");
    parse(document.as_bytes()).map_err(|failure| failure.code)
}

#[test]
fn the_text_is_kept_as_it_is() {
    assert_eq!(text("").as_deref(), Ok(""));
    assert_eq!(text("  a b\t\n ").as_deref(), Ok("  a b\t\n "));
    assert_eq!(text("&lt;a&gt;&amp;&#x4e2d;").as_deref(), Ok("<a>&\u{4e2d}"));
    assert_eq!(text("<![CDATA[<a>]]>").as_deref(), Ok("<a>"));
}

#[test]
fn markup_and_what_xml_cannot_hold_are_refused() {
    for bad in ["<b>x</b>", "a<b/>", "\u{1}", "&#1;", "&#xFFFE;", "&unknown;", "<!DOCTYPE a>"] {
        assert_eq!(text(bad), Err(ErrorCode::InvalidXmlDocument), "{bad:?}");
    }
    for bad in
        ["", "<QueueMessage/>", "<Other><MessageText>a</MessageText></Other>", "text", "<QueueMessage>"]
    {
        assert_eq!(parse(bad.as_bytes()).map_err(|failure| failure.code), Err(ErrorCode::InvalidXmlDocument));
    }
}

/// Recorded: the line and column of what cannot be read.
#[test]
fn a_control_character_is_found_where_it_is() {
    let document = b"<?xml version='1.0' encoding='utf-8'?>\n<QueueMessage><MessageText>\x01</MessageText></QueueMessage>";
    let failure = parse(document).expect_err("refused");
    let values: Vec<&str> = failure.details.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, ["2", "28", "Error parsing Xml content"]);
}

#[tokio::test]
async fn the_limit_is_on_the_decoded_text() {
    let services = Services::new(Engine::memory(Host::test()), ServiceOptions::default());
    let document = |inner: String| {
        Body::from(bytes::Bytes::from(format!(
            "<QueueMessage><MessageText>{inner}</MessageText></QueueMessage>"
        )))
    };
    let whole = read(&services, document("&lt;".repeat(TEXT_LIMIT))).await.expect("fits").expect("text");
    assert_eq!(whole.len(), TEXT_LIMIT);
    for (text, count) in [("a", TEXT_LIMIT + 1), ("\u{e9}", TEXT_LIMIT / 2 + 1), ("a", 20 * TEXT_LIMIT)] {
        let failure = read(&services, document(text.repeat(count))).await.expect_err("too large");
        assert_eq!(failure.code, ErrorCode::RequestBodyTooLarge);
        assert_eq!(failure.details, [("MaxLimit", "65536".to_owned())]);
    }
    assert_eq!(read(&services, Body::empty()).await.expect("nothing"), None);
}
