//! From tokens to expressions.
//!
//! ```text
//! or      := and (OR and)*             and     := not (AND not)*            not := NOT* test
//! test    := sum [("=" | "<" ..) sum | [NOT] LIKE sum [ESCAPE text] | [NOT] IN "(" or, .. ")"
//!                | [NOT] BETWEEN sum AND sum | IS [NOT] (NULL | MISSING)]
//! sum     := product (("+" | "-") product)*      product := sign (("*" | "/" | "%") sign)*
//! sign    := ("-" | "+")* primary
//! primary := "(" or ")" | literal | field | CASE .. END | CAST "(" or AS type ")" | function "(" .. ")"
//! ```

use super::expression::{Comparison, Expression, Function, LikePattern, Operator, Side, Type};
use super::lexer::{Token, refused};
use super::like::Pattern;
use super::moment::Part;
use super::parser::Parser;
use crate::error::Failure;

impl Parser<'_> {
    pub(super) fn or(&mut self) -> Result<Expression, Failure> {
        let first = self.and()?;
        if !self.is_word("OR") {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.take_word("OR")? {
            all.push(self.and()?);
        }
        self.node(Expression::Any(all))
    }

    fn and(&mut self) -> Result<Expression, Failure> {
        let first = self.not()?;
        if !self.is_word("AND") {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.take_word("AND")? {
            all.push(self.not()?);
        }
        self.node(Expression::All(all))
    }

    fn not(&mut self) -> Result<Expression, Failure> {
        let mut negated = false;
        let mut any = false;
        while self.take_word("NOT")? {
            (negated, any) = (!negated, true);
        }
        let test = self.test()?;
        match (any, negated) {
            (false, _) => Ok(test),
            (true, true) => self.node(Expression::Not(Box::new(test))),
            // Twice is a condition still, and nothing else.
            (true, false) => {
                let once = self.node(Expression::Not(Box::new(test)))?;
                self.node(Expression::Not(Box::new(once)))
            }
        }
    }

    fn test(&mut self) -> Result<Expression, Failure> {
        let value = self.sum()?;
        if let Token::Symbol(symbol) = self.token
            && let Some(comparison) = comparison(symbol)
        {
            self.advance()?;
            let other = self.sum()?;
            return self.node(Expression::Compare(comparison, Box::new((value, other))));
        }
        if self.take_word("IS")? {
            let negated = self.take_word("NOT")?;
            let value = Box::new(value);
            let test = if self.take_word("MISSING")? {
                Expression::IsMissing { value, negated }
            } else {
                self.keyword("NULL")?;
                Expression::IsNull { value, negated }
            };
            return self.node(test);
        }
        let negated = self.take_word("NOT")?;
        let value = if self.take_word("LIKE")? {
            self.like(value, negated)?
        } else if self.take_word("IN")? {
            self.expect("(")?;
            let list = self.list()?;
            Expression::In { value: Box::new(value), list, negated }
        } else if self.take_word("BETWEEN")? {
            let low = self.sum()?;
            self.keyword("AND")?;
            let high = self.sum()?;
            Expression::Between { bounds: Box::new([value, low, high]), negated }
        } else if negated {
            return Err(self.unexpected());
        } else {
            return Ok(value);
        };
        self.node(value)
    }

    fn like(&mut self, value: Expression, negated: bool) -> Result<Expression, Failure> {
        let pattern = self.sum()?;
        let mut escape = None;
        if self.take_word("ESCAPE")? {
            let Token::Text(text) = &self.token else { return Err(self.unexpected()) };
            let mut letters = text.chars();
            let (Some(letter), None) = (letters.next(), letters.next()) else {
                return Err(self.unexpected());
            };
            escape = Some(letter);
            self.advance()?;
        }
        let pattern = match pattern {
            Expression::Text(text) => match Pattern::parse(&text, escape) {
                Some(pattern) => LikePattern::Fixed(pattern),
                None => return Err(refused("The pattern of LIKE is invalid.")),
            },
            computed => LikePattern::Computed { pattern: Box::new(computed), escape },
        };
        Ok(Expression::Like { value: Box::new(value), pattern, negated })
    }

    fn sum(&mut self) -> Result<Expression, Failure> {
        let first = self.product()?;
        self.chain(first, &[("+", Operator::Add), ("-", Operator::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Expression, Failure> {
        let first = self.sign()?;
        let operators = [("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)];
        self.chain(first, &operators, Self::sign)
    }

    fn chain(
        &mut self,
        first: Expression,
        operators: &[(&str, Operator)],
        operand: fn(&mut Self) -> Result<Expression, Failure>,
    ) -> Result<Expression, Failure> {
        let mut rest = Vec::new();
        while let Token::Symbol(symbol) = self.token
            && let Some((_, operator)) = operators.iter().find(|(own, _)| *own == symbol)
        {
            self.advance()?;
            rest.push((*operator, operand(self)?));
        }
        if rest.is_empty() { Ok(first) } else { self.node(Expression::Arithmetic(Box::new(first), rest)) }
    }

    fn sign(&mut self) -> Result<Expression, Failure> {
        let mut negative = false;
        loop {
            if self.take("-")? {
                negative = !negative;
            } else if !self.take("+")? {
                break;
            }
        }
        match (self.primary()?, negative) {
            (value, false) => Ok(value),
            (Expression::Int(number), true) => Ok(Expression::Int(-number)),
            (Expression::Float(number), true) => Ok(Expression::Float(-number)),
            (value, true) => self.node(Expression::Negate(Box::new(value))),
        }
    }

    fn primary(&mut self) -> Result<Expression, Failure> {
        if self.take("(")? {
            let inner = self.expression()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if let Some(name) = self.calls() {
            return self.call(&name);
        }
        let literal = match &self.token {
            Token::Text(text) => Expression::Text(text.clone()),
            Token::Int(number) => Expression::Int(*number),
            Token::Float(number) => Expression::Float(*number),
            Token::Word(word) if word.eq_ignore_ascii_case("NULL") => Expression::Null,
            Token::Word(word) if word.eq_ignore_ascii_case("TRUE") => Expression::Boolean(true),
            Token::Word(word) if word.eq_ignore_ascii_case("FALSE") => Expression::Boolean(false),
            Token::Word(word) if word.eq_ignore_ascii_case("CASE") => return self.case(),
            _ => return self.column(),
        };
        self.advance()?;
        self.node(literal)
    }

    fn case(&mut self) -> Result<Expression, Failure> {
        self.keyword("CASE")?;
        let operand = if self.is_word("WHEN") { None } else { Some(Box::new(self.expression()?)) };
        let mut whens = Vec::new();
        while self.take_word("WHEN")? {
            let when = self.expression()?;
            self.keyword("THEN")?;
            whens.push((when, self.expression()?));
        }
        let otherwise =
            if self.take_word("ELSE")? { self.expression()? } else { self.node(Expression::Null)? };
        self.keyword("END")?;
        if whens.is_empty() {
            return Err(refused("CASE has no WHEN."));
        }
        self.node(Expression::Case { operand, whens, otherwise: Box::new(otherwise) })
    }

    fn call(&mut self, name: &str) -> Result<Expression, Failure> {
        // A word that names no function stands where it should not.
        let unknown = self.unexpected();
        let known = matches!(name, "CAST" | "TRIM" | "DATE_ADD" | "DATE_DIFF" | "EXTRACT");
        let function = Function::find(name);
        if !known && function.is_none() {
            return Err(unknown);
        }
        self.advance()?;
        self.expect("(")?;
        let call = match (name, function) {
            ("CAST", _) => {
                let value = Box::new(self.expression()?);
                self.keyword("AS")?;
                let found = match &self.token {
                    Token::Word(word) => Type::find(&word.to_ascii_uppercase()),
                    _ => None,
                };
                let Some(wanted) = found else { return Err(self.unexpected()) };
                self.advance()?;
                self.expect(")")?;
                Expression::Cast(value, wanted)
            }
            ("TRIM", _) => self.trim()?,
            ("DATE_ADD" | "DATE_DIFF", _) => {
                let part = self.part()?;
                self.expect(",")?;
                let first = self.expression()?;
                self.expect(",")?;
                let both = Box::new([first, self.expression()?]);
                self.expect(")")?;
                match name {
                    "DATE_ADD" => Expression::DateAdd(part, both),
                    _ => Expression::DateDiff(part, both),
                }
            }
            ("EXTRACT", _) => {
                let part = self.part()?;
                self.keyword("FROM")?;
                let value = Box::new(self.expression()?);
                self.expect(")")?;
                Expression::Extract(part, value)
            }
            (_, Some((function, counts))) => {
                let arguments = if self.take(")")? { Vec::new() } else { self.list()? };
                if !counts.contains(&arguments.len()) {
                    return Err(refused(&format!("{name} has a wrong number of arguments.")));
                }
                Expression::Call(function, arguments)
            }
            (_, None) => return Err(unknown),
        };
        self.node(call)
    }

    /// A date part, as a word or as text.
    fn part(&mut self) -> Result<Part, Failure> {
        let found = match &self.token {
            Token::Word(word) | Token::Text(word) | Token::Quoted(word) => Part::find(word),
            _ => None,
        };
        let Some(part) = found else { return Err(self.unexpected()) };
        self.advance()?;
        Ok(part)
    }

    /// `TRIM([BOTH | LEADING | TRAILING] [characters] FROM text)` or `TRIM(text)`.
    fn trim(&mut self) -> Result<Expression, Failure> {
        let sides = [("BOTH", Side::Both), ("LEADING", Side::Leading), ("TRAILING", Side::Trailing)];
        let mut told = None;
        for (word, side) in sides {
            if told.is_none() && self.take_word(word)? {
                told = Some(side);
            }
        }
        let side = told.unwrap_or(Side::Both);
        let mut characters = None;
        if told.is_some() && self.take_word("FROM")? {
            let text = Box::new(self.expression()?);
            self.expect(")")?;
            return Ok(Expression::Trim { side, characters, text });
        }
        let mut text = self.expression()?;
        if self.take_word("FROM")? {
            characters = Some(Box::new(text));
            text = self.expression()?;
        }
        self.expect(")")?;
        Ok(Expression::Trim { side, characters, text: Box::new(text) })
    }

    /// Up to the parenthesis, which is taken.
    fn list(&mut self) -> Result<Vec<Expression>, Failure> {
        let mut list = vec![self.expression()?];
        while self.take(",")? {
            list.push(self.expression()?);
        }
        self.expect(")")?;
        Ok(list)
    }
}

fn comparison(symbol: &str) -> Option<Comparison> {
    Some(match symbol {
        "=" => Comparison::Equal,
        "!=" | "<>" => Comparison::NotEqual,
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterOrEqual,
        _ => return None,
    })
}
