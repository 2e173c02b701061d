//! Logs: structured lines on stderr, written by a thread of its own. Who does not read our stderr slows nobody.

mod redact;
mod writer;

use std::fs::OpenOptions;

use tracing_subscriber::filter::{EnvFilter, LevelFilter};
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
    let filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::INFO.into())
        .parse(directives)
        .map_err(|error| ConfigError::setting("LAZULI_LOG", error.to_string()))?;
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
            let everything = EnvFilter::new("debug,hyper=info,h2=info,rustls=info");
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
