//! The TOML file: the flags' names as keys.

use std::path::Path;

use super::ConfigError;
use crate::args::Settings;

pub fn read(path: &Path) -> Result<Settings, ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| ConfigError::File { path: path.to_owned(), reason: error.to_string() })?;
    parse(path, &text)
}

pub fn parse(path: &Path, text: &str) -> Result<Settings, ConfigError> {
    toml::from_str(text)
        .map_err(|error| ConfigError::Toml { path: path.to_owned(), reason: error.to_string() })
}
