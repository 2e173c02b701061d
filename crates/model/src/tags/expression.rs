//! The two predicate languages over tags.
//!
//! ```text
//! x-ms-if-tags   or    := and ("OR" and)*
//!                and   := term ("AND" term)*
//!                term  := "(" or ")" | key ("=" | "<>" | ">" | ">=" | "<" | "<=") 'value'
//!                key   := identifier | "quoted"
//! where=         match ("AND" match)*     match := "@container" "=" 'value' | key, operators without "<>"
//! ```
//! Values compare as strings, byte by byte. Keywords ignore case.

use std::cmp::Ordering;
use std::ops::Bound;

use crate::error::Failure;

use super::Tags;

/// The documented limit on `AND` and `OR` in one predicate.
pub const LOGICAL_OPERATIONS_MAX: usize = 10;
/// Keeps the parser's recursion small; no predicate within the limits needs it.
const DEPTH_MAX: usize = 32;
const LENGTH_MAX: usize = 8192;

/// The predicate of `x-ms-if-tags` and `x-ms-source-if-tags`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagExpression(Node);

/// The predicate of Find Blobs By Tags: everything it lists must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhereExpression {
    container: Option<String>,
    comparisons: Vec<Comparison>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Or(Vec<Node>),
    And(Vec<Node>),
    Compare(Comparison),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Comparison {
    key: String,
    operator: Operator,
    value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

impl TagExpression {
    pub fn parse(text: &str) -> Result<Self, Failure> {
        Self::parse_as("x-ms-if-tags", text)
    }

    /// `header` is named in the failure.
    pub fn parse_as(header: &'static str, text: &str) -> Result<Self, Failure> {
        Parser::read(text, |parser| parser.or(0)).map(Self).map_err(|_| Failure::invalid_header(header, text))
    }

    /// A comparison with a tag that the blob does not have is false, except `<>`.
    pub fn eval(&self, tags: &Tags) -> bool {
        self.0.eval(tags)
    }
}

impl WhereExpression {
    pub fn parse(text: &str) -> Result<Self, Failure> {
        Parser::read(text, Parser::matches).map_err(|error| {
            let reason = format!(
                "Error parsing query at or near character position {}: {}",
                error.position + 1,
                error.expected
            );
            Failure::invalid_query("where", text, &reason)
        })
    }

    pub fn eval(&self, container: &str, tags: &Tags) -> bool {
        self.container.as_deref().is_none_or(|name| name == container)
            && self.comparisons.iter().all(|comparison| comparison.eval(tags))
    }

    /// The only container that can match, when the predicate names one.
    pub fn container(&self) -> Option<&str> {
        self.container.as_deref()
    }

    /// The tag to look for first, with the values of it that can match: one that is compared for equality if there is one.
    /// None if no tag is compared.
    pub fn value_range(&self) -> Option<ValueRange<'_>> {
        let mut comparisons = self.comparisons.iter();
        let first = comparisons.clone().next()?;
        let tag = comparisons.find(|comparison| comparison.operator == Operator::Equal).unwrap_or(first);
        let tag = tag.key.as_str();
        let (mut lower, mut upper) = (Bound::Unbounded, Bound::Unbounded);
        for comparison in self.comparisons.iter().filter(|comparison| comparison.key == tag) {
            let value = comparison.value.as_str();
            let (at_least, above) = (Bound::Included(value), Bound::Excluded(value));
            let (mut from, mut to) = match comparison.operator {
                Operator::Equal => (at_least, at_least),
                Operator::Greater => (above, Bound::Unbounded),
                Operator::GreaterOrEqual => (at_least, Bound::Unbounded),
                Operator::Less => (Bound::Unbounded, above),
                Operator::LessOrEqual => (Bound::Unbounded, at_least),
                Operator::NotEqual => continue,
            };
            // No tag has a character below the space: what has one stands right behind what is before it.
            if let Some(before) = value.find(|c| c < ' ').and_then(|at| value.get(..at)) {
                from = if from == Bound::Unbounded { from } else { Bound::Excluded(before) };
                to = if to == Bound::Unbounded { to } else { Bound::Included(before) };
            }
            lower = narrower(lower, from, Ordering::Greater);
            upper = narrower(upper, to, Ordering::Less);
        }
        Some(ValueRange { tag, lower, upper })
    }

    /// The keys compared: Find Blobs By Tags returns just these tags.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.comparisons.iter().map(|comparison| comparison.key.as_str())
    }
}

/// The values of a tag between two bounds, in the order of their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueRange<'a> {
    pub tag: &'a str,
    pub lower: Bound<&'a str>,
    pub upper: Bound<&'a str>,
}

/// Of two bounds the one that lets less through; `inwards` is how a narrower one compares with a wider one.
fn narrower<'a>(one: Bound<&'a str>, other: Bound<&'a str>, inwards: Ordering) -> Bound<&'a str> {
    let value = |bound| match bound {
        Bound::Included(value) | Bound::Excluded(value) => Some(value),
        Bound::Unbounded => None,
    };
    let (Some(own), Some(others)) = (value(one), value(other)) else {
        return if one == Bound::Unbounded { other } else { one };
    };
    match others.cmp(own) {
        Ordering::Equal if matches!(other, Bound::Excluded(_)) => other,
        Ordering::Equal => one,
        order if order == inwards => other,
        _ => one,
    }
}

impl Node {
    fn eval(&self, tags: &Tags) -> bool {
        match self {
            Self::Or(nodes) => nodes.iter().any(|node| node.eval(tags)),
            Self::And(nodes) => nodes.iter().all(|node| node.eval(tags)),
            Self::Compare(comparison) => comparison.eval(tags),
        }
    }
}

