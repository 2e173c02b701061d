//! From tokens to a query.
//!
//! ```text
//! query   := SELECT ("*" | item ("," item)* | "sys" "." "split" "(" size ")") FROM table [[AS] alias]
//!            [WHERE or] [LIMIT count]
//! item    := or [[AS] name]                    table := "BlobStorage" ("[*]" | "." name | "[" index "]")*
//! ```
//!
//! Expressions are read in [`super::expressions`].

use super::aggregate::{Aggregate, Kind};
use super::expression::Expression;
use super::lexer::{Lexer, Token, refused};
use super::{FromStep, Item, Query, Select, Step};
use crate::error::Failure;

/// Small enough for the stack.
const DEPTH_MAX: usize = 40;
const LENGTH_MAX: usize = 32 * 1024;
/// Of all kinds of expressions together: asking about a record takes so many steps at the most.
const NODES_MAX: usize = 1_000;
/// The service takes so many at the most.
const ITEMS_MAX: usize = 49;
/// The shortest batch of `sys.split`.
const SPLIT_MIN: i64 = 10 * 1024 * 1024;

/// Words that cannot name a field without quotes, nor an alias without AS.
const RESERVED: [&str; 25] = [
    "SELECT", "FROM", "WHERE", "LIMIT", "AS", "AND", "OR", "NOT", "IN", "IS", "LIKE", "ESCAPE", "BETWEEN",
    "NULL", "MISSING", "TRUE", "FALSE", "CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "DISTINCT", "GROUP",
];

pub fn parse(text: &str) -> Result<Query, Failure> {
    if text.len() > LENGTH_MAX {
        return Err(refused("The expression is too long."));
    }
    let mut lexer = Lexer::new(text);
    let token = lexer.next()?;
    let mut parser = Parser { lexer, token, columns: Vec::new(), nodes: 0, depth: 0 };
    parser.query()
}

pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    pub(super) token: Token,
    columns: Vec<Vec<Step>>,
    nodes: usize,
    depth: usize,
}

