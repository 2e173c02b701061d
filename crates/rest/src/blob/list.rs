//! What the listings have in common.

use crate::head::Head;
use crate::xml::{Writer, is_legal};

/// The most that one page holds.
pub const LIST_LIMIT: u32 = 5000;
/// A page of so many is built where the request is; a longer one aside, for others share the request's thread.
pub const FEW: usize = 100;

/// Parameters of the request come back, those that were sent.
pub fn asked(writer: &mut Writer, head: &Head, names: &[&str]) {
    for name in names {
        let Some(value) = head.query.get(name) else { continue };
        match *name {
            "prefix" => text(writer, "Prefix", value),
            "marker" => text(writer, "Marker", value),
            "maxresults" => text(writer, "MaxResults", value),
            "delimiter" => text(writer, "Delimiter", value),
            _ => {}
        }
    }
}

/// A name or part of one. What XML cannot hold is percent-encoded as a whole, and said to be so.
pub fn text(writer: &mut Writer, element: &str, value: &str) {
    if is_legal(value) {
        return writer.element(element, value);
    }
    let encoded =
        percent_encoding::utf8_percent_encode(value, percent_encoding::NON_ALPHANUMERIC).to_string();
    // Unreserved characters stay as they are.
    let encoded = encoded.replace("%2D", "-").replace("%2E", ".").replace("%5F", "_").replace("%7E", "~");
    writer.open_with(element, &[("Encoded", "true")]);
    writer.text(&encoded);
    writer.close(element);
}

/// Names are C# identifiers, which are element names too, except for a few letters that XML lacks.
pub fn metadata(writer: &mut Writer, pairs: &[(String, String)], encrypted: bool) {
    if pairs.is_empty() && !encrypted {
        return writer.empty("Metadata");
    }
    match encrypted {
        true => writer.open_with("Metadata", &[("Encrypted", "true")]),
        false => writer.open("Metadata"),
    }
    for (name, value) in pairs {
        match name.is_ascii() {
            true => writer.element(name, value),
            false => writer.element("x-ms-invalid-name", name),
        }
    }
    writer.close("Metadata");
}
