//! User metadata, `x-ms-meta-<name>: <value>` (common.md section 5).

use crate::error::{ErrorCode, Failure};

/// Names and values together.
pub const METADATA_LIMIT: usize = 8 * 1024;

/// Order and case are kept as sent; names are compared without case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata(Vec<(String, String)>);

impl Metadata {
    /// The pairs as they came in headers, the prefix `x-ms-meta-` already taken off.
    pub fn from_pairs(pairs: impl IntoIterator<Item = (String, String)>) -> Result<Self, Failure> {
        let mut metadata = Vec::new();
        let mut size = 0;
        for (name, value) in pairs {
            let value = value.trim();
            check_name(&name, value)?;
            size += name.len() + value.len();
            if metadata.iter().any(|(other, _): &(String, String)| other.eq_ignore_ascii_case(&name)) {
                return Err(ErrorCode::InvalidMetadata.into());
            }
            metadata.push((name, value.to_owned()));
        }
        if size > METADATA_LIMIT {
            return Err(ErrorCode::MetadataTooLarge.into());
        }
        Ok(Metadata(metadata))
    }

    /// For values that were checked when they were stored.
    pub fn from_stored(pairs: Vec<(String, String)>) -> Self {
        Metadata(pairs)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn into_pairs(self) -> Vec<(String, String)> {
        self.0
    }

    /// What Create Queue compares: names without case, values exactly, order not at all.
    pub fn same_as(&self, other: &Metadata) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

/// Names are C# identifiers.
fn check_name(name: &str, value: &str) -> Result<(), Failure> {
    let mut chars = name.chars();
    let Some(first) = chars.next() else {
        return Err(Failure::new(ErrorCode::EmptyMetadataKey).detail("MetadataValue", value));
    };
    let identifier =
        (first.is_alphabetic() || first == '_') && chars.all(|c| c.is_alphanumeric() || c == '_');
    if identifier { Ok(()) } else { Err(ErrorCode::InvalidMetadata.into()) }
}

#[cfg(test)]
mod tests;
