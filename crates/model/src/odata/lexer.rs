//! `$filter` cut into tokens. A token remembers where it ends: that is the position that errors name.

use uuid::Uuid;

use super::value::EdmValue;
use crate::error::{ErrorCode, Failure};
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    Open,
    Close,
    Word(String),
    Literal(EdmValue),
    End,
}

pub struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub fn text(&self) -> &'a str {
        self.text
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, length: usize) -> &'a str {
        let taken = self.rest().get(..length).unwrap_or_default();
        self.at += taken.len();
        taken
    }

    /// The next token and the offset behind it.
    pub fn next(&mut self) -> Result<(Token, usize), Failure> {
        let blank = self.rest().len() - self.rest().trim_start().len();
        self.take(blank);
        let token = match self.rest().chars().next() {
            None => Token::End,
            Some('(') => self.one(Token::Open),
            Some(')') => self.one(Token::Close),
            Some('\'') => Token::Literal(EdmValue::String(self.quoted()?)),
            Some(first) if first.is_ascii_digit() => self.number()?,
            Some('-' | '+' | '.') => self.number()?,
            Some(first) if first.is_alphabetic() || first == '_' || first == '@' => self.word()?,
            Some(first) => {
                self.take(first.len_utf8());
                return Err(self.syntax(self.at));
            }
        };
        Ok((token, self.at))
    }

    fn one(&mut self, token: Token) -> Token {
        self.take(1);
        token
    }

    /// Between single quotes; a doubled one stands for itself.
    fn quoted(&mut self) -> Result<String, Failure> {
        self.take(1);
        let mut text = String::new();
        loop {
            let Some(end) = self.rest().find('\'') else {
                let start = self.at;
                return Err(unterminated(start, self.text));
            };
            text.push_str(self.take(end));
            self.take(1);
            if !self.rest().starts_with('\'') {
                return Ok(text);
            }
            text.push_str(self.take(1));
        }
    }

    /// A name or keyword, or the prefix of a quoted literal.
    fn word(&mut self) -> Result<Token, Failure> {
        let rest = self.rest();
        let part_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '@' | '/' | '-');
        let end = rest.find(|c| !part_of_name(c)).unwrap_or(rest.len());
        let word = self.take(end);
        if self.rest().starts_with('\'') {
            let start = self.at - word.len();
            let text = self.quoted()?;
            return literal(word, &text).map(Token::Literal).ok_or_else(|| self.unreadable(start));
        }
        Ok(match word {
            // `True` is how Python prints it.
            word if word.eq_ignore_ascii_case("true") => Token::Literal(EdmValue::Boolean(true)),
            word if word.eq_ignore_ascii_case("false") => Token::Literal(EdmValue::Boolean(false)),
            "NaN" => Token::Literal(EdmValue::Double(f64::NAN)),
            "INF" => Token::Literal(EdmValue::Double(f64::INFINITY)),
            word => Token::Word(word.to_owned()),
        })
    }

    fn number(&mut self) -> Result<Token, Failure> {
        let (start, rest) = (self.at, self.rest());
        for infinity in ["-INF", "-Infinity"] {
            if rest.starts_with(infinity) {
                self.take(infinity.len());
                return Ok(Token::Literal(EdmValue::Double(f64::NEG_INFINITY)));
            }
        }
        let mut previous = ' ';
        let part_of_number = |c: char| {
            let sign = matches!(c, '-' | '+') && matches!(previous, ' ' | 'e' | 'E');
            previous = c;
            sign || c.is_ascii_alphanumeric() || c == '.'
        };
        let mut part_of_number = part_of_number;
        let end = rest.find(|c| !part_of_number(c)).unwrap_or(rest.len());
        let text = self.take(end.max(1));
        numeric(text).map(Token::Literal).ok_or_else(|| self.unreadable(start))
    }

    pub fn syntax(&self, position: usize) -> Failure {
        let position = self.text.get(..position).map_or(position, |before| before.encode_utf16().count());
        invalid(format!("Syntax error at position {position} in '{}'.", self.text))
    }

    fn unreadable(&self, start: usize) -> Failure {
        let token = self.text.get(start..self.at).unwrap_or_default();
        invalid(format!("Unrecognized literal '{token}' at position {start} in '{}'.", self.text))
    }
}

fn unterminated(position: usize, text: &str) -> Failure {
    invalid(format!("There is an unterminated string literal at position {position} in '{text}'."))
}

pub(super) fn invalid(message: String) -> Failure {
    Failure::new(ErrorCode::InvalidInput).with_message(message)
}

fn literal(prefix: &str, text: &str) -> Option<EdmValue> {
    match prefix.to_ascii_lowercase().as_str() {
        "datetime" => date_time(text).map(EdmValue::DateTime),
        "guid" => Uuid::try_parse(text).ok().map(EdmValue::Guid),
        "x" | "binary" => hex(text).map(EdmValue::Binary),
        _ => None,
    }
}

/// Times without a zone are UTC.
fn date_time(text: &str) -> Option<Timestamp> {
    Timestamp::parse_iso(text).or_else(|| Timestamp::parse_iso(&format!("{text}Z")))
}

fn hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}

/// `L` makes an Int64; a point, an exponent or one of the letters of the fractional types makes a Double.
fn numeric(text: &str) -> Option<EdmValue> {
    if let Some(digits) = text.strip_suffix(['L', 'l']) {
        return digits.parse().ok().map(EdmValue::Int64);
    }
    if let Ok(value) = text.parse::<i64>() {
        return Some(i32::try_from(value).map_or(EdmValue::Int64(value), EdmValue::Int32));
    }
    let digits = text.strip_suffix(['d', 'D', 'f', 'F', 'm', 'M']).unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    plain.then(|| digits.parse().ok().map(EdmValue::Double)).flatten()
}
