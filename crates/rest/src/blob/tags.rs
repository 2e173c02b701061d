//! The Tags document: of Get and Set Blob Tags, and inside of listings.

use lazuli_model::error::Failure;
use lazuli_model::tags::Tags;

use crate::xml::{self, Element, Writer, refuse_element};

pub fn write(writer: &mut Writer, tags: &Tags) {
    writer.open("Tags");
    writer.open("TagSet");
    for (key, value) in tags.iter() {
        writer.open("Tag");
        writer.element("Key", key);
        writer.element("Value", value);
        writer.close("Tag");
    }
    writer.close("TagSet");
    writer.close("Tags");
}

/// Spaces count, in keys and in values.
pub fn read(document: &[u8]) -> Result<Tags, Failure> {
    let root = xml::parse(document)?;
    let set = match (root.name.as_str(), root.child("TagSet")) {
        ("Tags", Some(set)) => set,
        _ => return Err(Failure::invalid_xml(0, 0, "")),
    };
    let pair = |tag: &Element| match (tag.name.as_str(), tag.child("Key"), tag.child("Value")) {
        ("Tag", Some(key), Some(value)) => Ok((key.text.clone(), value.text.clone())),
        _ => Err(refuse_element(document, tag, "")),
    };
    Tags::new(set.children.iter().map(pair).collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(tags: &str) -> Result<Tags, Failure> {
        read(format!("\u{FEFF}<Tags><TagSet>{tags}</TagSet></Tags>").as_bytes())
    }

    /// Recorded: ` +-.:` is a key, sorted before the others.
    #[test]
    fn what_is_written_is_read() {
        let recorded = "<Tag><Key> +-.:</Key><Value>_ =</Value></Tag>\
                        <Tag><Key>+-.:= _</Key><Value>+ // _</Value></Tag>";
        let tags = document(recorded).expect("tags");
        let mut writer = Writer::new();
        write(&mut writer, &tags);
        assert!(writer.finish().ends_with(&format!("<Tags><TagSet>{recorded}</TagSet></Tags>")));
        assert!(document("").expect("none").is_empty());
        let empty_value = document("<Tag><Key>k</Key><Value></Value></Tag>").expect("tags");
        assert_eq!(empty_value.get("k"), Some(""));
    }

    #[test]
    fn what_is_no_tag_is_refused() {
        let tag = |key: &str| format!("<Tag><Key>{key}</Key><Value>v</Value></Tag>");
        let eleven: String = (0..11).map(|number| tag(&number.to_string())).collect();
        for (tags, code) in [
            (eleven, "TagsTooLarge"),
            (tag("k") + &tag("k"), "DuplicateTagNames"),
            (tag(""), "EmptyTagName"),
            (tag("%"), "InvalidTag"),
            (tag(&"k".repeat(129)), "TagsTooLarge"),
            ("<Tag><Key>k</Key></Tag>".to_owned(), "InvalidXmlDocument"),
            ("<Other><Key>k</Key><Value>v</Value></Other>".to_owned(), "InvalidXmlDocument"),
        ] {
            assert_eq!(document(&tags).expect_err(&tags).code.name(), code, "{tags}");
        }
        for document in ["", "<Tags/>", "<Others><TagSet/></Others>", "<Tags><TagSet>"] {
            assert_eq!(read(document.as_bytes()).expect_err(document).code.name(), "InvalidXmlDocument");
        }
    }
}
