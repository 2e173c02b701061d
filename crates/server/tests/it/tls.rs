//! https and http on one port, and a certificate that changes while the server runs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::client::{Request, connect, get, send};
use crate::process::{Server, in_memory, refused};

struct Issued {
    certificate: CertificateDer<'static>,
}

/// A fresh self-signed certificate, written where the server reads it.
fn issue(directory: &Path) -> Issued {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("made");
    std::fs::write(directory.join("cert.pem"), made.cert.pem()).expect("written");
    std::fs::write(directory.join("key.pem"), made.signing_key.serialize_pem()).expect("written");
    Issued { certificate: made.cert.der().clone() }
}

fn secure(address: SocketAddr, trusted: &Issued) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.certificate.clone()).expect("a certificate");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    StreamOwned::new(ClientConnection::new(Arc::new(config), name).expect("a client"), connect(address))
}

fn accepts(address: SocketAddr, trusted: &Issued) -> bool {
    let mut stream = secure(address, trusted);
    stream
        .write_all(b"GET /devstoreaccount1?comp=list HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        .is_ok()
        && stream.read(&mut [0; 64]).is_ok_and(|read| read > 0)
}

#[test]
fn one_port_speaks_https_and_http() {
    let directory = tempfile::tempdir().expect("a directory");
    let issued = issue(directory.path());
    let server = start(directory.path());
    let blob = server.address("blob");
    assert_eq!(server.scheme("blob"), "https");
    assert_eq!(server.scheme("admin"), "http");

    let mut stream = secure(blob, &issued);
    for _ in 0..2 {
        let answer = send(&mut stream, &Request::new("GET", "/devstoreaccount1?comp=list"));
        assert!(answer.header("x-ms-request-id").is_some(), "{answer:?}");
    }
    let answer = get(blob, "/devstoreaccount1?comp=list");
    assert!(answer.header("x-ms-request-id").is_some(), "{answer:?}");
}

#[test]
fn a_renewed_certificate_is_taken_up_and_a_broken_one_is_not() {
    let directory = tempfile::tempdir().expect("a directory");
    let old = issue(directory.path());
    let server = start(directory.path());
    let blob = server.address("blob");
    assert!(accepts(blob, &old));

    std::fs::write(directory.path().join("cert.pem"), "not a certificate").expect("written");
    server.signal("HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert!(accepts(blob, &old), "what worked goes on working");

    let new = issue(directory.path());
    // Without a signal: the files are watched.
    let taken = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        accepts(blob, &new)
    });
    assert!(taken, "the new one is served");
    assert!(!accepts(blob, &old), "the old one no longer");
}

#[test]
fn a_key_of_another_certificate_is_refused_at_start() {
    let (one, other) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    issue(one.path());
    issue(other.path());
    let (cert, key) = (one.path().join("cert.pem"), other.path().join("key.pem"));
    let message = refused(in_memory().arg("--cert").arg(cert).arg("--key").arg(key));
    assert!(message.contains("belong together"), "{message}");
}

/// Clients that greet and say no more, and clients that say nothing, hold all places; the next one gets in all the same.
#[test]
fn connections_that_do_not_finish_their_handshake_make_room() {
    let directory = tempfile::tempdir().expect("a directory");
    let issued = issue(directory.path());
    let server = Server::start(
        in_memory()
            .args(["--maxConnections", "8"])
            .arg("--cert")
            .arg(directory.path().join("cert.pem"))
            .arg("--key")
            .arg(directory.path().join("key.pem")),
    );
    let blob = server.address("blob");
    for opening in [&b""[..], b"\x16\x03\x01"] {
        let crowd: Vec<TcpStream> = (0..16)
            .map(|_| {
                let mut stream = connect(blob);
                stream.write_all(opening).expect("sent");
                stream
            })
            .collect();
        assert!(accepts(blob, &issued), "after {opening:?}");
        drop(crowd);
    }
    let metrics = get(server.address("admin"), "/metrics").text();
    assert!(metrics.contains("connections_cut_off_total{reason=\"Pressure\"}"), "{metrics}");
}

fn start(directory: &Path) -> Server {
    Server::start(
        in_memory().arg("--cert").arg(directory.join("cert.pem")).arg("--key").arg(directory.join("key.pem")),
    )
}
