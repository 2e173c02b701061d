//! Certificates of X.509 version 1, which openssl makes when it is told of no extension.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PublicKeyData, SigningKey};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};

use crate::client::connect;
use crate::process::{Server, in_memory, refused};

const SEQUENCE: u8 = 0x30;

fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).expect("a short certificate").to_be_bytes();
    [&[tag, 0x82], &length[..], content].concat()
}

/// A certificate without version, extensions, or anything else that version 1 does not have.
fn version_1(key: &KeyPair) -> Vec<u8> {
    let ecdsa_with_sha256 = der(SEQUENCE, &der(0x06, &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));
    let common_name = [der(0x06, &[0x55, 0x04, 0x03]), der(0x0c, b"localhost")].concat();
    let name = der(SEQUENCE, &der(0x31, &der(SEQUENCE, &common_name)));
    let validity = der(SEQUENCE, &[der(0x17, b"200101000000Z"), der(0x17, b"491231235959Z")].concat());
    let spki = key.subject_public_key_info();
    let serial = der(0x02, &[1]);
    let to_sign =
        der(SEQUENCE, &[serial, ecdsa_with_sha256.clone(), name.clone(), validity, name, spki].concat());
    let mut signature = vec![0];
    signature.extend(key.sign(&to_sign).expect("signed"));
    der(SEQUENCE, &[to_sign, ecdsa_with_sha256, der(0x03, &signature)].concat())
}

fn write(directory: &Path, certificate: &[u8], key: &KeyPair) {
    use base64::Engine;
    let body = base64::prelude::BASE64_STANDARD.encode(certificate);
    let pem = format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n");
    std::fs::write(directory.join("cert.pem"), pem).expect("written");
    std::fs::write(directory.join("key.pem"), key.serialize_pem()).expect("written");
}

/// A client that takes any certificate, as those do that were told to trust this one.
#[derive(Debug)]
struct Trusting;

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }
}

#[test]
fn a_certificate_of_version_1_is_served() {
    let directory = tempfile::tempdir().expect("a directory");
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("a key");
    let certificate = version_1(&key);
    write(directory.path(), &certificate, &key);
    let server = Server::start(
        in_memory()
            .arg("--cert")
            .arg(directory.path().join("cert.pem"))
            .arg("--key")
            .arg(directory.path().join("key.pem")),
    );
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Trusting))
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let client = ClientConnection::new(Arc::new(config), name).expect("a client");
    let mut stream = StreamOwned::new(client, connect(server.address("blob")));
    stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("sent");
    let mut answer = [0; 9];
    stream.read_exact(&mut answer).expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 ");
    let shown = stream.conn.peer_certificates().and_then(<[_]>::first).expect("a certificate");
    assert_eq!(shown.as_ref(), certificate);
}

#[test]
fn one_of_another_key_is_refused_with_the_true_reason() {
    let directory = tempfile::tempdir().expect("a directory");
    let (key, other) = (
        KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("a key"),
        KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("a key"),
    );
    write(directory.path(), &version_1(&key), &other);
    let (cert, key) = (directory.path().join("cert.pem"), directory.path().join("key.pem"));
    let message = refused(in_memory().arg("--cert").arg(cert).arg("--key").arg(key));
    assert!(message.contains("public half is not in it"), "{message}");
}
