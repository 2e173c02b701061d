//! From tokens to a tree.
//!
//! ```text
//! or      := and ("or" and)*          and := unary ("and" unary)*
//! unary   := "not" unary | compare    compare := primary [("eq"|"ne"|"gt"|"ge"|"lt"|"le") primary]
//! primary := "(" or ")" | property | literal
//! ```

use std::collections::HashMap;

use super::filter::{Node, Operator};
use super::lexer::{Lexer, Token, invalid};
use super::value::EdmValue;
use crate::error::{ErrorCode, Failure};

/// Small enough for the stack.
const DEPTH_MAX: usize = 100;
const LENGTH_MAX: usize = 32 * 1024;
/// Far beyond the documented 15: the service answers filters with hundreds of them, as Orleans sends them.
pub const CONDITIONS_MAX: usize = 1_000;

pub fn parse(text: &str) -> Result<(Vec<String>, Node), Failure> {
    if text.len() > LENGTH_MAX {
        return Err(invalid("The filter is too long.".to_owned()));
    }
    let mut lexer = Lexer::new(text);
    let (token, end) = lexer.next()?;
    let (names, slots) = (Vec::new(), HashMap::new());
    let mut parser = Parser { lexer, token, end, names, slots, depth: 0, conditions: 0 };
    let term = parser.or()?;
    if parser.token != Token::End {
        return Err(parser.unexpected());
    }
    // Health checks ask for `false`, and for `true`; constants that are more than one word are refused.
    let is_word = matches!(term, Term::Literal(EdmValue::Boolean(_)));
    let root = parser.condition(term)?;
    if parser.names.is_empty() && !is_word {
        return Err(invalid(format!("The filter '{text}' refers to no property.")));
    }
    Ok((parser.names, root))
}

/// What a part of a filter stands for: only a condition can be joined by `and`, only an operand compared.
enum Term {
    Property(String),
    Literal(EdmValue),
    Condition(Node),
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token,
    /// Where the current token ends.
    end: usize,
    names: Vec<String>,
    /// Where each of the names stands.
    slots: HashMap<String, usize>,
    depth: usize,
    conditions: usize,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<Token, Failure> {
        let (token, end) = self.lexer.next()?;
        self.end = end;
        Ok(std::mem::replace(&mut self.token, token))
    }

    fn unexpected(&self) -> Failure {
        self.lexer.syntax(self.end)
    }

    fn word(&self) -> Option<&str> {
        match &self.token {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    fn takes(&mut self, keyword: &str) -> Result<bool, Failure> {
        let found = self.word().is_some_and(|word| word.eq_ignore_ascii_case(keyword));
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn or(&mut self) -> Result<Term, Failure> {
        self.chain("or", Self::and, Node::Or)
    }

    fn and(&mut self) -> Result<Term, Failure> {
        self.chain("and", Self::unary, Node::And)
    }

    /// Terms joined by a keyword; one alone is just itself.
    fn chain(
        &mut self,
        keyword: &str,
        next: fn(&mut Self) -> Result<Term, Failure>,
        join: fn(Vec<Node>) -> Node,
    ) -> Result<Term, Failure> {
        let first = next(self)?;
        if !self.takes(keyword)? {
            return Ok(first);
        }
        let mut terms = vec![self.condition(first)?];
        loop {
            let term = next(self)?;
            terms.push(self.condition(term)?);
            if !self.takes(keyword)? {
                return Ok(Term::Condition(join(terms)));
            }
        }
    }

    fn unary(&mut self) -> Result<Term, Failure> {
        if !self.takes("not")? {
            return self.compare();
        }
        self.deeper(|parser| {
            let term = parser.unary()?;
            let inner = parser.condition(term)?;
            Ok(Term::Condition(Node::Not(Box::new(inner))))
        })
    }

    fn compare(&mut self) -> Result<Term, Failure> {
        let left = self.primary()?;
        let Some(operator) = self.word().and_then(Operator::parse) else { return Ok(left) };
        if matches!(left, Term::Condition(_)) {
            return Err(self.unexpected());
        }
        self.advance()?;
        let right = self.primary()?;
        self.count()?;
        let node = match (left, right) {
            (Term::Property(name), Term::Literal(value)) => {
                Node::Compare { slot: self.slot(name), operator, value }
            }
            (Term::Literal(value), Term::Property(name)) => {
                Node::Compare { slot: self.slot(name), operator: operator.flipped(), value }
            }
            (Term::Literal(left), Term::Literal(right)) => {
                let ordering = left.borrowed().compare(&right.borrowed());
                Node::Constant(ordering.is_some_and(|ordering| operator.holds(ordering)))
            }
            (Term::Property(_), Term::Property(_)) => {
                let text = self.lexer.text();
                return Err(invalid(format!("Two properties are compared with each other in '{text}'.")));
            }
            (Term::Condition(_), _) | (_, Term::Condition(_)) => return Err(self.unexpected()),
        };
        Ok(Term::Condition(node))
    }

    fn primary(&mut self) -> Result<Term, Failure> {
        match &self.token {
            Token::Open => {
                self.advance()?;
                let inner = self.deeper(Self::or)?;
                if self.token != Token::Close {
                    return Err(self.unexpected());
                }
                self.advance()?;
                Ok(inner)
            }
            Token::Literal(_) => match self.advance()? {
                Token::Literal(value) => Ok(Term::Literal(value)),
                _ => Err(self.unexpected()),
            },
            Token::Word(word) => {
                let name = word.clone();
                let is_keyword = Operator::parse(&name).is_some() || name == "and" || name == "or";
                if is_keyword {
                    return Err(self.unexpected());
                }
                self.advance()?;
                match (&self.token, name.as_str()) {
                    (Token::Open, _) => Err(ErrorCode::NotImplemented.into()),
                    (_, "null") => Err(invalid("The null literal is not supported.".to_owned())),
                    _ => Ok(Term::Property(name)),
                }
            }
            Token::Close | Token::End => Err(self.unexpected()),
        }
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Failure>) -> Result<T, Failure> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(invalid("The filter is nested too deeply.".to_owned()));
        }
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn condition(&mut self, term: Term) -> Result<Node, Failure> {
        match term {
            Term::Condition(node) => Ok(node),
            Term::Property(name) => {
                self.count()?;
                Ok(Node::Flag { slot: self.slot(name) })
            }
            Term::Literal(EdmValue::Boolean(value)) => {
                self.count()?;
                Ok(Node::Constant(value))
            }
            Term::Literal(_) => Err(self.unexpected()),
        }
    }

    /// One condition more, whatever it is made of.
    fn count(&mut self) -> Result<(), Failure> {
        self.conditions += 1;
        if self.conditions > CONDITIONS_MAX {
            return Err(invalid("The filter has too many comparisons.".to_owned()));
        }
        Ok(())
    }

    fn slot(&mut self, name: String) -> usize {
        let next = self.names.len();
        *self.slots.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        })
    }
}
