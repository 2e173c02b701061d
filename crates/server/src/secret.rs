//! The secret that user delegation keys are derived from. It lives beside the data, so that a token signed
//! before a restart is good after it, and it is nobody's account key, so that no account can forge another's.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::config::Storage;

const FILE: &str = "delegation-secret";
const BYTES: usize = 32;

#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("{FILE}: {0}")]
    Io(#[from] io::Error),
    #[error("{FILE}: not {BYTES} bytes long. Remove it: tokens of user delegation then have to be made anew")]
    Length,
}

pub fn delegation(storage: &Storage) -> Result<[u8; BYTES], SecretError> {
    match storage {
        Storage::Memory => random(),
        Storage::Directory(directory) => kept(directory),
    }
}

fn kept(directory: &Path) -> Result<[u8; BYTES], SecretError> {
    let path = directory.join(FILE);
    match File::open(&path) {
        Ok(file) => {
            let mut found = Vec::with_capacity(BYTES);
            file.take(BYTES as u64 + 1).read_to_end(&mut found)?;
            found.try_into().map_err(|_| SecretError::Length)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(directory, &path),
        Err(error) => Err(error.into()),
    }
}

/// Written aside and renamed: a crash leaves no half of it. Its name is durable before a key is derived from it.
fn make(directory: &Path, path: &Path) -> Result<[u8; BYTES], SecretError> {
    let secret = random()?;
    let aside = directory.join("delegation-secret.new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
    file.write_all(&secret)?;
    file.sync_all()?;
    std::fs::rename(&aside, path)?;
    File::open(directory)?.sync_all()?;
    Ok(secret)
}

/// Straight from the system: the cryptographic library's own generator gathers jitter for tens of milliseconds
/// before its first byte, which is most of a start.
fn random() -> Result<[u8; BYTES], SecretError> {
    let mut secret = [0; BYTES];
    File::open("/dev/urandom")?.read_exact(&mut secret)?;
    Ok(secret)
}
