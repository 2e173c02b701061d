//! The certificate, replaced while the process runs: new connections get the new one, open ones keep theirs.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use arc_swap::ArcSwap;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, ServerConfig};
use tokio_rustls::TlsAcceptor;

use crate::config::Tls;

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("certificate {path}: {reason}")]
    Certificate { path: String, reason: String },
    #[error("private key {path}: {reason}")]
    Key { path: String, reason: String },
    #[error("certificate {cert} and private key {key} do not belong together")]
    Mismatch { cert: String, key: String },
    #[error("TLS: {0}")]
    Library(#[from] rustls::Error),
}

/// The files and what was last read from them.
pub struct Certificate {
    files: Tls,
    current: Arc<Current>,
    seen: std::sync::Mutex<Stamp>,
}

type Stamp = [Option<SystemTime>; 2];

#[derive(Debug)]
struct Current(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

impl Certificate {
    pub fn load(files: Tls) -> Result<Self, TlsError> {
        let seen = std::sync::Mutex::new(stamp(&files));
        let current = Arc::new(Current(ArcSwap::from_pointee(read(&files)?)));
        Ok(Self { files, current, seen })
    }

    pub fn acceptor(&self) -> Result<TlsAcceptor, TlsError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(self.current.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Reads the files again; on failure the certificate in use stays.
    pub fn reload(&self) -> Result<(), TlsError> {
        self.current.0.store(Arc::new(read(&self.files)?));
        Ok(())
    }

    /// True once for each time the files changed.
    pub fn changed(&self) -> bool {
        let now = stamp(&self.files);
        let mut seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let changed = *seen != now;
        *seen = now;
        changed
    }
}

fn stamp(files: &Tls) -> Stamp {
    let modified = |path: &Path| std::fs::metadata(path).and_then(|data| data.modified()).ok();
    [modified(&files.cert), modified(&files.key)]
}

fn read(files: &Tls) -> Result<CertifiedKey, TlsError> {
    let (cert, key) = (files.cert.display().to_string(), files.key.display().to_string());
    let refused = |reason: String| TlsError::Certificate { path: cert.clone(), reason };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&files.cert)
        .and_then(Iterator::collect)
        .map_err(|error| refused(error.to_string()))?;
    if chain.is_empty() {
        return Err(refused("no certificate in it (PEM expected)".to_owned()));
    }
    let private = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| TlsError::Key { path: key.clone(), reason: error.to_string() })?;
    let signer = aws_lc_rs::default_provider()
        .key_provider
        .load_private_key(private)
        .map_err(|error| TlsError::Key { path: key.clone(), reason: error.to_string() })?;
    let certified = CertifiedKey::new(chain, signer);
    match certified.keys_match() {
        Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(certified),
        Err(rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
            Err(TlsError::Mismatch { cert, key })
        }
        // The library reads no certificate of X.509 version 1. Serving one needs no reading; that it belongs to the key
        // shows in the key's public half, which stands in it as it is.
        Err(error) => match holds_public_key(&certified) {
            true => Ok(certified),
            false => Err(refused(format!("{error}; the private key's public half is not in it"))),
        },
    }
}

fn holds_public_key(certified: &CertifiedKey) -> bool {
    let (Some(public), Some(certificate)) = (certified.key.public_key(), certified.cert.first()) else {
        return false;
    };
    let public: &[u8] = public.as_ref();
    certificate.as_ref().windows(public.len()).any(|window| window == public)
}
