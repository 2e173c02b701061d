//! What the log says once at start: settings that do nothing, and settings that deserve a warning.

use crate::config::Config;

pub fn log(config: &Config) {
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    if config.well_known_key_exposed {
        tracing::warn!("the development account, whose key everybody knows, is served beyond loopback");
    }
    if config.test_clock {
        tracing::warn!("the clock can be moved through the admin endpoint (--test-clock)");
    }
}
