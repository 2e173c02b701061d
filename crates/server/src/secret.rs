//! The secret that user delegation keys are derived from. It lives beside the data, so that a token signed
//! before a restart is good after it, and it is nobody's account key, so that no account can forge another's.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use lazuli_model::Failure;
use lazuli_service::Services;

use crate::config::Storage;

const FILE: &str = "delegation-secret";
const BYTES: usize = 32;

#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("{FILE}: {0}")]
    Io(#[from] io::Error),
    #[error("{FILE}: not {BYTES} bytes long. Remove it: tokens of user delegation then have to be made anew")]
    Length,
    #[error("the delegation secret: {0}")]
    Engine(Failure),
}

/// The one in the engine, which all servers over it share. A directory of an older version has it in a file: that one
/// becomes the engine's, and the file is removed.
pub async fn delegation(storage: &Storage, services: &Services) -> Result<[u8; BYTES], SecretError> {
    let file = match storage {
        Storage::Memory | Storage::Database(_) => None,
        Storage::Directory(directory) => Some(directory.join(FILE)),
    };
    let found = match &file {
        Some(path) => kept(path)?,
        None => None,
    };
    let fresh = match found {
        Some(secret) => secret,
        None => random()?,
    };
    let secret = services.delegation_secret(fresh).await.map_err(|fault| SecretError::Engine(fault.0))?;
    if let (Some(path), Some(_)) = (&file, found) {
        std::fs::remove_file(path)?;
    }
    Ok(secret)
}

fn kept(path: &Path) -> Result<Option<[u8; BYTES]>, SecretError> {
    match File::open(path) {
        Ok(file) => {
            let mut found = Vec::with_capacity(BYTES);
            file.take(BYTES as u64 + 1).read_to_end(&mut found)?;
            found.try_into().map(Some).map_err(|_| SecretError::Length)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Straight from the system: the cryptographic library's own generator gathers jitter for tens of milliseconds
/// before its first byte, which is most of a start.
fn random() -> Result<[u8; BYTES], SecretError> {
    let mut secret = [0; BYTES];
    File::open("/dev/urandom")?.read_exact(&mut secret)?;
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use lazuli_engine::{Engine, Host, Options};
    use lazuli_service::ServiceOptions;

    use super::*;

    fn services(directory: &Path) -> Services {
        let engine = Engine::open(directory, Options::default(), Host::real()).expect("opens");
        Services::new(engine, ServiceOptions::default())
    }

    #[tokio::test]
    async fn it_is_made_once_and_stays() {
        let home = tempfile::tempdir().expect("a directory");
        let data = home.path().join("data");
        let storage = Storage::Directory(data.clone());
        let first = delegation(&storage, &services(&data)).await.expect("made");
        let again = delegation(&storage, &services(&data)).await.expect("kept");
        assert_eq!(first, again, "after a crash");
        assert!(!data.join(FILE).exists());
        let (one, other) = (Engine::memory(Host::real()), Engine::memory(Host::real()));
        let of = async |engine: &Engine| {
            let services = Services::new(engine.clone(), ServiceOptions::default());
            delegation(&Storage::Memory, &services).await.expect("made")
        };
        assert_eq!(of(&one).await, of(&one).await, "two servers");
        assert_ne!(of(&one).await, of(&other).await);
    }

    #[tokio::test]
    async fn that_of_an_older_directory_is_taken_over() {
        let home = tempfile::tempdir().expect("a directory");
        let data = home.path().join("data");
        let storage = Storage::Directory(data.clone());
        let services = services(&data);
        std::fs::write(data.join(FILE), [7; 31]).expect("written");
        assert!(matches!(delegation(&storage, &services).await, Err(SecretError::Length)));
        std::fs::write(data.join(FILE), [7; 32]).expect("written");
        assert_eq!(delegation(&storage, &services).await.expect("taken over"), [7; 32]);
        assert!(!data.join(FILE).exists(), "it is in one place");
        assert_eq!(delegation(&storage, &services).await.expect("kept"), [7; 32]);
    }
}
