//! A database and a place for bytes, instead of a directory.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use std::time::Duration;

use lazuli_engine::{ConnectError, Dialect, ObjectOptions, Reads, RemoteBytes, RemoteOptions};

use super::{ConfigError, Environment};
use crate::args::{DialectMode, ReadsMode, Settings};

/// No password is longer.
const LONGEST_PASSWORD: u64 = 4096;

#[derive(Clone, PartialEq, Eq)]
pub struct Database {
    pub url: String,
    pub password: Option<String>,
    pub schema: String,
    pub reads: Option<Reads>,
    pub bytes: String,
    /// In bytes.
    pub cache: usize,
    pub retention: Duration,
    pub dialect: Dialect,
}

/// The URL may hold a password.
impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl Database {
    pub fn options(&self) -> Result<RemoteOptions, ConnectError> {
        let objects =
            ObjectOptions { cache_bytes: self.cache, retention: self.retention, ..ObjectOptions::default() };
        let bytes = RemoteBytes::at(&self.bytes, objects)?;
        let mut options = RemoteOptions::new(self.url.clone(), bytes);
        options.password.clone_from(&self.password);
        options.schema.clone_from(&self.schema);
        options.reads = self.reads;
        options.dialect = self.dialect;
        Ok(options)
    }
}

/// `None` when no database is named.
pub fn database(settings: &Settings, environment: &Environment) -> Result<Option<Database>, ConfigError> {
    let wrong = |setting, reason: &str| Err(ConfigError::setting(setting, reason));
    let (url, bytes) = match (&settings.database, &settings.bytes) {
        (None, None) => {
            let without = [
                ("databasePasswordFile", settings.database_password_file.is_some()),
                ("schema", settings.schema.is_some()),
                ("reads", settings.reads.is_some()),
                ("byteCache", settings.byte_cache.is_some()),
                ("byteRetention", settings.byte_retention.is_some()),
                ("dialect", settings.dialect.is_some()),
            ];
            return match without.into_iter().find(|(_, given)| *given) {
                Some((setting, _)) => {
                    wrong(setting, "it says something about a database, and --database names none")
                }
                None => Ok(None),
            };
        }
        (Some(url), Some(bytes)) => (url, bytes),
        (Some(_), None) => {
            return wrong(
                "database",
                "bytes of blobs are not kept in it: say where, with --bytes (s3://, az:// or file://)",
            );
        }
        (None, Some(_)) => return wrong("bytes", "they are kept beside a database: name it with --database"),
    };
    if settings.in_memory_persistence.unwrap_or(false) || settings.location.is_some() {
        return Err(ConfigError::DatabaseWithLocation);
    }
    if environment.password_in_arguments {
        return wrong(
            "database",
            "a password in a flag is shown to everybody who lists processes: give it by \
             --databasePasswordFile or LAZULI_DATABASE_PASSWORD",
        );
    }
    let password = match (&settings.database_password_file, &environment.database_password) {
        (Some(_), Some(_)) => {
            return wrong(
                "databasePasswordFile",
                "LAZULI_DATABASE_PASSWORD is set, too: give one of the two",
            );
        }
        (Some(path), None) => Some(read_password(path)?),
        (None, given) => given.clone(),
    };
    let reads = settings.reads.map(|reads| match reads {
        ReadsMode::Strict => Reads::Strict,
        ReadsMode::Primary => Reads::Primary,
    });
    let cache =
        settings.byte_cache.map_or(ObjectOptions::default().cache_bytes, |mib| mib.saturating_mul(1 << 20));
    Ok(Some(Database {
        url: url.clone(),
        password,
        schema: settings.schema.clone().unwrap_or_else(|| "lazuli".to_owned()),
        reads,
        bytes: bytes.clone(),
        cache,
        retention: Duration::from_secs(u64::from(settings.byte_retention.unwrap_or(0)) * 3600),
        dialect: match settings.dialect {
            None | Some(DialectMode::Locks) => Dialect::Locks,
            Some(DialectMode::Serializable) => Dialect::Serializable,
        },
    }))
}

fn read_password(path: &Path) -> Result<String, ConfigError> {
    let wrong = |reason: String| ConfigError::File { path: path.to_owned(), reason };
    let mut text = String::new();
    let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    file.take(LONGEST_PASSWORD + 1).read_to_string(&mut text).map_err(|error| wrong(error.to_string()))?;
    let password = text.trim_end_matches(['\n', '\r']);
    if password.is_empty() || password.len() as u64 > LONGEST_PASSWORD {
        return Err(wrong("one line with a password is expected".into()));
    }
    Ok(password.to_owned())
}
