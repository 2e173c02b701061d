//! From text to tokens.

use crate::error::{ErrorCode, Failure};

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A keyword or a name, as written.
    Word(String),
    /// A name between double quotes.
    Quoted(String),
    Text(String),
    Int(i64),
    Float(f64),
    Symbol(&'static str),
    End,
}

/// The longer ones first.
const SYMBOLS: [&str; 18] =
    ["<>", "!=", "<=", ">=", "=", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", "."];

pub struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// Where the last token began.
    pub began: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, began: 0 }
    }

    pub fn next(&mut self) -> Result<Token, Failure> {
        let rest = self.rest().trim_start();
        self.at = self.text.len() - rest.len();
        self.began = self.at;
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        match first {
            ';' if rest[1..].trim().is_empty() => {
                self.at = self.text.len();
                Ok(Token::End)
            }
            '\'' => self.quoted('\'').map(Token::Text),
            '"' => self.quoted('"').map(Token::Quoted),
            '0'..='9' => self.number(),
            '.' if rest[1..].starts_with(|next: char| next.is_ascii_digit()) => self.number(),
            letter if letter.is_alphabetic() || letter == '_' => {
                let belongs = |letter: char| letter.is_alphanumeric() || letter == '_';
                let end = rest.find(|letter: char| !belongs(letter)).unwrap_or(rest.len());
                self.at += end;
                Ok(Token::Word(rest[..end].to_owned()))
            }
            _ => match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
                Some(symbol) => {
                    self.at += symbol.len();
                    Ok(Token::Symbol(symbol))
                }
                None => Err(self.unexpected(&first.to_string())),
            },
        }
    }

    pub fn length(&self) -> usize {
        self.text.len()
    }

    pub fn rest_begins_with(&self, letter: char) -> bool {
        self.rest().trim_start().starts_with(letter)
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// A quote inside is written twice.
    fn quoted(&mut self, quote: char) -> Result<String, Failure> {
        let mut found = String::new();
        let mut rest = &self.rest()[1..];
        loop {
            let Some((part, behind)) = rest.split_once(quote) else {
                return Err(self.unexpected(&quote.to_string()));
            };
            found.push_str(part);
            match behind.strip_prefix(quote) {
                Some(more) => {
                    found.push(quote);
                    rest = more;
                }
                None => {
                    self.at = self.text.len() - behind.len();
                    return Ok(found);
                }
            }
        }
    }

    fn number(&mut self) -> Result<Token, Failure> {
        let rest = self.rest();
        let mut end = 0;
        let (mut dotted, mut exponent) = (false, false);
        for (at, letter) in rest.char_indices() {
            let after_exponent = matches!(rest.as_bytes().get(at.wrapping_sub(1)), Some(b'e' | b'E'));
            match letter {
                '0'..='9' => {}
                '.' if !dotted && !exponent => dotted = true,
                'e' | 'E' if !exponent => exponent = true,
                '+' | '-' if after_exponent => {}
                _ => break,
            }
            end = at + 1;
        }
        let written = &rest[..end];
        self.at += end;
        if let (false, false, Ok(number)) = (dotted, exponent, written.parse()) {
            return Ok(Token::Int(number));
        }
        match written.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Token::Float(number)),
            _ => Err(self.unexpected(written)),
        }
    }

    /// What is said of a token that cannot stand where it stands.
    pub fn unexpected(&self, token: &str) -> Failure {
        let shown: String = token.chars().take(40).collect();
        refused(&format!("Unexpected token '{shown}' at [byte: {}].", self.began))
    }
}

pub fn refused(message: &str) -> Failure {
    Failure::new(ErrorCode::ParseError).with_message(message.to_owned())
}
