//! The variables of the process: those of the emulator that users already have set, and `LAZULI_*` that mean nothing.
//! Those that mean something are read with the flags.

use super::{ConfigError, List};
use crate::args::Settings;

const PREFIX: &str = "LAZULI_";
/// Read elsewhere than with the flags' settings.
const OTHERS: [&str; 3] = ["LAZULI_CONFIG", "LAZULI_LOG", "LAZULI_DATABASE_PASSWORD"];
/// Of the project's own tests and tools, which start servers in an environment of theirs.
const TOOLS: [&str; 5] = ["LAZULI_TEST_", "LAZULI_FUZZ_", "LAZULI_REPLAY", "LAZULI_TOOLS", "LAZULI_PRINT"];
/// A name that differs from a setting's by no more edits is taken for a slip.
const SLIP: usize = 2;

/// Read once, so that tests can hand in their own.
#[derive(Clone, Default)]
pub struct Environment {
    pub azurite_accounts: Option<String>,
    pub azurite_db: Option<String>,
    pub azurite_skip_api_version_check: Option<String>,
    /// A flag would show it to everybody who lists processes.
    pub database_password: Option<String>,
    /// An argument is a URL of a database with a password in it.
    pub password_in_arguments: bool,
    /// The first variable of our prefix that nothing reads.
    pub unknown: Option<String>,
}

impl Environment {
    pub fn read() -> Self {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
        Self {
            azurite_accounts: variable("AZURITE_ACCOUNTS"),
            azurite_db: variable("AZURITE_DB"),
            azurite_skip_api_version_check: variable("AZURITE_SKIP_API_VERSION_CHECK"),
            database_password: variable("LAZULI_DATABASE_PASSWORD"),
            password_in_arguments: std::env::args_os()
                .any(|argument| has_password(&argument.to_string_lossy())),
            unknown: unknown(names),
        }
    }

    pub fn settings(&self) -> Result<Settings, ConfigError> {
        if let Some(name) = &self.unknown {
            return Err(ConfigError::UnknownVariable { name: name.clone(), nearest: nearest(name).0 });
        }
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

/// Whether this is a URL of a database with a password in it.
fn has_password(argument: &str) -> bool {
    let decoded = percent_encoding::percent_decode_str(argument).decode_utf8_lossy();
    let is_of_a_connection = ["host=", "user=", "dbname="].iter().any(|word| decoded.contains(word));
    if is_of_a_connection && decoded.contains("password") {
        return true;
    }
    let Some((_, behind)) = decoded.split_once("postgres://").or(decoded.split_once("postgresql://")) else {
        return false;
    };
    let authority = behind.split(['/', '?']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    user.contains(':') || behind.contains("password=")
}

/// The first name, in alphabetical order, that has our prefix and that nothing reads.
pub fn unknown(names: impl Iterator<Item = String>) -> Option<String> {
    let is_unknown = |name: &String| {
        let is_tool = || TOOLS.iter().any(|tool| name.starts_with(tool)) && nearest(name).1 > SLIP;
        name.starts_with(PREFIX)
            && !known().any(|known| known == name)
            && !is_service_link(name)
            && !is_tool()
    };
    names.filter(is_unknown).min()
}

fn known() -> impl Iterator<Item = &'static str> {
    Settings::NAMES.iter().map(|(_, variable)| *variable).chain(OTHERS)
}

/// The known name with the fewest edits between the two, and how many.
fn nearest(name: &str) -> (&'static str, usize) {
    let distances = known().map(|known| (known, strsim::osa_distance(known, name)));
    distances.min_by_key(|(_, distance)| *distance).unwrap_or((OTHERS[0], usize::MAX))
}

/// Kubernetes tells each container of a pod about every Service, in variables that begin with the Service's name: one that
/// is called `lazuli` or `lazuli-blob` sets these.
fn is_service_link(name: &str) -> bool {
    let of_port = |rest: &str| {
        let (port, protocol) = rest.split_once('_').unwrap_or((rest, ""));
        port.bytes().all(|digit| digit.is_ascii_digit())
            && ["TCP", "UDP", "SCTP"].iter().any(|known| protocol.starts_with(known))
    };
    name == "LAZULI_PORT"
        || name.ends_with("_SERVICE_HOST")
        || name.contains("_SERVICE_PORT")
        || name.split_once("_PORT_").is_some_and(|(_, rest)| of_port(rest))
}

#[cfg(test)]
mod tests {
    use super::has_password;

    #[test]
    fn a_password_among_the_arguments_is_noticed() {
        for with in [
            "postgres://me:secret@a:1,b:2/x",
            "--database=postgresql://me:s@a/x",
            "postgres://a/x?password=s",
            "postgres://a/x?%70assword=s",
            "host=127.0.0.1 user=me password=s dbname=x",
        ] {
            assert!(has_password(with), "{with}");
        }
        for without in
            ["postgres://me@a:1,b:2/x?sslmode=disable", "postgres://a:1/x", "http://me:secret@a/", ""]
        {
            assert!(!has_password(without), "{without}");
        }
    }
}
