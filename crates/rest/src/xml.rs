//! XML as the service writes it and as strictly as it must be read.

mod reader;
mod writer;

pub use reader::{Element, parse, refuse_element, walk_list};
pub use writer::{DECLARATION, Writer, escape, is_legal};

#[cfg(test)]
mod tests;
