//! TLS to the database: always verified, and left out only for a node on this machine or when told.

use super::options::ConnectError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

#[derive(Default)]
pub(super) struct Wanted {
    mode: Option<Mode>,
    roots: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Off,
    Verified,
}

/// What the driver may be told behind the question mark; all else would do nothing, or not what it does elsewhere. What a
/// session is set to and how long it is waited for is decided here.
const OF_THE_DRIVER: [&str; 4] = ["user", "password", "dbname", "options"];

/// The URL without the parameters that are for us and not for the driver.
pub(super) fn take_parameters(url: &str) -> Result<(String, Wanted), ConnectError> {
    let mut wanted = Wanted::default();
    // The driver takes other texts, too, which these parameters would not be found in.
    if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err(ConnectError::Address("not a URL of PostgreSQL".into()));
    }
    let Some((before, query)) = url.split_once('?') else { return Ok((url.into(), wanted)) };
    let mut left = Vec::new();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some(("sslmode", "disable")) => wanted.mode = Some(Mode::Off),
            Some(("sslmode", "require" | "verify-full")) => wanted.mode = Some(Mode::Verified),
            Some(("sslmode", _)) => {
                return Err(ConnectError::Address("sslmode is disable or verify-full".into()));
            }
            Some(("sslrootcert", path)) => wanted.roots = Some(path.into()),
            Some((name, _)) if OF_THE_DRIVER.contains(&name) => left.push(parameter),
            // Nothing of it is repeated: it may be a password that was not encoded.
            _ => {
                return Err(ConnectError::Address(
                    "of parameters sslmode, sslrootcert, user, password, dbname and options are known".into(),
                ));
            }
        }
    }
    let url = if left.is_empty() { before.into() } else { format!("{before}?{}", left.join("&")) };
    Ok((url, wanted))
}

impl Wanted {
    pub fn connector(&self, loopback: bool) -> Result<Option<MakeRustlsConnect>, ConnectError> {
        let mode = self.mode.unwrap_or(if loopback { Mode::Off } else { Mode::Verified });
        if mode == Mode::Off {
            return Ok(None);
        }
        let mut roots = RootCertStore::empty();
        match &self.roots {
            Some(path) => {
                let wrong = |why: String| ConnectError::Certificates { path: path.clone(), why };
                for found in CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))? {
                    let certificate = found.map_err(|error| wrong(error.to_string()))?;
                    roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
                }
                if roots.is_empty() {
                    return Err(wrong("no certificate in it".into()));
                }
            }
            // What the system trusts. If that is nothing, no node can prove itself.
            None => drop(roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| ConnectError::Address(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Some(MakeRustlsConnect::new(config)))
    }
}
