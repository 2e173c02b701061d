use std::path::Path;
use std::time::Duration;

use clap::{CommandFactory, Parser};
use lazuli_rest::auth::accounts::DEVELOPMENT_KEY;

use super::*;
use crate::args::{Cli, Settings};

fn config(flags: &[&str]) -> Result<Config, ConfigError> {
    with(flags, &Environment::default())
}

fn with(flags: &[&str], environment: &Environment) -> Result<Config, ConfigError> {
    let cli = Cli::try_parse_from([&["lazuli"], flags].concat()).expect("flags are accepted");
    resolve(&cli.serve, environment)
}

fn message(flags: &[&str]) -> String {
    config(flags).expect_err("refused").to_string()
}

fn names(config: &Config) -> Vec<&str> {
    config.accounts.iter().map(|account| account.name.as_str()).collect()
}

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn defaults_are_the_emulators() {
    let config = config(&[]).expect("starts");
    let ports: Vec<_> =
        config.listeners.iter().map(|listener| (listener.service, listener.address.to_string())).collect();
    let expected = [
        (Service::Blob, "127.0.0.1:10000"),
        (Service::Queue, "127.0.0.1:10001"),
        (Service::Table, "127.0.0.1:10002"),
        (Service::File, "127.0.0.1:10003"),
        (Service::Dfs, "127.0.0.1:10004"),
    ];
    assert_eq!(ports, expected.map(|(service, address)| (service, address.to_owned())));
    assert_eq!(config.admin.to_string(), "127.0.0.1:10010");
    assert_eq!(names(&config), ["devstoreaccount1"]);
    assert_eq!(config.storage, Storage::Directory("lazuli-data".into()));
}

#[test]
fn websites_have_a_port_if_they_are_given_one() {
    let web = |args: &[&str]| config(args).expect("starts").web.map(|address| address.to_string());
    assert_eq!(web(&[]), None);
    assert_eq!(web(&["--webPort", "8080"]).as_deref(), Some("127.0.0.1:8080"));
    assert_eq!(web(&["--webHost", "127.0.0.2"]).as_deref(), Some("127.0.0.2:10005"));
    assert_eq!(web(&["--host", "127.0.0.3", "--webPort", "0"]).as_deref(), Some("127.0.0.3:0"));
}

/// The list printed by `azurite --help`, 3.37.
#[test]
fn every_flag_of_the_emulator_is_accepted() {
    let config = config(&[
        "--blobHost",
        "127.0.0.1",
        "--blobPort",
        "1",
        "--blobKeepAliveTimeout",
        "5",
        "--queueHost",
        "localhost",
        "--queuePort",
        "2",
        "--queueKeepAliveTimeout",
        "900",
        "--tableHost",
        "::1",
        "--tablePort",
        "3",
        "--tableKeepAliveTimeout",
        "5",
        "--location",
        "/data",
        "--debug",
        "/tmp/debug.log",
        "--silent",
        "--loose",
        "--skipApiVersionCheck",
        "--disableProductStyleUrl",
        "--extentMemoryLimit",
        "512",
        "--oauth",
        "basic",
        "--cert",
        "c.pem",
        "--key",
        "k.pem",
        "--disableTelemetry",
    ])
    .expect("accepted");
    assert_eq!(config.listeners[1].address.to_string(), "127.0.0.1:2");
    assert_eq!(config.listeners[2].address.to_string(), "[::1]:3");
    assert_eq!(config.listeners[0].keep_alive, Duration::from_secs(600), "never shorter than ten minutes");
    assert_eq!(config.listeners[1].keep_alive, Duration::from_secs(900));
    assert!(config.path_style_only && !config.log.access);
    assert_eq!(config.oauth, Oauth::Basic);
}

#[test]
fn short_flags_of_the_emulator() {
    let config = config(&["-l", "/data", "-s", "-L", "-d", "/tmp/debug.log"]).expect("accepted");
    assert_eq!(config.storage, Storage::Directory("/data/lazuli-data".into()));
    assert!(!config.log.access && config.log.debug_file.is_some());
    assert!(Cli::try_parse_from(["lazuli", "-v"]).expect("accepted").version);
}

