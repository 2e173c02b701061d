use lazuli_model::error::{ErrorCode, Failure};

use super::*;

fn place(failure: &Failure) -> (String, String, String) {
    assert_eq!(failure.code, ErrorCode::InvalidXmlDocument);
    let value = |name| {
        failure
            .details
            .iter()
            .find(|(own, _)| *own == name)
            .map(|(_, value)| value.clone())
            .unwrap_or_default()
    };
    (value("LineNumber"), value("LinePosition"), value("Reason"))
}

#[test]
fn a_tree_has_texts_and_children() {
    let root = parse(b"\xEF\xBB\xBF<?xml version='1.0'?>\n<a x='1'><b>1 &lt; &#50;</b><!-- no --><b/><c><![CDATA[<x>]]></c></a>")
        .unwrap();
    assert_eq!(root.name, "a");
    assert_eq!(root.text_of("b"), Some("1 < 2"));
    assert_eq!(root.all("b").count(), 2);
    assert_eq!(root.text_of("c"), Some("<x>"));
    assert_eq!(root.child("d"), None);
}

/// As recorded: a control character in the second line.
#[test]
fn a_control_character_is_reported_at_its_place() {
    let document = b"<?xml version='1.0' encoding='utf-8'?>\n<QueueMessage><MessageText>\x01</MessageText></QueueMessage>";
    let failure = parse(document).unwrap_err();
    assert_eq!(place(&failure), ("2".into(), "28".into(), "Error parsing Xml content".into()));
}

#[test]
fn what_is_not_a_plain_document_is_refused() {
    let deep = "<a>".repeat(40) + &"</a>".repeat(40);
    let wide = format!("<a>{}</a>", "<b/>".repeat(30_000));
    let attributes: String = (0..40).map(|n| format!(" a{n}='1'")).collect();
    let many = format!("<a{attributes}/>");
    for document in [
        "",
        "   ",
        "text",
        "<a>",
        "<a></b>",
        "<a/><b/>",
        "<a/>text",
        "</a>",
        "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
        "<a>&x;</a>",
        "<?php x?><a/>",
        "<a b=c/>",
        &deep,
        &wide,
        &many,
    ] {
        let refused = parse(document.as_bytes());
        assert!(
            refused.is_err(),
            "{} was read as {:?}",
            &document[..document.len().min(60)],
            refused.map(|e| e.name)
        );
    }
    assert!(parse(b"<a>\xFF</a>").is_err());
}

#[test]
fn a_list_of_fifty_thousand_leaves_is_walked() {
    let mut document = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<BlockList>");
    for _ in 0..50_000 {
        document.push_str("<Latest>MDAwMDAwMDAwMDAwMDAwMA==</Latest>\n");
    }
    document.push_str("</BlockList>");
    let mut seen = 0;
    walk_list(document.as_bytes(), "BlockList", |name, text| {
        assert_eq!((name, text), ("Latest", "MDAwMDAwMDAwMDAwMDAwMA=="));
        seen += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(seen, 50_000);
}

#[test]
fn a_list_is_flat_and_has_its_name() {
    let walk = |document: &str| walk_list(document.as_bytes(), "BlockList", |_, _| Ok(()));
    assert!(walk("<BlockList/>").is_ok());
    assert!(walk("<BlockList> <Latest/> </BlockList>").is_ok());
    for document in [
        "",
        "<Blocks/>",
        "<BlockList>x</BlockList>",
        "<BlockList><Latest><b/></Latest></BlockList>",
        "<BlockList><Latest>",
        "<BlockList/><BlockList/>",
    ] {
        assert!(walk(document).is_err(), "{document}");
    }
    let stop = walk_list(b"<BlockList><Latest/></BlockList>", "BlockList", |_, _| {
        Err(ErrorCode::BlockListTooLong.into())
    });
    assert_eq!(stop.unwrap_err().code, ErrorCode::BlockListTooLong);
}

/// What is written is read back, whatever the text.
#[test]
fn texts_survive_writing_and_reading() {
    for text in ["plain", "a<b>&\"'c", "two\nlines", "carriage\rreturn", "\u{1F600}\u{FFFD}", "]]>"] {
        assert!(is_legal(text));
        let mut writer = Writer::new();
        writer.open_with("a", &[("q", "say \"<&>\"")]);
        writer.element("b", text);
        writer.close("a");
        let document = writer.finish();
        assert!(document.starts_with("\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?><a q="));
        let root = parse(document.as_bytes()).unwrap();
        assert_eq!(root.child("b").unwrap().text, text);
    }
}

#[test]
fn what_xml_cannot_hold_is_known() {
    for text in ["\u{0}", "\u{1F}", "\u{FFFE}", "\u{FFFF}"] {
        assert!(!is_legal(text));
        assert_eq!(escape(text), "\u{FFFD}");
    }
}

#[test]
fn empty_elements_are_written_as_the_service_writes_them() {
    let mut writer = Writer::of(lazuli_model::Op::GetBlobTags.row());
    writer.element("NextMarker", "");
    writer.maybe("Prefix", None);
    assert_eq!(writer.finish(), "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<NextMarker />");
}
