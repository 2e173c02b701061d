//! Names of accounts, containers, queues, shares, blobs and tables (common.md section 5), and paths of files.
//! Wrong characters are InvalidResourceName, a wrong length OutOfRangeInput.

mod file_path;

pub use file_path::{DEPTH_MAX, FilePath, TrailingDots, file_name};

use std::borrow::Cow;

use crate::error::{ErrorCode, Failure};

const WRONG_LENGTH: &str = "The specified resource name length is not within the permissible limits.";

/// Containers whose names the general rule does not allow.
pub const SYSTEM_CONTAINERS: [&str; 4] = ["$root", "$web", "$logs", "$blobchangefeed"];

pub fn validate_account(name: &str) -> Result<(), Failure> {
    check_length(name, 3, 24)?;
    check_characters(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
}

pub fn validate_container(name: &str) -> Result<(), Failure> {
    if SYSTEM_CONTAINERS.contains(&name) { Ok(()) } else { validate_dashed(name) }
}

pub fn validate_queue(name: &str) -> Result<(), Failure> {
    validate_dashed(name)
}

pub fn validate_share(name: &str) -> Result<(), Failure> {
    validate_dashed(name)
}

/// 1 to 1024 characters, at most 254 path segments.
pub fn validate_blob(name: &str) -> Result<(), Failure> {
    check_length(name, 1, 1024)?;
    if name.split('/').count() > 254 {
        return Err(wrong_length());
    }
    Ok(())
}

pub fn validate_table(name: &str) -> Result<(), Failure> {
    check_length(name, 3, 63)?;
    let starts_with_letter = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    check_characters(starts_with_letter && name.bytes().all(|b| b.is_ascii_alphanumeric()))?;
    check_characters(!name.eq_ignore_ascii_case("tables"))
}

/// Lower-case letters, digits and single hyphens, a letter or digit at both ends.
fn validate_dashed(name: &str) -> Result<(), Failure> {
    check_length(name, 3, 63)?;
    let allowed = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    check_characters(allowed && !name.starts_with('-') && !name.ends_with('-') && !name.contains("--"))
}

fn check_length(name: &str, min: usize, max: usize) -> Result<(), Failure> {
    if (min..=max).contains(&name.encode_utf16().count()) { Ok(()) } else { Err(wrong_length()) }
}

fn wrong_length() -> Failure {
    let mut failure = Failure::new(ErrorCode::OutOfRangeInput);
    failure.message = Some(Cow::Borrowed(WRONG_LENGTH));
    failure
}

fn check_characters(allowed: bool) -> Result<(), Failure> {
    if allowed { Ok(()) } else { Err(ErrorCode::InvalidResourceName.into()) }
}

#[cfg(test)]
mod tests;
