//! What a filter says about the two keys, so that a query reads only the keys that can match.
//!
//! The answer is always a superset: whatever a box holds is still asked of the filter.

use super::filter::{Node, Operator};
use super::value::{EdmValue, compare_ordinal};
use std::cmp::Ordering;
use std::sync::Arc;

/// More than a client writes by hand; beyond it the whole table is read, which is slow but right.
const BOXES_MAX: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Bound {
    #[default]
    Open,
    // Shared: one literal may bound every box of a filter.
    Including(Arc<str>),
    Excluding(Arc<str>),
}

/// Keys between two bounds, by UTF-16 order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Span {
    pub low: Bound,
    pub high: Bound,
}

/// Entities whose partition key lies in one span and whose row key in another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyBox {
    pub partition: Span,
    pub row: Span,
}

pub(super) fn boxes(root: &Node, partition: Option<usize>, row: Option<usize>) -> Vec<KeyBox> {
    let slots = KeySlots { partition, row };
    slots.boxes(root, true)
}

struct KeySlots {
    partition: Option<usize>,
    row: Option<usize>,
}

impl KeySlots {
    /// Where the node can be `wanted`.
    fn boxes(&self, node: &Node, wanted: bool) -> Vec<KeyBox> {
        match (node, wanted) {
            (Node::Not(inner), _) => self.boxes(inner, !wanted),
            (Node::Constant(value), _) if *value != wanted => Vec::new(),
            (Node::And(terms), true) | (Node::Or(terms), false) => {
                let mut each: Vec<_> = terms.iter().map(|term| self.boxes(term, wanted)).collect();
                // The shortest first: a thousand conditions on single keys meet as one box with one.
                each.sort_by_key(Vec::len);
                each.into_iter().reduce(|all, boxes| meet(&all, &boxes)).unwrap_or_default()
            }
            (Node::Or(terms), true) | (Node::And(terms), false) => {
                capped(terms.iter().flat_map(|term| self.boxes(term, wanted)).collect())
            }
            (Node::Compare { slot, operator, value: EdmValue::String(text) }, _) => {
                let operator = if wanted { *operator } else { negated(*operator) };
                let span = Span::of(operator, text);
                if Some(*slot) == self.partition {
                    vec![KeyBox { partition: span, row: Span::default() }]
                } else if Some(*slot) == self.row {
                    vec![KeyBox { partition: Span::default(), row: span }]
                } else {
                    vec![KeyBox::default()]
                }
            }
            (Node::Compare { .. } | Node::Flag { .. } | Node::Constant(_), _) => vec![KeyBox::default()],
        }
    }
}

/// Keys are always there and always strings, so that `not` is the opposite comparison.
fn negated(operator: Operator) -> Operator {
    match operator {
        Operator::Eq => Operator::Ne,
        Operator::Ne => Operator::Eq,
        Operator::Gt => Operator::Le,
        Operator::Ge => Operator::Lt,
        Operator::Lt => Operator::Ge,
        Operator::Le => Operator::Gt,
    }
}

fn capped(boxes: Vec<KeyBox>) -> Vec<KeyBox> {
    if boxes.len() > BOXES_MAX { vec![KeyBox::default()] } else { boxes }
}

fn meet(left: &[KeyBox], right: &[KeyBox]) -> Vec<KeyBox> {
    // Either side alone is a superset of what both hold.
    if left.len() * right.len() > BOXES_MAX {
        return if left.len() < right.len() { left.to_vec() } else { right.to_vec() };
    }
    let pairs = left.iter().flat_map(|a| right.iter().map(move |b| (a, b)));
    pairs
        .map(|(a, b)| KeyBox { partition: a.partition.meet(&b.partition), row: a.row.meet(&b.row) })
        .filter(|both| !both.partition.is_empty() && !both.row.is_empty())
        .collect()
}

impl Span {
    fn of(operator: Operator, text: &str) -> Self {
        let text: Arc<str> = text.into();
        let including = || Bound::Including(Arc::clone(&text));
        let excluding = || Bound::Excluding(Arc::clone(&text));
        let (low, high) = match operator {
            Operator::Eq => (including(), including()),
            Operator::Ne => (Bound::Open, Bound::Open),
            Operator::Gt => (excluding(), Bound::Open),
            Operator::Ge => (including(), Bound::Open),
            Operator::Lt => (Bound::Open, excluding()),
            Operator::Le => (Bound::Open, including()),
        };
        Self { low, high }
    }

    fn meet(&self, other: &Span) -> Span {
        Span {
            low: tighter(&self.low, &other.low, Ordering::Greater).clone(),
            high: tighter(&self.high, &other.high, Ordering::Less).clone(),
        }
    }

    pub fn is_empty(&self) -> bool {
        let (Some((low, low_in)), Some((high, high_in))) = (self.low.parts(), self.high.parts()) else {
            return false;
        };
        match compare_ordinal(low, high) {
            Ordering::Less => false,
            Ordering::Equal => !(low_in && high_in),
            Ordering::Greater => true,
        }
    }

    /// The one key that the span holds, if it is one.
    pub fn point(&self) -> Option<&str> {
        match (&self.low, &self.high) {
            (Bound::Including(low), Bound::Including(high)) if low == high => Some(low),
            _ => None,
        }
    }
}

impl Bound {
    fn parts(&self) -> Option<(&str, bool)> {
        match self {
            Bound::Open => None,
            Bound::Including(text) => Some((text, true)),
            Bound::Excluding(text) => Some((text, false)),
        }
    }
}

/// The bound that leaves less; `inward` is how a tighter one compares with a looser one.
fn tighter<'a>(a: &'a Bound, b: &'a Bound, inward: Ordering) -> &'a Bound {
    let (Some((left, _)), Some((right, right_in))) = (a.parts(), b.parts()) else {
        return if matches!(a, Bound::Open) { b } else { a };
    };
    match compare_ordinal(left, right) {
        Ordering::Equal if right_in => a,
        Ordering::Equal => b,
        ordering if ordering == inward => a,
        _ => b,
    }
}
