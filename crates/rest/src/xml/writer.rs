//! Writing documents. Element names are the program's own; text is escaped here and nowhere else.

use std::borrow::Cow;
use std::fmt::Write as _;

use lazuli_model::operation::Row;

pub const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>";
const BYTE_ORDER_MARK: char = '\u{FEFF}';

pub struct Writer(String);

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    /// Every document begins with a byte order mark and the declaration.
    pub fn new() -> Self {
        let mut text = String::with_capacity(512);
        text.push(BYTE_ORDER_MARK);
        text.push_str(DECLARATION);
        Self(text)
    }

    /// A document of this row's answers.
    pub fn of(row: &Row) -> Self {
        let mut writer = Self::new();
        if row.answer.breaks_line {
            writer.0.push('\n');
        }
        writer
    }

    pub fn open(&mut self, name: &str) {
        self.0.push('<');
        self.0.push_str(name);
        self.0.push('>');
    }

    pub fn open_with(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.0.push('<');
        self.0.push_str(name);
        for (attribute, value) in attributes {
            // Attribute values of ours hold no quotes by construction; those of callers might.
            let value = escape(value).replace('"', "&quot;");
            let _ = write!(self.0, " {attribute}=\"{value}\"");
        }
        self.0.push('>');
    }

    pub fn close(&mut self, name: &str) {
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
    }

    /// `<Name>text</Name>`, or `<Name />` when there is no text.
    pub fn element(&mut self, name: &str, text: &str) {
        if text.is_empty() {
            return self.empty(name);
        }
        self.open(name);
        self.text(text);
        self.close(name);
    }

    /// An element that is absent rather than empty.
    pub fn maybe(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.element(name, text);
        }
    }

    pub fn empty(&mut self, name: &str) {
        self.0.push('<');
        self.0.push_str(name);
        self.0.push_str(" />");
    }

    pub fn flag(&mut self, name: &str, value: bool) {
        self.element(name, if value { "true" } else { "false" });
    }

    pub fn number(&mut self, name: &str, value: u64) {
        let _ = write!(self.0, "<{name}>{value}</{name}>");
    }

    pub fn text(&mut self, text: &str) {
        self.0.push_str(&escape(text));
    }

    pub fn finish(self) -> String {
        self.0
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether XML 1.0 can hold the text at all.
pub fn is_legal(text: &str) -> bool {
    text.chars().all(is_legal_char)
}

fn is_legal_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// Text as the content of an element. What XML cannot hold becomes the replacement character: callers for whom
/// that matters ask [`is_legal`] first.
pub fn escape(text: &str) -> Cow<'_, str> {
    let is_plain =
        |byte: u8| byte == b'\n' || (b' '..0x7F).contains(&byte) && !matches!(byte, b'<' | b'>' | b'&');
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\r' => escaped.push_str("&#xD;"),
            c if is_legal_char(c) => escaped.push(c),
            _ => escaped.push(char::REPLACEMENT_CHARACTER),
        }
    }
    Cow::Owned(escaped)
}
