//! The part of OData that the Table service speaks: typed values, `$filter`, and what a filter says about keys.

mod bounds;
mod filter;
mod lexer;
mod parser;
mod value;

pub use bounds::{Bound, KeyBox, Span};
pub use filter::{Filter, Slots};
pub use value::{EdmType, EdmValue, ValueRef, compare_ordinal};

#[cfg(test)]
mod tests;
