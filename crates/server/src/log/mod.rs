//! Logs: structured lines on stderr, written by a thread of its own. Who does not read our stderr slows nobody.

mod redact;
mod writer;

use std::fs::OpenOptions;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

pub use redact::redact_query;
pub use writer::Flush;
use writer::Lines;

use crate::args::LogFormat;
use crate::config::{ConfigError, LogConfig};

/// Target of the line per request; filtered by `--silent`, not by level.
pub const ACCESS: &str = "access";

/// Starts logging for the whole process. The guard writes what is left when it is dropped.
pub fn start(config: &LogConfig) -> Result<Flush, ConfigError> {
    let (lines, flush) = Lines::start(std::io::stderr());
    let directives = std::env::var("LAZULI_LOG").unwrap_or_else(|_| "info".to_owned());
    let filter = filter(&directives).map_err(|reason| ConfigError::setting("LAZULI_LOG", reason))?;
    let layer = match config.format {
        LogFormat::Text => fmt::layer().with_ansi(false).with_writer(lines).with_filter(filter).boxed(),
        LogFormat::Json => {
            fmt::layer().json().flatten_event(true).with_writer(lines).with_filter(filter).boxed()
        }
    };
    let debug = match &config.debug_file {
        None => None,
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let file =
                file.map_err(|error| ConfigError::File { path: path.clone(), reason: error.to_string() })?;
            let quiet = ["hyper", "h2", "rustls"].map(|target| (target, LevelFilter::INFO));
            let everything = Targets::new().with_default(LevelFilter::DEBUG).with_targets(quiet);
            Some(
                fmt::layer()
                    .with_ansi(false)
                    .with_writer(std::sync::Mutex::new(file))
                    .with_filter(everything),
            )
        }
    };
    let registry = tracing_subscriber::registry().with(layer).with(debug);
    // Fails only when a subscriber is already there (tests in one process); the first one stays.
    let _ = registry.try_init();
    Ok(flush)
}

/// `debug`, `lazuli_service=debug` or several of them with commas. What nothing is said about is logged at info.
fn filter(directives: &str) -> Result<Targets, String> {
    let targets: Targets = directives.parse().map_err(|error| format!("`{directives}`: {error}"))?;
    Ok(match targets.default_level() {
        Some(_) => targets,
        None => targets.with_default(LevelFilter::INFO),
    })
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn what_nothing_is_said_about_is_logged_at_info() {
        let enabled = |directives: &str, target: &str, level: Level| {
            filter(directives).expect("readable").would_enable(target, &level)
        };
        assert!(enabled("lazuli_service=debug", "lazuli_service::upkeep", Level::DEBUG));
        assert!(enabled("lazuli_service=debug", "lazuli_rest", Level::INFO));
        assert!(!enabled("lazuli_service=debug", "lazuli_rest", Level::DEBUG));
        assert!(enabled("debug", "lazuli_rest", Level::DEBUG));
        assert!(!enabled("warn", "lazuli_rest", Level::INFO));
        assert!(enabled("info,request=debug", "request", Level::DEBUG));
        assert!(!enabled("info", "request", Level::DEBUG));
        assert!(filter("lazuli=much").is_err());
    }
}
