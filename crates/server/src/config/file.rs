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
        .map_err(|error| ConfigError::Toml { path: path.to_owned(), reason: without_the_text(text, &error) })
}

/// What is wrong, and where. The line itself may hold a password, and so may a value that is of the wrong kind.
fn without_the_text(text: &str, error: &toml::de::Error) -> String {
    let message = match error.message().split_once(", expected ") {
        Some((wrong, expected)) if wrong.starts_with("invalid") => format!("expected is {expected}"),
        _ => error.message().split('"').step_by(2).collect::<Vec<_>>().join("..."),
    };
    let before = error.span().and_then(|span| text.get(..span.start));
    match before {
        Some(before) => {
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().map_or(0, |begun| begun.chars().count()) + 1;
            format!("line {line}, column {column}: {message}")
        }
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_without_the_text_that_may_be_a_secret() {
        for text in [
            "host = \"a\"\ndatabse = \"postgres://u:s3cret@h/d\"",
            "host = \"a\"\nadminToken = 12345secret",
            "host = \"a\"\nblobPort = \"s3cret\"",
            "host = \"a\"\nadminToken = \"s3cret",
        ] {
            let error = parse(Path::new("a.toml"), text).map(drop).expect_err(text).to_string();
            assert!(error.contains("line 2") && !error.contains("cret"), "{error}");
        }
    }
}
