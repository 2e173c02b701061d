//! What an expression is made of. Chains of one precedence lie side by side, so that a tree is as deep as its
//! parentheses are and no deeper.

use super::like::Pattern;
use super::moment::Part;

#[derive(Clone, Debug)]
pub enum Expression {
    Null,
    Boolean(bool),
    Int(i64),
    Float(f64),
    Text(String),
    /// A field, by its slot among the columns of the query.
    Column(usize),
    All(Vec<Expression>),
    Any(Vec<Expression>),
    Not(Box<Expression>),
    Compare(Comparison, Box<(Expression, Expression)>),
    /// The first operand, and what is done to it, from left to right.
    Arithmetic(Box<Expression>, Vec<(Operator, Expression)>),
    Negate(Box<Expression>),
    Like {
        value: Box<Expression>,
        pattern: LikePattern,
        negated: bool,
    },
    In {
        value: Box<Expression>,
        list: Vec<Expression>,
        negated: bool,
    },
    Between {
        bounds: Box<[Expression; 3]>,
        negated: bool,
    },
    IsNull {
        value: Box<Expression>,
        negated: bool,
    },
    IsMissing {
        value: Box<Expression>,
        negated: bool,
    },
    Case {
        operand: Option<Box<Expression>>,
        whens: Vec<(Expression, Expression)>,
        otherwise: Box<Expression>,
    },
    Cast(Box<Expression>, Type),
    Call(Function, Vec<Expression>),
    Trim {
        side: Side,
        characters: Option<Box<Expression>>,
        text: Box<Expression>,
    },
    DateAdd(Part, Box<[Expression; 2]>),
    DateDiff(Part, Box<[Expression; 2]>),
    Extract(Part, Box<Expression>),
}

#[derive(Clone, Debug)]
pub enum LikePattern {
    Fixed(Pattern),
    Computed { pattern: Box<Expression>, escape: Option<char> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Int,
    Float,
    Text,
    Timestamp,
    Boolean,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Both,
    Leading,
    Trailing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    CharLength,
    Lower,
    Upper,
    Substring,
    NullIf,
    Coalesce,
    ToText,
    ToTimestamp,
    UtcNow,
}

impl Function {
    /// By its name in capitals, with the numbers of arguments that it takes.
    pub fn find(name: &str) -> Option<(Self, std::ops::RangeInclusive<usize>)> {
        Some(match name {
            "CHAR_LENGTH" | "CHARACTER_LENGTH" => (Self::CharLength, 1..=1),
            "LOWER" => (Self::Lower, 1..=1),
            "UPPER" => (Self::Upper, 1..=1),
            "SUBSTRING" => (Self::Substring, 2..=3),
            "NULLIF" => (Self::NullIf, 2..=2),
            "COALESCE" => (Self::Coalesce, 1..=100),
            "TO_STRING" => (Self::ToText, 2..=2),
            "TO_TIMESTAMP" => (Self::ToTimestamp, 1..=1),
            "UTCNOW" => (Self::UtcNow, 0..=0),
            _ => return None,
        })
    }
}

impl Type {
    pub fn find(name: &str) -> Option<Self> {
        Some(match name {
            "INT" | "INTEGER" | "BIGINT" => Self::Int,
            "FLOAT" | "DOUBLE" | "REAL" => Self::Float,
            "STRING" | "VARCHAR" => Self::Text,
            "TIMESTAMP" => Self::Timestamp,
            "BOOLEAN" | "BOOL" => Self::Boolean,
            _ => return None,
        })
    }
}
