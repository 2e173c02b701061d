//! One request while it is carried out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::{Buf, Bytes};
use lazuli_service::open_file::ShareClient;
use tokio::sync::{Notify, OwnedSemaphorePermit};

use super::answer::Failure;
use super::channel::Channel;
use super::connection::Connection;
use super::limits::TRANSFER_MAX;
use super::negotiated::Negotiated;
use super::open::{File, FileId, InUse, Open, Opened, OpenedBy};
use super::sequence::UnderWay;
use super::session::Session;
use super::tree::{Share, Tree};
use crate::status::{Malformed, NtStatus};
use crate::wire;
use crate::wire::header::{RequestHeader, flag};
use crate::wire::negotiate::Dialect;

pub struct Call {
    pub connection: Arc<Connection>,
    /// Whose keys the request was signed or encrypted with.
    pub channel: Option<Arc<Channel>>,
    pub header: RequestHeader,
    /// From the first byte of its header to the last of its body.
    pub message: Bytes,
    /// Of the request before, where this one is related to it.
    pub related: Option<FileId>,
    pub control: Arc<Control>,
    /// It came encrypted.
    pub encrypted: bool,
}

/// By which a request that is carried out is reached from outside.
#[derive(Default)]
pub struct Control {
    /// Whose request it is: no other session cancels it.
    session_id: Option<u64>,
    /// Zero until the client was told that the answer will come later.
    async_id: AtomicU64,
    is_cancelled: AtomicBool,
    cancelled: Notify,
    is_settled: AtomicBool,
    settled: Notify,
}

impl Control {
    pub fn of(session_id: Option<u64>) -> Self {
        Self { session_id, ..Self::default() }
    }

    pub fn is_of(&self, session_id: u64) -> bool {
        self.session_id == Some(session_id)
    }

    pub fn async_id(&self) -> Option<u64> {
        Some(self.async_id.load(Ordering::Acquire)).filter(|id| *id != 0)
    }

    pub fn set_async_id(&self, id: u64) {
        self.async_id.store(id, Ordering::Release);
    }

    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Release);
        self.cancelled.notify_waiters();
    }

    pub async fn cancelled(&self) {
        wait(&self.is_cancelled, &self.cancelled).await;
    }

    /// It was answered, or waits for something: requests behind it may begin.
    pub fn settle(&self) {
        self.is_settled.store(true, Ordering::Release);
        self.settled.notify_waiters();
    }

    pub async fn settled(&self) {
        wait(&self.is_settled, &self.settled).await;
    }
}

async fn wait(is_so: &AtomicBool, told: &Notify) {
    let mut waiting = std::pin::pin!(told.notified());
    // Registered before the flag is read: a task that sets it afterwards wakes this one.
    waiting.as_mut().enable();
    if !is_so.load(Ordering::Acquire) {
        waiting.await;
    }
}

impl Call {
    pub fn body(&self, structure_size: u16) -> Result<&[u8], Malformed> {
        wire::body(&self.message, structure_size)
    }

    pub fn part(&self, offset: usize, length: usize) -> Result<Bytes, Malformed> {
        wire::part(&self.message, offset, length)
    }

    pub fn negotiated(&self) -> Result<&Negotiated, NtStatus> {
        self.connection.negotiated().ok_or(NtStatus::INVALID_PARAMETER)
    }

    pub fn session(&self) -> Result<&Arc<Session>, NtStatus> {
        self.channel.as_ref().map(|channel| &channel.session).ok_or(NtStatus::USER_SESSION_DELETED)
    }

    pub fn tree(&self) -> Result<Arc<Tree>, NtStatus> {
        self.session()?.tree(self.header.tree_id).ok_or(NtStatus::NETWORK_NAME_DELETED)
    }

    pub fn share(&self) -> Result<ShareClient, NtStatus> {
        match &self.tree()?.share {
            Share::Disk(share) => Ok(share.clone()),
            Share::Pipes => Err(NtStatus::INVALID_DEVICE_REQUEST),
        }
    }

    /// The id that the request names, or that of the request it is related to.
    pub fn take_file_id(&self, from: &mut &[u8]) -> Result<FileId, Malformed> {
        let id = FileId::take(from)?;
        Ok(self.related.filter(|_| id == FileId::PREVIOUS).unwrap_or(id))
    }

    /// What requests that may wait for long use, and CLOSE.
    pub fn open_unheld(&self, id: FileId) -> Result<Arc<Open>, NtStatus> {
        let tree = self.tree()?;
        let open = self.session()?.open(tree.id, id).ok_or(NtStatus::FILE_CLOSED)?;
        if let Opened::File(file) = &open.what {
            file.replay.lock().take();
        }
        if self.has_sequence()? {
            open.sequence.see(self.header.channel_sequence);
        }
        Ok(open)
    }

    pub async fn open(&self, id: FileId) -> Result<InUse, NtStatus> {
        let open = self.open_unheld(id)?;
        let held = Arc::clone(&open.users).read_owned().await;
        // It may have been closed before this request's turn came.
        self.open_unheld(id)?;
        Ok(InUse { open, held })
    }

    /// For a request that changes the file: one that its client has given up, together with the connection that it sent it over, is too late.
    pub fn in_sequence(&self, open: &Open) -> Result<Option<UnderWay>, NtStatus> {
        if !self.has_sequence()? {
            return Ok(None);
        }
        let is_replay = self.header.has(flag::REPLAY_OPERATION);
        open.sequence.enter(self.header.channel_sequence, is_replay).map(Some)
    }

    /// In 2.1 these bytes of the header mean nothing.
    fn has_sequence(&self) -> Result<bool, NtStatus> {
        Ok(self.negotiated()?.dialect != Dialect::Smb210)
    }

    pub fn opened_by(&self) -> OpenedBy {
        OpenedBy { connection: Arc::downgrade(&self.connection), sequence: self.header.channel_sequence }
    }

    /// What a request sends or asks for must have been paid for in credits (MS-SMB2 3.3.5.2.5).
    pub fn paid_for(&self, bytes: u32) -> Result<(), NtStatus> {
        if bytes > TRANSFER_MAX {
            return Err(NtStatus::INVALID_PARAMETER);
        }
        let needed = bytes.saturating_sub(1) / 65536 + 1;
        match needed <= u32::from(self.header.credit_charge.max(1)) {
            true => Ok(()),
            false => Err(NtStatus::INVALID_PARAMETER),
        }
    }

    pub async fn answer_memory(&self, bytes: usize) -> Result<Vec<OwnedSemaphorePermit>, NtStatus> {
        self.connection.answer_memory(bytes).await.ok_or(NtStatus::INSUFF_SERVER_RESOURCES)
    }
}

impl Open {
    /// A file or directory, not a pipe.
    pub fn file(&self) -> Result<&File, NtStatus> {
        match &self.what {
            Opened::File(file) => Ok(file),
            Opened::Pipe(_) => Err(NtStatus::INVALID_DEVICE_REQUEST),
        }
    }
}

/// The rest of a body after what was read of it, as numbers are taken from it.
pub fn skip(from: &mut &[u8], bytes: usize) -> Result<(), Failure> {
    if from.remaining() < bytes {
        return Err(NtStatus::INVALID_PARAMETER.into());
    }
    from.advance(bytes);
    Ok(())
}
