//! Which handles Force Close Handles means.

use lazuli_model::error::Failure;

use crate::head::Head;
use crate::headers;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handles {
    /// `*`
    All,
    One(u64),
}

/// `x-ms-handle-id`; what is no number was recorded to be refused.
pub fn handles(head: &Head) -> Result<Handles, Failure> {
    const NAME: &str = headers::X_MS_HANDLE_ID;
    match head.required_header(NAME)? {
        "*" => Ok(Handles::All),
        text => text.parse().map(Handles::One).map_err(|_| Failure::invalid_header(NAME, text)),
    }
}

/// `x-ms-recursive`: also those of everything beneath a directory.
pub fn is_recursive(head: &Head) -> Result<bool, Failure> {
    head.flag(headers::X_MS_RECURSIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::head;

    #[test]
    fn all_or_one() {
        let of = |text| handles(&head(&[("x-ms-handle-id", text)]));
        assert_eq!((of("*").ok(), of("17").ok()), (Some(Handles::All), Some(Handles::One(17))));
        for text in ["nonExistantHandleId", "-1", "**"] {
            assert_eq!(of(text).unwrap_err().code.name(), "InvalidHeaderValue", "{text}");
        }
        assert_eq!(handles(&head(&[])).unwrap_err().code.name(), "MissingRequiredHeader");
        assert!(is_recursive(&head(&[("x-ms-recursive", "true")])).unwrap());
    }
}
