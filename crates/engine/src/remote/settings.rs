//! The options as they are used: parsed and checked once.

use super::options::{ConnectError, Dialect, Reads, RemoteOptions};
use super::sql::Texts;
use super::tls;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The longest wait for a connection.
pub(super) const CONNECT_PATIENCE: Duration = Duration::from_secs(3);

pub(super) struct Settings {
    pub nodes: Vec<Node>,
    pub schema: String,
    pub texts: Texts,
    pub strict: bool,
    pub dialect: Dialect,
    pub commit_lanes: usize,
    pub read_lanes: usize,
    pub readers: usize,
    pub unsafe_database: bool,
}

/// A node that may be the primary.
#[derive(Clone)]
pub(super) struct Node {
    /// For the log.
    pub name: String,
    pub config: Config,
    pub tls: Option<MakeRustlsConnect>,
}

impl Settings {
    pub fn new(options: &RemoteOptions) -> Result<Self, ConnectError> {
        check_schema(&options.schema)?;
        let (url, wanted) = tls::take_parameters(&options.database)?;
        // The driver's text may repeat the address, and with it a password.
        let mut base: Config =
            url.parse().map_err(|_| ConnectError::Address("not a URL of PostgreSQL".into()))?;
        if let Some(password) = &options.password {
            base.password(password);
        }
        if base.get_hosts().is_empty() {
            return Err(ConnectError::Address("no host".into()));
        }
        let mut nodes = Vec::new();
        for (at, host) in base.get_hosts().iter().enumerate() {
            let ports = base.get_ports();
            let port = ports.get(at).or(ports.first()).copied().unwrap_or(5_432);
            nodes.push(node(&base, host, port, &wanted)?);
        }
        let strict = options.reads.map_or(nodes.len() > 1, |reads| reads == Reads::Strict);
        Ok(Self {
            nodes,
            schema: options.schema.clone(),
            texts: Texts::of(&options.schema),
            strict,
            dialect: options.dialect,
            commit_lanes: options.commit_lanes.clamp(1, 16),
            read_lanes: options.read_lanes.clamp(1, 16),
            readers: options.readers.clamp(2, 256),
            unsafe_database: options.unsafe_database,
        })
    }
}

/// It goes into statements as it is.
fn check_schema(name: &str) -> Result<(), ConnectError> {
    let right = |byte: u8| byte == b'_' || byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let starts_right = name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    if !starts_right || name.len() > 48 || !name.bytes().all(right) || name.starts_with("pg_") {
        return Err(ConnectError::Schema);
    }
    Ok(())
}

fn node(base: &Config, host: &Host, port: u16, wanted: &tls::Wanted) -> Result<Node, ConnectError> {
    let mut config = Config::new();
    config.port(port).application_name("lazuli").connect_timeout(CONNECT_PATIENCE);
    config
        .keepalives(true)
        .keepalives_idle(Duration::from_secs(5))
        .keepalives_interval(Duration::from_secs(5));
    config.tcp_user_timeout(Duration::from_secs(10));
    if let Some(user) = base.get_user() {
        config.user(user);
    }
    if let Some(password) = base.get_password() {
        config.password(password);
    }
    if let Some(database) = base.get_dbname() {
        config.dbname(database);
    }
    if let Some(options) = base.get_options() {
        config.options(options);
    }
    let (name, loopback) = match host {
        Host::Tcp(name) => {
            config.host(name);
            let address = name.parse::<std::net::IpAddr>();
            (format!("{name}:{port}"), name == "localhost" || address.is_ok_and(|ip| ip.is_loopback()))
        }
        Host::Unix(path) => {
            config.host_path(path);
            (path.display().to_string(), true)
        }
    };
    let tls = wanted.connector(loopback)?;
    config.ssl_mode(if tls.is_some() { SslMode::Require } else { SslMode::Disable });
    Ok(Node { name, config, tls })
}

#[cfg(test)]
mod tests {
    use super::super::options::Bytes;
    use super::*;

    fn settings(url: &str) -> Result<Settings, ConnectError> {
        Settings::new(&RemoteOptions::new(url, Bytes::memory()))
    }

    #[test]
    fn every_host_is_a_node() {
        let settings = settings("postgres://me:secret@a:1,127.0.0.1:2/things?sslmode=disable").unwrap();
        let names: Vec<_> = settings.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["a:1", "127.0.0.1:2"]);
        assert!(settings.strict && settings.nodes.iter().all(|node| node.tls.is_none()));
        assert_eq!(settings.nodes[1].config.get_dbname(), Some("things"));
    }

    #[test]
    fn what_is_wrong_is_refused_and_nothing_secret_repeated() {
        for url in [
            "postgres://me:secret@",
            "postgres://me:secret@a:b/",
            "me:secret",
            "postgres://me:secret@a?sslmode=prefer",
            "postgres://me:secret@a?target_session_attrs=any",
            "postgres://me:secret@a?secret",
            "postgres://me:sec?ret=secret@a",
            "host=a password=secret",
        ] {
            let error = settings(url).map(drop).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        for schema in ["", "a b", "A", "1a", "pg_x", "a\"", &"a".repeat(49)] {
            let mut options = RemoteOptions::new("postgres://a/", Bytes::memory());
            options.schema = schema.into();
            assert!(matches!(Settings::new(&options), Err(ConnectError::Schema)), "{schema}");
        }
    }

    #[test]
    fn what_the_driver_is_told_reaches_it() {
        let told =
            settings("postgresql://a?user=me&dbname=things&options=-c%20x.y%3D1&sslmode=require").unwrap();
        let config = &told.nodes[0].config;
        assert_eq!((config.get_user(), config.get_dbname()), (Some("me"), Some("things")));
        assert_eq!(config.get_options(), Some("-c x.y=1"));
    }

    #[test]
    fn only_a_node_on_this_machine_goes_without_tls_unasked() {
        assert!(settings("postgres://me@db.example/x").unwrap().nodes[0].tls.is_some());
        assert!(settings("postgres://me@localhost/x").unwrap().nodes[0].tls.is_none());
        assert!(settings("postgres://me@localhost/x?sslmode=verify-full").unwrap().nodes[0].tls.is_some());
    }
}
