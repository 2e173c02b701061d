//! What a user meets first: help, completions, the connection string, and messages about what was mistyped.

use std::net::TcpStream;
use std::process::Command;

use crate::client::{Answer, KEY, get, post};
use crate::process::{BINARY, Server, in_memory, refused};

fn printed(arguments: &[&str]) -> String {
    let output = Command::new(BINARY).args(arguments).output().expect("runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The value of a name in a connection string.
fn part<'a>(text: &'a str, name: &str) -> &'a str {
    let found = text.split(';').find_map(|part| part.split_once('=').filter(|(known, _)| *known == name));
    found.unwrap_or_else(|| panic!("no {name} in {text}")).1
}

#[test]
fn the_connection_string_is_announced_at_start() {
    let server = Server::start(&mut in_memory());
    let text = server.connection_string();
    assert_eq!((part(text, "AccountName"), part(text, "AccountKey")), ("devstoreaccount1", KEY));
    for (name, listener) in [("BlobEndpoint", "blob"), ("QueueEndpoint", "queue"), ("TableEndpoint", "table")]
    {
        let expected = format!("http://{}/devstoreaccount1", server.address(listener));
        assert_eq!(part(text, name), expected);
    }
    assert!(!text.contains("DfsEndpoint"), "some clients refuse what they do not know: {text}");
}

#[test]
fn a_secret_key_is_never_announced() {
    let server = Server::start(in_memory().args(["--accounts", "mine:c2VjcmV0;other:Zm9v"]));
    let text = server.connection_string();
    assert_eq!((part(text, "AccountName"), part(text, "AccountKey")), ("mine", "REDACTED"));
    let log = server.stop();
    assert!(!log.contains("c2VjcmV0"), "{log}");
}

#[test]
fn the_connection_string_is_printed_for_the_settings_given() {
    let text = printed(&["connection-string"]);
    assert_eq!(
        text,
        format!(
            "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey={KEY};\
             BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;\
             QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;\
             TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;\
             FileEndpoint=http://127.0.0.1:10003/devstoreaccount1;\n"
        )
    );
    let own =
        ["--accounts", "mine:c2VjcmV0:b2xk;other:Zm9v", "--host", "0.0.0.0", "--adminHost", "127.0.0.1"];
    let text =
        printed(&[&["connection-string", "--services", "queue", "--account", "mine"][..], &own].concat());
    assert_eq!((part(&text, "AccountName"), part(&text, "AccountKey")), ("mine", "c2VjcmV0"));
    assert_eq!(part(&text, "QueueEndpoint"), "http://127.0.0.1:10001/mine");
    assert!(!text.contains("BlobEndpoint"), "{text}");

    let free = refused(Command::new(BINARY).args(["connection-string", "--blobPort", "0"]));
    assert!(free.contains("--blobPort 0"), "{free}");
    let nowhere = refused(Command::new(BINARY).args(["connection-string", "--account", "nowhere"]));
    assert!(nowhere.contains("no account nowhere"), "{nowhere}");
}

#[test]
fn a_service_that_is_off_has_no_port() {
    let server = Server::start(in_memory().args(["--services", "queue,table"]));
    assert_eq!(server.listeners(), ["admin", "queue", "table"]);
    assert!(!server.connection_string().contains("BlobEndpoint"));
    assert_eq!(get(server.address("admin"), "/healthz").status, 200);
}

#[test]
fn one_host_moves_every_listener() {
    let server = Server::start(in_memory().args(["--host", "127.0.0.2"]));
    for listener in server.listeners() {
        let address = server.address(listener);
        assert_eq!(address.ip().to_string(), "127.0.0.2", "{listener}");
        TcpStream::connect(address).expect("it listens there");
    }
}

#[test]
fn a_mistyped_variable_is_refused_with_the_nearest_name() {
    let message = refused(in_memory().env("LAZULI_BLOB_PROT", "1"));
    assert!(message.contains("LAZULI_BLOB_PROT") && message.contains("LAZULI_BLOB_PORT"), "{message}");
    Server::start(in_memory().env("LAZULI_SERVICE_HOST", "10.0.0.1"));
}

#[test]
fn a_name_too_short_is_told_the_rule() {
    let message = refused(in_memory().args(["--createContainers", "ab"]));
    assert!(message.contains("createContainers") && message.contains("3 to 63 characters"), "{message}");
}

#[test]
fn every_spelling_of_version_is_taken() {
    for flag in ["-V", "-v", "--version"] {
        assert_eq!(printed(&[flag]), concat!("lazuli ", env!("CARGO_PKG_VERSION"), "\n"), "{flag}");
    }
}

#[test]
fn completions_know_flags_and_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = printed(&["completions", shell]);
        for word in ["createContainers", "connection-string"] {
            assert!(text.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn help_is_in_groups() {
    let help = printed(&["--help"]);
    let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("no {text} in {help}"));
    let order = [
        "Where it listens:",
        "--blobPort",
        "Data:",
        "--location",
        "Who may:",
        "--accounts",
        "Logs:",
        "--silent",
    ];
    assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{help}");
}

#[test]
fn silence_does_not_hide_failures() {
    let server = Server::start(in_memory().arg("--silent"));
    let id = |answer: Answer| (answer.status, answer.header("x-ms-request-id").expect("an id").to_owned());
    let refusal = id(get(server.address("blob"), "/devstoreaccount1?comp=list"));
    let unbuilt = id(post(server.address("dfs"), "/devstoreaccount1/share", ""));
    let log = server.stop();
    assert_eq!(unbuilt.0, 501);
    let line = log.lines().find(|line| line.contains(&unbuilt.1)).unwrap_or_else(|| panic!("no line: {log}"));
    assert!(line.contains("operation=\"Unrouted\"") && line.contains("status=501"), "{line}");
    assert!(refusal.0 < 500 && !log.contains(&refusal.1), "a refusal is the client's business: {log}");
}
