//! An engine whose database proves itself by a certificate. Where PostgreSQL is not installed, these say so and pass.

use lazuli_engine::{ConnectError, Engine, Host, RemoteBytes, RemoteOptions};
use lazuli_testing::postgres::{Postgres, available, own_directory, own_file};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

use crate::contract::{put, text, write};

const PASSWORD: &str = "of-one-test-only";

/// Signs certificates of servers; who knows it trusts them.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    directory: TempDir,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        // All have the same name, as an impostor would.
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("ca.pem"), issuer.as_ref().pem()).unwrap();
        Self { issuer, directory }
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("ca.pem")
    }

    /// A server whose certificate is of this name. `None` where there is no PostgreSQL.
    fn serve(&self, name: &str) -> Option<Postgres> {
        let (_, user) = available()?;
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        // Not below a directory that only we may enter.
        let place = std::env::temp_dir().join(format!("lazuli-tls-{}-{name}", std::process::id()));
        own_directory(&place, user);
        let (certificate_file, key_file) = (place.join("server.pem"), place.join("server.key"));
        own_file(&certificate_file, &certificate.pem(), user);
        own_file(&key_file, &key.serialize_pem(), user);
        let settings = [
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", certificate_file.display()),
            format!("ssl_key_file={}", key_file.display()),
        ];
        let started = Postgres::start(&settings.each_ref().map(String::as_str));
        // It has read them.
        std::fs::remove_dir_all(&place).unwrap();
        started
    }
}

fn options(postgres: &Postgres, parameters: &str) -> RemoteOptions {
    let url = format!("{}?{parameters}", postgres.url());
    let mut options = RemoteOptions::new(url, RemoteBytes::memory());
    options.start_patience = Duration::from_millis(500);
    options
}

/// What it says when it does not connect.
async fn refused(postgres: &Postgres, parameters: &str) -> String {
    match Engine::connect(options(postgres, parameters), Host::real()).await {
        Err(ConnectError::NoPrimary(why)) => why,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it connects with {parameters}"),
    }
}

fn trusting(authority: &Authority) -> String {
    format!("sslmode=verify-full&sslrootcert={}", authority.file().display())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_is_spoken_to_over_tls_when_its_certificate_is_of_a_known_authority() {
    let authority = Authority::new();
    let Some(postgres) = authority.serve("127.0.0.1") else { return };
    let engine = Engine::connect(options(&postgres, &trusting(&authority)), Host::real()).await.unwrap();
    write(&engine, vec![put("a", "1")]).await;
    assert_eq!(text(&engine, "a").await.as_deref(), Some("1"));
    let connections = "FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'lazuli'";
    let all = postgres.ask(&format!("SELECT count(*) > 1, bool_and(ssl), min(version) {connections}"));
    assert_eq!(all, "t|t|TLSv1.3", "each of its connections");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_of_an_unknown_authority_or_another_name_is_refused() {
    let (known, unknown) = (Authority::new(), Authority::new());
    let Some(postgres) = known.serve("127.0.0.1") else { return };
    for parameters in [trusting(&unknown), "sslmode=verify-full".into(), "sslmode=require".into()] {
        let why = refused(&postgres, &parameters).await;
        let found = ["BadSignature", "UnknownIssuer"].into_iter().any(|found| why.contains(found));
        assert!(found, "{parameters}: {why}");
    }
    let Some(other) = known.serve("db.example") else { return };
    for parameters in [trusting(&known), trusting(&known).replace("verify-full", "require")] {
        let why = refused(&other, &parameters).await;
        assert!(why.contains("certificate") && why.contains("127.0.0.1"), "{parameters}: {why}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_without_tls_is_not_spoken_to_when_it_is_demanded() {
    let authority = Authority::new();
    let Some(postgres) = Postgres::start(&[]) else { return };
    for parameters in ["sslmode=require".to_owned(), trusting(&authority)] {
        let why = refused(&postgres, &parameters).await;
        assert!(why.contains("does not support TLS"), "{parameters}: {why}");
    }
}

/// SCRAM binds itself to the certificate, where there is one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_is_checked_over_tls_as_well() {
    let authority = Authority::new();
    let Some(postgres) = authority.serve("127.0.0.1") else { return };
    postgres.psql(&format!(
        "CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}'; GRANT ALL ON DATABASE postgres TO guarded"
    ));
    let guarded = |password: Option<&str>| {
        let mut options = options(&postgres, &trusting(&authority));
        options.database = options.database.replace("lazuli@", "guarded@");
        options.password = password.map(str::to_owned);
        options
    };
    let engine = Engine::connect(guarded(Some(PASSWORD)), Host::real()).await.unwrap();
    write(&engine, vec![put("a", "1")]).await;
    let user = "SELECT DISTINCT usename FROM pg_stat_activity WHERE application_name = 'lazuli'";
    assert_eq!(postgres.ask(user), "guarded");
    for password in [Some("another"), None] {
        let error = Engine::connect(guarded(password), Host::real()).await.map(drop).unwrap_err().to_string();
        assert!(error.contains("password") && !error.contains(PASSWORD), "{error}");
    }
}
