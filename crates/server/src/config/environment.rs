//! The variables of the emulator that users already have set. Ours (`LAZULI_*`) are read with the flags.

use super::{ConfigError, List};
use crate::args::Settings;

/// Read once, so that tests can hand in their own.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    pub azurite_accounts: Option<String>,
    pub azurite_db: Option<String>,
    pub azurite_skip_api_version_check: Option<String>,
}

impl Environment {
    pub fn read() -> Self {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            azurite_accounts: variable("AZURITE_ACCOUNTS"),
            azurite_db: variable("AZURITE_DB"),
            azurite_skip_api_version_check: variable("AZURITE_SKIP_API_VERSION_CHECK"),
        }
    }

    pub fn settings(&self) -> Result<Settings, ConfigError> {
        if self.azurite_db.is_some() {
            return Err(ConfigError::ExternalDatabase);
        }
        let accounts = self.azurite_accounts.as_deref().map(|text| match text.parse::<List>() {
            Ok(list) => list,
            Err(never) => match never {},
        });
        let skip =
            self.azurite_skip_api_version_check.as_deref().map(|text| text.eq_ignore_ascii_case("true"));
        Ok(Settings { accounts, skip_api_version_check: skip, ..Settings::default() })
    }
}