#[test]
fn flags_go_before_variables_before_the_file() {
    let dir = std::env::temp_dir().join(format!("lazuli-config-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("directory");
    let path = dir.join("lazuli.toml");
    std::fs::write(&path, "accounts = [\"fromfile:Zm9v\"]\nblobPort = 7\nqueuePort = 8\n").expect("file");
    let file = path.to_str().expect("text");

    let from_file = config(&["--config", file]).expect("read");
    assert_eq!(from_file.accounts[0].name, "fromfile");

    let environment = Environment {
        azurite_accounts: Some("fromenv:Zm9v:YmFy;other:Zm9v".to_owned()),
        ..Environment::default()
    };
    let from_environment = with(&["--config", file, "--blobPort", "9"], &environment).expect("read");
    assert_eq!(from_environment.accounts[0].name, "fromenv");
    assert_eq!(from_environment.accounts[0].keys().len(), 2);
    assert_eq!(from_environment.accounts.len(), 2);
    assert_eq!(from_environment.listeners[0].address.port(), 9, "flag before file");
    assert_eq!(from_environment.listeners[1].address.port(), 8, "file where nothing else speaks");

    let from_flags = with(&["--config", file, "--accounts", "fromflag:Zm9v"], &environment).expect("read");
    assert_eq!(from_flags.accounts[0].name, "fromflag");
    std::fs::remove_dir_all(&dir).expect("removed");
}

#[test]
fn an_unknown_key_in_the_file_is_an_error_and_not_ignored() {
    let error = file::parse(Path::new("x.toml"), "blobport = 1").expect_err("refused");
    assert!(error.to_string().contains("blobport"), "{error}");
}

#[test]
fn the_well_known_key_stays_on_loopback() {
    for host in ["--blobHost", "--queueHost", "--tableHost", "--fileHost", "--dfsHost"] {
        assert!(message(&[host, "0.0.0.0"]).contains("--allow-well-known-key-on-network"), "{host}");
        assert!(message(&[host, "::"]).contains("--allow-well-known-key-on-network"), "{host}");
        config(&[host, "0.0.0.0", "--accounts", "mine:c2VjcmV0"]).expect("own keys may be served anywhere");
    }
    let exposed =
        config(&["--blobHost", "0.0.0.0", "--allow-well-known-key-on-network"]).expect("by explicit wish");
    assert!(exposed.well_known_key_exposed);
    let renamed = format!("other:{}", DEVELOPMENT_KEY);
    assert!(
        message(&["--blobHost", "0.0.0.0", "--accounts", &renamed]).contains("everybody"),
        "whatever the name"
    );
}

#[test]
fn unverified_tokens_stay_on_loopback() {
    let refused = message(&["--blobHost", "0.0.0.0", "--accounts", "mine:c2VjcmV0", "--oauth", "basic"]);
    assert!(refused.contains("--oauthJwks"), "{refused}");
    config(&["--oauth", "basic"]).expect("fine at home");
}

#[test]
fn an_admin_endpoint_beyond_loopback_needs_a_token() {
    let own = ["--adminHost", "0.0.0.0", "--accounts", "mine:c2VjcmV0"];
    assert!(message(&own).contains("--adminToken"));
    config(&[&own[..], &["--adminToken", "t"]].concat()).expect("guarded");
}

#[test]
fn contradictions_and_what_is_not_supported_are_refused_with_advice() {
    assert!(message(&["--inMemoryPersistence", "-l", "/data"]).contains("one of the two"));
    assert!(message(&["--cert", "a.pfx", "--pwd", "x"]).contains("openssl"));
    assert!(message(&["--cert", "a.pem"]).contains("--key"));
    assert!(message(&["--oauthIssuer", "https://issuer"]).contains("--oauthJwks"));
    let database = Environment { azurite_db: Some("mysql://x".to_owned()), ..Environment::default() };
    assert!(with(&[], &database).expect_err("refused").to_string().contains("AZURITE_DB"));
    for accounts in ["a/b:Zm9v", "name", "name:not*base64", "name:Zm9v:Zm9v:Zm9v", "name:Zm9v;name:Zm9v", ""]
    {
        let given = format!("--accounts={accounts}");
        assert!(message(&[&given]).contains("account"), "{accounts}");
    }
}

#[test]
fn names_to_create_name_an_account_or_mean_the_first() {
    let config = config(&[
        "--accounts",
        "one:Zm9v;two:Zm9v",
        "--createContainers",
        "alpha,two/beta",
        "--createQueues",
        "work",
    ])
    .expect("accepted");
    let wanted: Vec<_> = config
        .create_at_start
        .iter()
        .map(|one| (one.service, one.account.as_str(), one.name.as_str()))
        .collect();
    assert_eq!(
        wanted,
        [(Service::Blob, "one", "alpha"), (Service::Blob, "two", "beta"), (Service::Queue, "one", "work")]
    );
    assert!(message(&["--createContainers", "nobody/x"]).contains("no account nobody"));
}

#[test]
fn one_host_is_for_every_listener_without_a_host_of_its_own() {
    let own = ["--accounts", "mine:c2VjcmV0", "--adminHost", "127.0.0.1"];
    let hosts = |flags: &[&str]| -> Vec<String> {
        let config = config(&[&own[..], flags].concat()).expect("accepted");
        config.listeners.iter().map(|listener| listener.address.ip().to_string()).collect()
    };
    assert_eq!(hosts(&["--host", "0.0.0.0"]), ["0.0.0.0"; 5]);
    assert_eq!(hosts(&["--host", "::"]), ["::"; 5]);
    let mixed = hosts(&["--host", "0.0.0.0", "--queueHost", "localhost"]);
    assert_eq!(mixed, ["0.0.0.0", "127.0.0.1", "0.0.0.0", "0.0.0.0", "0.0.0.0"]);
    // The admin endpoint is a listener, too.
    assert!(message(&["--host", "0.0.0.0", "--accounts", "mine:c2VjcmV0"]).contains("--adminToken"));
    assert!(message(&["--host", "0.0.0.0"]).contains("--allow-well-known-key-on-network"));
    assert!(message(&["--host", "not a host"]).starts_with("host: "));
}

#[test]
fn services_that_are_not_named_are_off() {
    let services = |flags: &[&str]| -> Vec<Service> {
        config(flags).expect("accepted").listeners.iter().map(|listener| listener.service).collect()
    };
    assert_eq!(services(&["--services", "blob"]), [Service::Blob]);
    assert_eq!(services(&["--services", "table, Blob"]), [Service::Blob, Service::Table]);
    let in_file =
        file::parse(Path::new("x.toml"), "services = [\"queue\", \"blob\"]\nhost = \"::1\"").expect("read");
    assert_eq!(in_file.services, Some(List(vec!["queue".to_owned(), "blob".to_owned()])));
    for wrong in ["blobs", "blob,nfs", ","] {
        let refused = message(&["--services", wrong]);
        assert!(refused.contains("blob, queue, table, file, dfs, smb"), "{wrong}: {refused}");
    }
    let refused = message(&["--services", "blob", "--createQueues", "work"]);
    assert!(refused.contains("createQueues") && refused.contains("--services"), "{refused}");
    config(&["--services", "blob", "--queueHost", "0.0.0.0"]).expect("what is off exposes no key");
}

#[test]
fn a_variable_that_means_nothing_is_an_error_and_names_the_nearest() {
    let unknown = |names: &[&str]| environment::unknown(names.iter().map(|name| (*name).to_owned()));
    for (name, nearest) in [
        ("LAZULI_BLOBPORT", "LAZULI_BLOB_PORT"),
        ("LAZULI_LOCATON", "LAZULI_LOCATION"),
        ("LAZULI_TEST_CLOK", "LAZULI_TEST_CLOCK"),
        ("LAZULI_LOGS", "LAZULI_LOG"),
        ("LAZULI_CONF", "LAZULI_CONFIG"),
    ] {
        let environment = Environment { unknown: unknown(&["PATH", name]), ..Environment::default() };
        let refused = with(&[], &environment).expect_err("refused").to_string();
        assert!(refused.contains(name) && refused.contains(nearest), "{refused}");
    }
    for (_, variable) in Settings::NAMES {
        assert_eq!(unknown(&[variable]), None);
    }
    // Of our own tools, and of Kubernetes, which tells a pod about each Service.
    let others = [
        "LAZULI_TEST_CONNECTION_STRING",
        "LAZULI_TEST_CLOCK_URL",
        "LAZULI_REPLAY",
        "LAZULI_CONFIG",
        "LAZULI_LOG",
        "LAZULI_SERVICE_HOST",
        "LAZULI_SERVICE_PORT_BLOB",
        "LAZULI_PORT",
        "LAZULI_PORT_10000_TCP",
        "LAZULI_QUEUE_PORT_10001_TCP_ADDR",
        "LAZULIST",
    ];
    assert_eq!(unknown(&others), None);
}

#[test]
fn a_name_that_cannot_be_created_is_told_the_rule() {
    for (flag, names) in [
        ("--createContainers", ["ab", "Upper", "two--hyphens"]),
        ("--createQueues", ["ab", "Upper", "x-"]),
        ("--createTables", ["ab", "1abc", "da-sh"]),
    ] {
        for name in names {
            let refused = message(&[flag, name]);
            assert!(refused.contains(name) && refused.contains("3 to 63 characters"), "{refused}");
            assert!(refused.starts_with(flag.trim_start_matches('-')), "{refused}");
        }
    }
}

#[test]
fn keys_never_show_in_debug_output() {
    let config = config(&["--accounts", "mine:c2VjcmV0"]).expect("accepted");
    assert!(!format!("{config:?}").contains("c2VjcmV0"));
}

#[test]
fn a_database_and_a_place_for_bytes_take_the_place_of_a_directory() {
    let flags = [
        "--database",
        "postgres://me:c2VjcmV0@h/x",
        "--bytes",
        "s3://b",
        "--reads",
        "strict",
        "--schema",
        "mine",
    ];
    let environment = Environment { database_password: Some("b3RoZXI=".into()), ..Environment::default() };
    let config = with(&flags, &environment).expect("accepted");
    let Storage::Database(database) = &config.storage else { panic!("{:?}", config.storage) };
    assert_eq!(
        (database.schema.as_str(), database.bytes.as_str(), database.cache),
        ("mine", "s3://b", 128 << 20)
    );
    assert_eq!(database.password.as_deref(), Some("b3RoZXI="));
    let shown = format!("{config:?}");
    assert!(!shown.contains("c2VjcmV0") && !shown.contains("b3RoZXI="), "{shown}");
}

#[test]
fn every_setting_is_documented() {
    let documentation = include_str!("../../../../docs/configuration.md");
    for (flag, variable) in Settings::NAMES {
        assert!(
            documentation.contains(&format!("`--{flag}")) || documentation.contains(&format!("`--{flag} ")),
            "--{flag}"
        );
        assert!(documentation.contains(&format!("`{variable}`")), "{variable}");
    }
}