impl Parser<'_> {
    fn query(&mut self) -> Result<Query, Failure> {
        self.keyword("SELECT")?;
        let mut select = self.select()?;
        self.keyword("FROM")?;
        let (from, names_path) = self.table()?;
        let alias = self.alias()?;
        let filter = if self.take_word("WHERE")? { Some(self.expression()?) } else { None };
        let limit = if self.take_word("LIMIT")? { Some(self.count()?) } else { None };
        if self.token != Token::End {
            return Err(self.unexpected());
        }
        if let (Select::Split(_), false) = (&select, filter.is_none() && limit.is_none() && from.is_empty()) {
            return Err(refused("sys.split takes neither a path nor WHERE nor LIMIT."));
        }
        let mut columns = std::mem::take(&mut self.columns);
        columns.iter_mut().for_each(|steps| drop_table(steps, alias.as_deref()));
        if let Select::Items(items) = &mut select {
            for item in items {
                if let (None, Expression::Column(slot)) = (&item.name, &item.expression) {
                    item.name = columns.get(*slot).and_then(|steps| own_name(steps));
                }
            }
        }
        Ok(Query {
            select,
            columns,
            from,
            limit,
            filter,
            nodes: self.nodes,
            length: self.lexer.length(),
            names_path,
        })
    }

    fn select(&mut self) -> Result<Select, Failure> {
        if self.take("*")? {
            return Ok(Select::All);
        }
        let (mut items, mut aggregates) = (Vec::new(), Vec::new());
        loop {
            if items.len() + aggregates.len() == ITEMS_MAX {
                return Err(refused("The expression selects more than 49 columns."));
            }
            match self.selected()? {
                Selected::Split(size) if items.is_empty() && aggregates.is_empty() => {
                    return Ok(Select::Split(size));
                }
                Selected::Split(_) => return Err(self.unexpected()),
                Selected::Item(item) => items.push(item),
                Selected::Aggregate(aggregate) => aggregates.push(aggregate),
            }
            if !self.take(",")? {
                break;
            }
        }
        match (items.is_empty(), aggregates.is_empty()) {
            (false, true) => Ok(Select::Items(items)),
            (true, false) => Ok(Select::Aggregates(aggregates)),
            _ => Err(refused("Aggregates cannot be selected together with other expressions.")),
        }
    }

    fn selected(&mut self) -> Result<Selected, Failure> {
        if let Token::Word(word) = &self.token
            && let Some(kind) = Kind::find(&word.to_ascii_uppercase())
            && self.lexer_at_parenthesis()
        {
            self.advance()?;
            self.expect("(")?;
            let (kind, of) = match (kind, self.take("*")?) {
                (Kind::Count, true) => (Kind::CountAll, Expression::Null),
                (_, true) => return Err(self.unexpected()),
                (kind, false) => (kind, self.expression()?),
            };
            self.expect(")")?;
            let name = self.alias()?;
            return Ok(Selected::Aggregate(Aggregate { kind, of, name }));
        }
        let expression = self.expression()?;
        // `sys.split` looks like a field of a field.
        if let Expression::Column(slot) = expression
            && self.token == Token::Symbol("(")
            && self.columns.get(slot).is_some_and(|steps| is_split(steps))
        {
            self.advance()?;
            let Token::Int(size) = self.token else { return Err(self.unexpected()) };
            self.advance()?;
            self.expect(")")?;
            self.columns.clear();
            let size = if size >= SPLIT_MIN { size as u64 } else { return Err(refused(SPLIT_TOO_SMALL)) };
            return Ok(Selected::Split(size));
        }
        Ok(Selected::Item(Item { expression, name: self.alias()? }))
    }

    fn lexer_at_parenthesis(&self) -> bool {
        self.lexer.rest_begins_with('(')
    }

    /// The table, which is always the blob, and what of a document in it are the records.
    fn table(&mut self) -> Result<(Vec<FromStep>, bool), Failure> {
        match &self.token {
            Token::Word(word) if word.eq_ignore_ascii_case("BlobStorage") => self.advance()?,
            _ => return Err(self.unexpected()),
        }
        let mut steps = Vec::new();
        loop {
            if steps.len() == DEPTH_MAX {
                return Err(refused("The path of the table is too long."));
            }
            if self.take("[")? {
                if self.take("*")? {
                    steps.push(FromStep::Each);
                } else {
                    steps.push(FromStep::Field(Step::Index(self.index()?)));
                }
                self.expect("]")?;
            } else if self.take(".")? {
                steps.push(FromStep::Field(self.name()?));
            } else {
                break;
            }
        }
        let named = !steps.is_empty();
        // `BlobStorage` and `BlobStorage[*]` are the same.
        if steps.first() == Some(&FromStep::Each) {
            steps.remove(0);
        }
        Ok((steps, named))
    }

    fn alias(&mut self) -> Result<Option<String>, Failure> {
        let told = self.take_word("AS")?;
        match &self.token {
            Token::Word(word) if told || !is_reserved(word) => {
                let name = word.clone();
                self.advance()?;
                Ok(Some(name))
            }
            Token::Quoted(name) => {
                let name = name.clone();
                self.advance()?;
                Ok(Some(name))
            }
            _ if told => Err(self.unexpected()),
            _ => Ok(None),
        }
    }

    /// A field: names and indexes, one after the other.
    pub(super) fn column(&mut self) -> Result<Expression, Failure> {
        let mut steps = vec![self.name()?];
        loop {
            if steps.len() > DEPTH_MAX {
                return Err(refused("The path of a field is too long."));
            }
            if self.take(".")? {
                steps.push(self.name()?);
            } else if self.take("[")? {
                steps.push(Step::Index(self.index()?));
                self.expect("]")?;
            } else {
                break;
            }
        }
        let known = self.columns.iter().position(|column| *column == steps);
        let slot = known.unwrap_or_else(|| {
            self.columns.push(steps);
            self.columns.len() - 1
        });
        self.node(Expression::Column(slot))
    }

    fn name(&mut self) -> Result<Step, Failure> {
        let step = match &self.token {
            Token::Word(word) if !is_reserved(word) => Step::Name { text: word.clone(), quoted: false },
            Token::Quoted(name) => Step::Name { text: name.clone(), quoted: true },
            _ => return Err(self.unexpected()),
        };
        self.advance()?;
        Ok(step)
    }

    fn index(&mut self) -> Result<usize, Failure> {
        usize::try_from(self.count()?).map_err(|_| self.unexpected())
    }

    fn count(&mut self) -> Result<u64, Failure> {
        match self.token {
            Token::Int(number) if number >= 0 => {
                self.advance()?;
                Ok(number.unsigned_abs())
            }
            _ => Err(self.unexpected()),
        }
    }

    /// Counts an expression, of which a query may have so many.
    pub(super) fn node(&mut self, expression: Expression) -> Result<Expression, Failure> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(refused("The expression is too complex."));
        }
        Ok(expression)
    }

    /// An expression inside of another.
    pub(super) fn expression(&mut self) -> Result<Expression, Failure> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(refused("The expression is nested too deeply."));
        }
        let found = self.or();
        self.depth -= 1;
        found
    }

    pub(super) fn advance(&mut self) -> Result<(), Failure> {
        self.token = self.lexer.next()?;
        Ok(())
    }

    pub(super) fn take(&mut self, symbol: &str) -> Result<bool, Failure> {
        match self.token {
            Token::Symbol(found) if found == symbol => self.advance().map(|()| true),
            _ => Ok(false),
        }
    }

    pub(super) fn expect(&mut self, symbol: &str) -> Result<(), Failure> {
        if self.take(symbol)? { Ok(()) } else { Err(self.unexpected()) }
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(&self.token, Token::Word(found) if found.eq_ignore_ascii_case(word))
    }

    pub(super) fn take_word(&mut self, word: &str) -> Result<bool, Failure> {
        if self.is_word(word) { self.advance().map(|()| true) } else { Ok(false) }
    }

    pub(super) fn keyword(&mut self, word: &str) -> Result<(), Failure> {
        if self.take_word(word)? { Ok(()) } else { Err(self.unexpected()) }
    }

    /// A word that is followed by a parenthesis: the name of a function, in capitals.
    pub(super) fn calls(&self) -> Option<String> {
        let names = |word: &str| !is_reserved(word) || word.eq_ignore_ascii_case("CAST");
        match &self.token {
            Token::Word(word) if self.lexer_at_parenthesis() && names(word) => {
                Some(word.to_ascii_uppercase())
            }
            _ => None,
        }
    }

    pub(super) fn unexpected(&self) -> Failure {
        let token = match &self.token {
            Token::Word(word) => word.clone(),
            Token::Quoted(name) => format!("\"{name}\""),
            Token::Text(text) => text.clone(),
            Token::Int(number) => number.to_string(),
            Token::Float(number) => number.to_string(),
            Token::Symbol(symbol) => (*symbol).to_owned(),
            Token::End => return refused("The expression ends too early."),
        };
        self.lexer.unexpected(&token)
    }
}

