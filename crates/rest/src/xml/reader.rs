//! Reading documents from strangers: no document type, no processing instruction, no unbounded anything.

use lazuli_model::error::Failure;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

const DEPTH: usize = 16;
const NODES: usize = 20_000;
const ATTRIBUTES: usize = 16;

/// An element with its text and children; attributes mean nothing in the service's documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    pub name: String,
    pub text: String,
    pub children: Vec<Element>,
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
                    return Err(source.refuse("The document is too complex."));
                }
                open.push(Element { name, ..Element::default() });
            }
            Node::Text(text) => match open.last_mut() {
                Some(element) => element.text.push_str(&text),
                None if text.trim().is_empty() => {}
                None => return Err(source.refuse("Data at the root level is invalid.")),
            },
            Node::End => {
                let Some(element) = open.pop() else { return Err(source.refuse("Unexpected end tag.")) };
                match open.last_mut() {
                    Some(parent) => parent.children.push(element),
                    None => root = Some(element),
                }
            }
            Node::Eof if open.is_empty() => {
                return root.ok_or_else(|| source.refuse("Root element is missing."));
            }
            Node::Eof => return Err(source.refuse("Unexpected end of file has occurred.")),
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
                    _ => return Err(source.refuse("Unexpected element.")),
                }
                text.clear();
                depth += 1;
            }
            Node::Text(more) => match depth {
                2 => text.push_str(&more),
                _ if more.trim().is_empty() => {}
                _ => return Err(source.refuse("Unexpected text.")),
            },
            Node::End => {
                if depth == 2 {
                    leaf(&name, text.trim())?;
                }
                depth -= 1;
            }
            Node::Eof if depth == 0 && found => return Ok(()),
            Node::Eof => return Err(source.refuse("Unexpected end of file has occurred.")),
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
        let document = document.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(document);
        // The service's documents are UTF-8; anything else is refused before it is looked at.
        let document = std::str::from_utf8(document)
            .map_err(|_| Failure::invalid_xml(1, 1, "Invalid character in the given encoding."))?;
        Ok(Self { document, reader: Reader::from_str(document), pending_end: false })
    }

    fn next(&mut self) -> Result<Node, Failure> {
        if std::mem::take(&mut self.pending_end) {
            return Ok(Node::End);
        }
        loop {
            let event = match self.reader.read_event() {
                Ok(event) => event,
                Err(error) => return Err(self.refuse(&error.to_string())),
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
                Event::DocType(_) => return Err(self.refuse("DTD is prohibited in this XML document.")),
                Event::PI(_) => return Err(self.refuse("Processing instructions are not supported.")),
            }
        }
    }

    fn start(&self, start: &BytesStart<'_>) -> Result<String, Failure> {
        for (seen, attribute) in start.attributes().enumerate() {
            if attribute.is_err() || seen >= ATTRIBUTES {
                return Err(self.refuse("The attributes of an element are invalid."));
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
        known.ok_or_else(|| self.refuse("Reference to undeclared entity."))
    }

    /// With the place where reading stopped, lines and columns counted from one.
    fn refuse(&self, reason: &str) -> Failure {
        let at = usize::try_from(self.reader.error_position()).unwrap_or(usize::MAX);
        let at =
            if at == 0 { usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX) } else { at };
        let document = self.document.as_bytes();
        let before = document.get(..at).unwrap_or(document);
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
        Failure::invalid_xml(line as u64, column as u64, reason)
    }
}
