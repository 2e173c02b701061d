//! What the command line does to the running server.

use std::net::{SocketAddr, TcpListener};
use std::process::Command;

use crate::client::{Request, connect, get, send, send_signed, signed_as};
use crate::process::{BINARY, Server, command, free_ports, in_memory, refused};

#[test]
fn every_listener_is_announced_with_its_port() {
    let server = Server::start(&mut in_memory());
    assert_eq!(server.listeners(), ["admin", "blob", "dfs", "file", "queue", "smb", "table"]);
    for listener in server.listeners() {
        assert_eq!(server.scheme(listener), if listener == "smb" { "smb" } else { "http" });
        assert_ne!(server.address(listener).port(), 0);
    }
}

#[test]
fn serve_may_be_said_or_left_out_and_the_emulators_flags_are_taken() {
    let flags =
        ["--silent", "--loose", "--skipApiVersionCheck", "--disableTelemetry", "--blobKeepAliveTimeout", "5"];
    Server::start(in_memory().args(flags));
    let mut said = Command::new(BINARY);
    Server::start(free_ports(said.args(["serve", "--inMemoryPersistence", "-s", "-L"])));
}

#[test]
fn version_and_operations_are_printed() {
    let printed = |argument: &str| {
        let output = Command::new(BINARY).arg(argument).output().expect("runs");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("text")
    };
    assert_eq!(printed("-v"), concat!("lazuli ", env!("CARGO_PKG_VERSION"), "\n"));
    assert_eq!(printed("--version"), printed("-v"));
    assert!(printed("operations").contains("| Put Blob"), "the reference");
}

#[test]
fn the_well_known_key_is_refused_beyond_loopback() {
    let message = refused(in_memory().args(["--blobHost", "0.0.0.0"]));
    assert!(message.contains("--allow-well-known-key-on-network"), "{message}");
    let server =
        Server::start(in_memory().args(["--blobHost", "0.0.0.0", "--allow-well-known-key-on-network"]));
    let ready = get(server.address("admin"), "/readyz");
    assert!(ready.text().contains("warning"), "{}", ready.text());
    Server::start(in_memory().args(["--blobHost", "0.0.0.0", "--accounts", "mine:c2VjcmV0"]));
}

#[test]
fn what_cannot_be_done_is_refused_with_advice() {
    assert!(refused(in_memory().env("AZURITE_DB", "mysql://x")).contains("AZURITE_DB"));
    assert!(
        refused(in_memory().args(["--cert", "nowhere.pem", "--key", "nowhere.pem"])).contains("nowhere.pem")
    );
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("bound").port().to_string();
    let message = refused(Command::new(BINARY).args(["--inMemoryPersistence", "--blobPort", &port]));
    assert!(message.contains(&port) && message.contains("blob"), "{message}");
}

#[test]
fn one_directory_serves_one_process() {
    let data = tempfile::tempdir().expect("a directory");
    let _server = Server::start(&mut command(data.path()));
    let message = refused(&mut command(data.path()));
    assert!(message.contains("in use"), "{message}");
}

#[test]
fn a_location_with_other_things_in_it_is_fine() {
    let data = tempfile::tempdir().expect("a directory");
    std::fs::write(data.path().join("__azurite_db_blob__.json"), "{}").expect("written");
    Server::start(&mut command(data.path())).stop();
    assert!(data.path().join("lazuli-data").is_dir());
}

/// What a List Containers of this account is answered.
fn listed(blob: SocketAddr, account: &str, key: &str) -> u16 {
    let list = Request::new("GET", format!("/{account}?comp=list"));
    send(connect(blob), &signed_as(blob, account, key, list)).status
}

#[test]
fn accounts_of_the_environment_replace_the_development_account() {
    let server = Server::start(in_memory().env("AZURITE_ACCOUNTS", "first:Zmlyc3Q=:c2Vjb25k;other:b3RoZXI="));
    let blob = server.address("blob");
    for (account, key) in [("first", "Zmlyc3Q="), ("first", "c2Vjb25k"), ("other", "b3RoZXI=")] {
        assert_eq!(listed(blob, account, key), 200, "{account}");
    }
    assert_eq!(listed(blob, "other", "Zmlyc3Q="), 403);
    assert_ne!(send_signed(blob, "GET", "/devstoreaccount1?comp=list").status, 200);
}

#[test]
fn keys_rotate_while_the_server_runs() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("lazuli.toml");
    std::fs::write(&file, "accounts = [\"mine:b2xk\"]\n").expect("written");
    let server = Server::start(in_memory().arg("--config").arg(&file));
    let blob = server.address("blob");
    let status = |key: &str| listed(blob, "mine", key);
    assert_eq!((status("b2xk"), status("bmV3")), (200, 403));
    std::fs::write(&file, "accounts = [\"mine:bmV3\"]\n").expect("written");
    server.signal("HUP");
    let rotated = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        status("bmV3") == 200
    });
    assert!(rotated && status("b2xk") == 403);
}

#[test]
fn containers_asked_for_are_there_at_start_and_stay() {
    let data = tempfile::tempdir().expect("a directory");
    for _ in 0..2 {
        let server = Server::start(command(data.path()).args(["--createContainers", "alpha,beta"]));
        for name in ["alpha", "beta"] {
            let target = format!("/devstoreaccount1/{name}?restype=container");
            assert_eq!(send_signed(server.address("blob"), "GET", &target).status, 200, "{name}");
        }
        server.stop();
    }
    let message = refused(command(data.path()).args(["--createContainers", "Not_A_Name"]));
    assert!(message.contains("Not_A_Name"), "{message}");
}
