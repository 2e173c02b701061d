//! Files that SMB clients have open, with one server and with three: what each client meets of the others and of REST.

mod caching;
mod coherence;
mod create;
mod data;
mod delete;
mod directory;
mod durable;
mod history;
mod locks;
mod rest;
mod watch;

use std::time::Duration;

use bytes::Bytes;
use lazuli_model::time::Timestamp;
use lazuli_service::open_file::*;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::support::Bench;

/// Longer than anything here takes, and no test waits for so long without failing.
const PATIENCE: Duration = Duration::from_secs(20);

pub async fn bench() -> Bench {
    let bench = Bench::new().await;
    bench.create_share().await;
    bench
}

/// A client with a connection to one of the servers.
pub struct Smb {
    pub share: ShareClient,
    pub notices: mpsc::UnboundedReceiver<Notice>,
}

impl Bench {
    pub async fn smb(&self, guid: u128) -> Smb {
        let (sender, notices) = mpsc::unbounded_channel();
        let client = Client {
            guid,
            session: guid as u64,
            address: "127.0.0.1:5000".into(),
            name: None,
            notices: sender,
        };
        let share = ShareClient::connect(&self.services, &self.context, "s", client).await.unwrap();
        Smb { share, notices }
    }
}

impl Smb {
    pub async fn open(&self, request: Create) -> Outcome<OpenFile> {
        Ok(self.share.create(request).await?.file)
    }

    /// What the client is told next.
    pub async fn notice(&mut self) -> Notice {
        timeout(PATIENCE, self.notices.recv()).await.expect("a notice").expect("a connection")
    }

    pub fn is_quiet(&mut self) -> bool {
        self.notices.try_recv().is_err()
    }
}

pub fn path(text: &str) -> Vec<String> {
    parse_path(text).unwrap()
}

/// An open for everything that shares everything, of what is there.
pub fn open(text: &str) -> Create {
    Create {
        path: path(text),
        snapshot: None,
        desired_access: AccessMask::FILE_ALL,
        share_access: Rights::ALL,
        disposition: Disposition::Open,
        options: CreateOptions::default(),
        attributes: FileAttributes::NONE,
        security: None,
        allocation_size: 0,
        caching: CachingWanted::None,
        durable: None,
    }
}

/// The same of what is there or is made.
pub fn open_if(text: &str) -> Create {
    Create { disposition: Disposition::OpenIf, ..open(text) }
}

pub fn directory(text: &str) -> Create {
    let options = CreateOptions { directory: true, ..CreateOptions::default() };
    Create { options, ..open_if(text) }
}

pub fn access(request: Create, access: AccessMask, share: Rights) -> Create {
    Create { desired_access: access, share_access: share, ..request }
}

pub fn oplock(level: OplockLevel, request: Create) -> Create {
    Create { caching: CachingWanted::Oplock(level), ..request }
}

pub fn lease(key: u128, state: Caching, request: Create) -> Create {
    let wanted = LeaseWanted { key, state, version: LeaseVersion::Two, parent: None, epoch: 0 };
    Create { caching: CachingWanted::Lease(wanted), ..request }
}

pub fn granted(created: &Created) -> Caching {
    match created.caching {
        CachingGranted::None => Caching::NONE,
        CachingGranted::Oplock(level) => level.caching(),
        CachingGranted::Lease { state, .. } => state,
    }
}

/// "ok", or the name of the refusal.
pub fn told<T>(outcome: Outcome<T>) -> String {
    match outcome {
        Ok(_) => "ok".to_owned(),
        Err(refusal) => {
            let text = format!("{refusal:?}");
            text.split(['(', ' ']).next().unwrap_or_default().to_owned()
        }
    }
}

pub async fn read_all(file: &OpenFile) -> Vec<u8> {
    match file.read(0, 1 << 20).await {
        Ok(parts) => parts.concat(),
        Err(Refusal::EndOfFile) => Vec::new(),
        Err(other) => panic!("{other:?}"),
    }
}

pub async fn write(file: &OpenFile, offset: u64, bytes: &[u8]) -> Outcome<()> {
    file.write(offset, Bytes::copy_from_slice(bytes)).await
}

/// Rights by their letters.
pub fn rights(text: &str) -> Rights {
    let has = |letter| text.contains(letter);
    Rights { read: has('R'), write: has('W'), delete: has('D') }
}

pub fn mask(text: &str) -> AccessMask {
    let bit = |letter, bit: AccessMask| if text.contains(letter) { bit } else { AccessMask::NONE };
    AccessMask::READ_ATTRIBUTES
        .and(bit('R', AccessMask::READ_DATA))
        .and(bit('W', AccessMask::WRITE_DATA))
        .and(bit('D', AccessMask::DELETE))
}

pub fn later(now: Timestamp, seconds: i64) -> Timestamp {
    now.plus_seconds(seconds)
}
