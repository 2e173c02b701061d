//! XML bodies, and what they say.

use lazuli_rest::xml::{self, Element, Writer};
use lazuli_rest::{service_properties, signed_identifiers};

/// As the reader promises them.
const DEPTH: usize = 16;
const NODES: usize = 20_000;

pub fn run(data: &[u8]) {
    let tree = xml::parse(data);
    if let Ok(root) = &tree {
        assert!(depth(root) <= DEPTH && nodes(root) <= NODES, "a document over its limits");
        // Nothing stands for more than itself: what is kept of a document is no longer than the document.
        assert!(size(root) <= data.len(), "{} bytes kept of {}", size(root), data.len());
        texts_come_back(root);
        lists_agree(data, root);
    }
    if let Ok(policies) = signed_identifiers::read(data, "racwdxltmeopi") {
        assert!(policies.len() <= 5, "more policies than may be");
        let written = signed_identifiers::write(&policies);
        // A written policy has six elements of its own, and no character takes more than six.
        assert!(written.len() <= 6 * data.len() + 2_000, "{} written of {}", written.len(), data.len());
        let again = signed_identifiers::read(written.as_bytes(), "racwdxltmeopi");
        assert_eq!(again.ok().as_ref(), Some(&policies), "{written}");
    }
    let _ = service_properties::read(data);
}

fn depth(element: &Element) -> usize {
    1 + element.children.iter().map(depth).max().unwrap_or(0)
}

fn nodes(element: &Element) -> usize {
    1 + element.children.iter().map(nodes).sum::<usize>()
}

fn size(element: &Element) -> usize {
    element.name.len() + element.text.len() + element.children.iter().map(size).sum::<usize>()
}

/// What we write of a text that was read is read as that text.
fn texts_come_back(element: &Element) {
    if xml::is_legal(&element.text) {
        let mut writer = Writer::new();
        writer.element("Text", &element.text);
        let written = writer.finish();
        let read = xml::parse(written.as_bytes()).unwrap();
        // Carriage returns are line feeds to every reader of XML.
        let plain = element.text.replace("\r\n", "\n").replace('\r', "\n");
        assert_eq!(read.text.replace('\r', "\n"), plain, "{written}");
    }
    element.children.iter().for_each(texts_come_back);
}

/// The two readers are one reader: what the walk hands over is what the tree holds.
fn lists_agree(data: &[u8], root: &Element) {
    let mut walked = Vec::new();
    let done = xml::walk_list(data, &root.name, |name, text| {
        walked.push((name.to_owned(), text.to_owned()));
        Ok(())
    });
    if done.is_ok() {
        let held = root.children.iter().map(|leaf| (leaf.name.clone(), leaf.text.trim().to_owned()));
        assert!(held.eq(walked), "a list and its tree differ");
    }
}
