//! The printed reference: docs/operations.md.

pub fn operations_markdown() -> String {
    String::new()
}
