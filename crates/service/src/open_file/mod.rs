//! Files that are open: what an SMB client does to a file between its open and its close, without a word of how it says so
//! (decision 0048).
//!
//! A [`ShareClient`] is one client's use of one share. [`ShareClient::create`] opens and makes an [`OpenFile`], which reads, writes,
//! locks, renames, deletes, lists and watches. What an open is stands in rows of the engine, so that every server and every
//! operation over REST is judged by it; the value here only names the row. What happens to an open from outside (a break of
//! its oplock or lease, its end) comes as a [`Notice`].

mod attempt;
mod client;
mod create;
mod data;
mod directory;
mod durable;
mod info;
mod lock;
mod notice;
mod opened;
mod refusal;
mod watch;

pub use client::{Client, ShareClient, Volume};
pub use create::{
    CachingGranted, CachingWanted, Create, CreateAction, CreateOptions, Created, Disposition, LeaseVersion,
    LeaseWanted, parse_path,
};
pub use directory::{DirectoryCursor, DirectoryEntry, DirectoryPart};
pub use durable::{DurableGranted, DurableWanted, Reconnect};
pub use info::{BasicInfo, FileInfo, Rename, SecurityParts, TimeWish};
pub use lock::LockRange;
pub use notice::Notice;
pub use opened::OpenFile;
pub use refusal::{Outcome, Refusal};
pub use watch::{Change, ChangeAction, ChangeFilter, Changes};

pub use lazuli_model::admission::caching::OplockLevel;
pub use lazuli_model::admission::sharing::{Caching, Rights};
pub use lazuli_model::smb::{AccessMask, DosPattern, FileAttributes};
