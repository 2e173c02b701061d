//! Reading documents from strangers: no document type, no processing instruction, no unbounded anything.

use lazuli_model::error::Failure;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

const DEPTH: usize = 16;
const NODES: usize = 20_000;
const ATTRIBUTES: usize = 16;

/// What the service says of every document that it cannot read (recorded).
const UNREADABLE: &str = "Error parsing Xml content";

/// An element with its text and children; attributes mean nothing in the service's documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    pub name: String,
    pub text: String,
    pub children: Vec<Element>,
    /// Where in the document the element ends, in bytes.
    end: usize,
}

impl Element {
    pub fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The text of a child, when there is such a child.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.trim())
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }
}

/// The whole document as a tree. Its size is limited by the caller, who has the bytes.
pub fn parse(document: &[u8]) -> Result<Element, Failure> {
    let mut source = Source::new(document)?;
    let mut open: Vec<Element> = Vec::new();
    let mut root = None;
    let mut nodes = 0;
    loop {
        match source.next()? {
            Node::Start(name) => {
                nodes += 1;
                if open.len() >= DEPTH || nodes > NODES || root.is_some() {
                    return Err(source.refuse());
                }
                open.push(Element { name, ..Element::default() });
            }
            Node::Text(text) => match open.last_mut() {
                Some(element) => element.text.push_str(&text),
                None if text.trim().is_empty() => {}
                None => return Err(source.refuse()),
            },
            Node::End => {
                let Some(mut element) = open.pop() else { return Err(source.refuse()) };
                element.end = source.position();
                match open.last_mut() {
                    Some(parent) => parent.children.push(element),
                    None => root = Some(element),
                }
            }
            Node::Eof if open.is_empty() => {
                return root.ok_or_else(|| source.refuse());
            }
            Node::Eof => return Err(source.refuse()),
        }
    }
}

/// A document that is one long list of leaves, `<root><leaf>text</leaf>...</root>`: each leaf is handed over as it
/// is read, and nothing is kept.
pub fn walk_list(
    document: &[u8],
    root: &str,
    mut leaf: impl FnMut(&str, &str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut source = Source::new(document)?;
    let mut depth = 0;
    let mut name = String::new();
    let mut text = String::new();
    let mut found = false;
    loop {
        match source.next()? {
            Node::Start(start) => {
                match depth {
                    0 if !found && start == root => found = true,
                    1 => name = start,
                    _ => return Err(source.refuse()),
                }
                text.clear();
                depth += 1;
            }
            Node::Text(more) => match depth {
                2 => text.push_str(&more),
                _ if more.trim().is_empty() => {}
                _ => return Err(source.refuse()),
            },
            Node::End => {
                if depth == 2 {
                    leaf(&name, text.trim())?;
                }
                depth -= 1;
            }
            Node::Eof if depth == 0 && found => return Ok(()),
            Node::Eof => return Err(source.refuse()),
        }
    }
}

enum Node {
    Start(String),
    Text(String),
    End,
    Eof,
}

/// Events of a document, without what the service has no use for.
struct Source<'a> {
    document: &'a str,
    reader: Reader<&'a [u8]>,
    /// `<Name/>` is a start and an end.
    pending_end: bool,
}

impl<'a> Source<'a> {
    fn new(document: &'a [u8]) -> Result<Self, Failure> {
        let document = without_mark(document);
        let refuse = |at| refuse_at(document, at, UNREADABLE);
        // The service's documents are UTF-8 without control characters; the parser would not mind either.
        let text = std::str::from_utf8(document).map_err(|error| refuse(error.valid_up_to()))?;
        let is_control = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r');
        if let Some(at) = document.iter().position(is_control) {
            return Err(refuse(at));
        }
        Ok(Self { document: text, reader: Reader::from_str(text), pending_end: false })
    }

    fn next(&mut self) -> Result<Node, Failure> {
        if std::mem::take(&mut self.pending_end) {
            return Ok(Node::End);
        }
        loop {
            let event = match self.reader.read_event() {
                Ok(event) => event,
                Err(_) => return Err(self.refuse()),
            };
            match event {
                Event::Start(start) => return self.start(&start).map(Node::Start),
                Event::Empty(start) => {
                    let name = self.start(&start)?;
                    self.pending_end = true;
                    return Ok(Node::Start(name));
                }
                Event::End(_) => return Ok(Node::End),
                Event::Text(text) => {
                    return Ok(Node::Text(text.xml_content(XmlVersion::Implicit1_0).into_owned()));
                }
                Event::CData(text) => {
                    return Ok(Node::Text(text.xml_content(XmlVersion::Implicit1_0).into_owned()));
                }
                Event::GeneralRef(reference) => return self.reference(&reference).map(Node::Text),
                Event::Eof => return Ok(Node::Eof),
                Event::Decl(_) | Event::Comment(_) => {}
                Event::DocType(_) => return Err(self.refuse()),
                Event::PI(_) => return Err(self.refuse()),
            }
        }
    }

    fn start(&self, start: &BytesStart<'_>) -> Result<String, Failure> {
        for (seen, attribute) in start.attributes().enumerate() {
            if attribute.is_err() || seen >= ATTRIBUTES {
                return Err(self.refuse());
            }
        }
        Ok(start.local_name().as_ref().to_owned())
    }

    /// `&amp;` and the like. There are no entities but the five of XML and characters by number.
    fn reference(&self, reference: &BytesRef<'_>) -> Result<String, Failure> {
        if let Ok(Some(character)) = reference.resolve_char_ref() {
            return Ok(character.to_string());
        }
        let known = resolve_xml_entity(reference).map(str::to_owned);
        known.ok_or_else(|| self.refuse())
    }

    fn position(&self) -> usize {
        usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX)
    }

    fn refuse(&self) -> Failure {
        let at = usize::try_from(self.reader.error_position()).unwrap_or(usize::MAX);
        refuse_at(self.document.as_bytes(), if at == 0 { self.position() } else { at }, UNREADABLE)
    }
}

/// An element whose content breaks a rule. The place is that of the name of the tag behind it, where the
/// service's own reader stands when it finds out (recorded).
pub fn refuse_element(document: &[u8], element: &Element, reason: &str) -> Failure {
    let document = without_mark(document);
    let behind = document.get(element.end..).unwrap_or_default();
    let skipped = behind.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let behind = behind.get(skipped..).unwrap_or_default();
    let bracket = if behind.starts_with(b"</") { 2 } else { 1 };
    refuse_at(document, element.end + skipped + bracket, reason)
}

/// Lines and columns are counted from one.
fn refuse_at(document: &[u8], at: usize, reason: &str) -> Failure {
    let before = document.get(..at).unwrap_or(document);
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
    Failure::invalid_xml(line as u64, column as u64, reason)
}

fn without_mark(document: &[u8]) -> &[u8] {
    document.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(document)
}
