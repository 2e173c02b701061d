pub use super::*;