const SPLIT_TOO_SMALL: &str = "The size of sys.split must be at least 10485760.";

enum Selected {
    Item(Item),
    Aggregate(Aggregate),
    Split(u64),
}

fn is_reserved(word: &str) -> bool {
    RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(word))
}

fn is_split(steps: &[Step]) -> bool {
    let is =
        |step: &Step, word: &str| matches!(step, Step::Name { text, .. } if text.eq_ignore_ascii_case(word));
    matches!(steps, [sys, split] if is(sys, "sys") && is(split, "split"))
}

/// `BlobStorage._1` is `_1`, and so is `b._1` of `BlobStorage b`.
fn drop_table(steps: &mut Vec<Step>, alias: Option<&str>) {
    let names_table = match steps.first() {
        Some(Step::Name { text, .. }) => {
            text.eq_ignore_ascii_case("BlobStorage")
                || alias.is_some_and(|alias| text.eq_ignore_ascii_case(alias))
        }
        _ => false,
    };
    if names_table && steps.len() > 1 {
        steps.remove(0);
    }
}

/// A field keeps its own name in the output; one that has a number only gets its place there.
fn own_name(steps: &[Step]) -> Option<String> {
    if Query::ordinal(steps).is_some() {
        return None;
    }
    match steps.last() {
        Some(Step::Name { text, .. }) => Some(text.clone()),
        _ => None,
    }
}
