//! A `$filter`, parsed once and then asked about many entities.

use std::cmp::Ordering;

use super::bounds::{self, KeyBox};
use super::parser;
use super::value::{EdmValue, ValueRef};
use crate::error::Failure;

/// The values that one entity has for the names of a filter, in the order of [`Filter::names`].
pub type Slots<'a, 'v> = &'a [Option<ValueRef<'v>>];

#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    names: Vec<String>,
    root: Node,
    /// Of its text.
    length: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    // Flat, so that a long chain is not a deep tree.
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
    Compare {
        slot: usize,
        operator: Operator,
        value: EdmValue,
    },
    /// A property that is itself the condition.
    Flag {
        slot: usize,
    },
    Constant(bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
}

impl Operator {
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().as_str() {
            "eq" => Self::Eq,
            "ne" => Self::Ne,
            "gt" => Self::Gt,
            "ge" => Self::Ge,
            "lt" => Self::Lt,
            "le" => Self::Le,
            _ => return None,
        })
    }

    /// The same comparison with its sides exchanged.
    pub fn flipped(self) -> Self {
        match self {
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            same => same,
        }
    }

    /// `None`: not ordered, as a NaN is to everything. Only `ne` holds then.
    pub fn holds(self, ordering: Option<Ordering>) -> bool {
        match self {
            Self::Eq => ordering == Some(Ordering::Equal),
            Self::Ne => ordering != Some(Ordering::Equal),
            Self::Gt => ordering == Some(Ordering::Greater),
            Self::Ge => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
            Self::Lt => ordering == Some(Ordering::Less),
            Self::Le => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
        }
    }
}

impl Filter {
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let (names, root) = parser::parse(text)?;
        Ok(Self { names, root, length: text.len() })
    }

    /// The most steps that asking the filter about one entity takes: a condition is at least a byte of its text, and
    /// comparing with a literal looks at no more bytes than the literal has.
    pub fn cost(&self) -> usize {
        self.length
    }

    /// The properties that the filter looks at, each once.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Which slot a property has in this filter.
    pub fn slot(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// A property that the entity lacks makes its comparison false, `ne` included; so do types that cannot be
    /// compared. `not` turns that around.
    pub fn matches(&self, slots: Slots<'_, '_>) -> bool {
        self.root.matches(slots)
    }

    /// Boxes of keys that together hold every entity for which the filter can be true, given the names of the
    /// two properties that are the key.
    pub fn key_boxes(&self, partition: &str, row: &str) -> Vec<KeyBox> {
        bounds::boxes(&self.root, self.slot(partition), self.slot(row))
    }
}

impl Node {
    fn matches(&self, slots: Slots<'_, '_>) -> bool {
        match self {
            Node::And(terms) => terms.iter().all(|term| term.matches(slots)),
            Node::Or(terms) => terms.iter().any(|term| term.matches(slots)),
            Node::Not(inner) => !inner.matches(slots),
            Node::Constant(value) => *value,
            Node::Flag { slot } => matches!(slots.get(*slot), Some(Some(ValueRef::Boolean(true)))),
            Node::Compare { slot, operator, value } => match slots.get(*slot) {
                Some(Some(found)) => {
                    found.compare(&value.borrowed()).is_some_and(|ordering| operator.holds(ordering))
                }
                _ => false,
            },
        }
    }
}