impl Comparison {
    fn eval(&self, tags: &Tags) -> bool {
        let Some(have) = tags.get(&self.key) else {
            return self.operator == Operator::NotEqual;
        };
        let order = have.cmp(&self.value);
        match self.operator {
            Operator::Equal => order == Ordering::Equal,
            Operator::NotEqual => order != Ordering::Equal,
            Operator::Greater => order == Ordering::Greater,
            Operator::GreaterOrEqual => order != Ordering::Less,
            Operator::Less => order == Ordering::Less,
            Operator::LessOrEqual => order != Ordering::Greater,
        }
    }
}

struct SyntaxError {
    position: usize,
    expected: &'static str,
}

struct Parser<'a> {
    rest: &'a str,
    length: usize,
    logical_operations: usize,
}

impl<'a> Parser<'a> {
    /// The whole text, or an error at the place where reading stopped.
    fn read<T>(
        text: &'a str,
        rule: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        let mut parser = Self { rest: text, length: text.len(), logical_operations: 0 };
        if text.len() > LENGTH_MAX {
            return Err(parser.error("a shorter expression"));
        }
        let value = rule(&mut parser)?;
        parser.skip_space();
        if parser.rest.is_empty() { Ok(value) } else { Err(parser.error("the end of the expression")) }
    }

    fn or(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        let mut nodes = vec![self.and(depth)?];
        while self.keyword("OR")? {
            nodes.push(self.and(depth)?);
        }
        Ok(single(nodes, Node::Or))
    }

    fn and(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        let mut nodes = vec![self.term(depth)?];
        while self.keyword("AND")? {
            nodes.push(self.term(depth)?);
        }
        Ok(single(nodes, Node::And))
    }

    fn term(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        if !self.symbol("(") {
            return Ok(Node::Compare(self.comparison()?));
        }
        if depth == DEPTH_MAX {
            return Err(self.error("fewer parentheses"));
        }
        let node = self.or(depth + 1)?;
        if self.symbol(")") { Ok(node) } else { Err(self.error("a closing parenthesis")) }
    }

    fn matches(&mut self) -> Result<WhereExpression, SyntaxError> {
        let mut expression = WhereExpression { container: None, comparisons: Vec::new() };
        loop {
            if self.symbol("@container") {
                if expression.container.is_some() || !self.symbol("=") {
                    return Err(self.error("@container once, followed by ="));
                }
                expression.container = Some(self.value()?);
            } else {
                let comparison = self.comparison()?;
                if comparison.operator == Operator::NotEqual {
                    return Err(self.error("an operator other than <>"));
                }
                expression.comparisons.push(comparison);
            }
            if !self.keyword("AND")? {
                return Ok(expression);
            }
        }
    }

    fn comparison(&mut self) -> Result<Comparison, SyntaxError> {
        Ok(Comparison { key: self.key()?, operator: self.operator()?, value: self.value()? })
    }

    fn operator(&mut self) -> Result<Operator, SyntaxError> {
        // Longer ones first: each of these may begin another.
        for (text, operator) in [
            ("<>", Operator::NotEqual),
            (">=", Operator::GreaterOrEqual),
            ("<=", Operator::LessOrEqual),
            ("=", Operator::Equal),
            (">", Operator::Greater),
            ("<", Operator::Less),
        ] {
            if self.symbol(text) {
                return Ok(operator);
            }
        }
        Err(self.error("a comparison operator"))
    }

    fn key(&mut self) -> Result<String, SyntaxError> {
        if self.symbol("\"") {
            return self.until('"');
        }
        let word = self.word();
        let starts_well = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !starts_well || is_keyword(word) {
            return Err(self.error("a tag name"));
        }
        self.take(word);
        Ok(word.to_owned())
    }

    fn value(&mut self) -> Result<String, SyntaxError> {
        if self.symbol("'") { self.until('\'') } else { Err(self.error("a value in single quotes")) }
    }

    fn until(&mut self, quote: char) -> Result<String, SyntaxError> {
        let Some((text, rest)) = self.rest.split_once(quote) else {
            return Err(self.error("a closing quote"));
        };
        self.rest = rest;
        Ok(text.to_owned())
    }

    fn keyword(&mut self, keyword: &'static str) -> Result<bool, SyntaxError> {
        self.skip_space();
        let word = self.word();
        if !word.eq_ignore_ascii_case(keyword) {
            return Ok(false);
        }
        if self.logical_operations == LOGICAL_OPERATIONS_MAX {
            return Err(self.error("fewer logical operations"));
        }
        self.logical_operations += 1;
        self.take(word);
        Ok(true)
    }

    fn symbol(&mut self, symbol: &str) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&self) -> &'a str {
        let is_other = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let end = self.rest.find(is_other).unwrap_or(self.rest.len());
        self.rest.get(..end).unwrap_or_default()
    }

    fn take(&mut self, word: &str) {
        self.rest = self.rest.strip_prefix(word).unwrap_or_default();
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn error(&self, expected: &'static str) -> SyntaxError {
        SyntaxError { position: self.length - self.rest.len(), expected }
    }
}

fn is_keyword(word: &str) -> bool {
    word.eq_ignore_ascii_case("and") || word.eq_ignore_ascii_case("or")
}

fn single(mut nodes: Vec<Node>, several: fn(Vec<Node>) -> Node) -> Node {
    match nodes.pop() {
        Some(node) if nodes.is_empty() => node,
        Some(node) => {
            nodes.push(node);
            several(nodes)
        }
        None => several(nodes),
    }
}
