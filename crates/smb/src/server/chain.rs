//! The requests of one frame, one after the other, and their answers in one frame (MS-SMB2 3.3.5.2.7).

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::sleep;

use super::answer::{Failure, Part, Reply, error_body, frame};
use super::call::{Call, Control};
use super::channel::Channel;
use super::connection::Connection;
use super::limits::{PARKED_CREATE_MAX, PARKED_MAX};
use super::open::FileId;
use super::receive::Incoming;
use super::session::Session;
use crate::command::{self, lock};
use crate::status::NtStatus;
use crate::wire::header::{self, Command, ResponseHeader, flag};

pub struct Chain {
    pub connection: Arc<Connection>,
    pub messages: Vec<Incoming>,
    pub encrypted_by: Option<Arc<Channel>>,
    /// Of the last request; the others cannot be cancelled.
    pub control: Option<Arc<Control>>,
}

/// The memory of the frame, and the place among those that are carried out.
pub type Held = (Vec<OwnedSemaphorePermit>, OwnedSemaphorePermit);

/// What a client sends behind such a request may rely on its having been done, or begun.
pub fn is_ordered(command: Command) -> bool {
    match command {
        Command::Negotiate
        | Command::SessionSetup
        | Command::Logoff
        | Command::TreeConnect
        | Command::TreeDisconnect
        | Command::ChangeNotify
        | Command::Lock
        | Command::SetInfo
        | Command::OplockBreak => true,
        Command::Cancel
        | Command::Create
        | Command::Close
        | Command::Flush
        | Command::Read
        | Command::Write
        | Command::Ioctl
        | Command::Echo
        | Command::QueryDirectory
        | Command::QueryInfo => false,
    }
}

/// How long a request may take before the client is told that its answer will come later.
fn patience(command: Option<Command>) -> Duration {
    match command {
        Some(Command::ChangeNotify) => Duration::from_millis(3),
        Some(Command::Lock) => Duration::from_millis(15),
        Some(Command::Create | Command::SetInfo) => Duration::from_millis(50),
        _ => Duration::from_millis(500),
    }
}

/// May be given up while it waits: what it does is then undone by the service.
fn is_cancellable(command: Option<Command>) -> bool {
    kept_of(command).is_some()
}

/// How much is kept of a request that may wait for something to happen: as much as its command can use.
fn kept_of(command: Option<Command>) -> Option<usize> {
    match command {
        Some(Command::ChangeNotify) => Some(header::SIZE + 32),
        Some(Command::Lock) => Some(header::SIZE + lock::LONGEST),
        Some(Command::Create) => Some(PARKED_CREATE_MAX),
        _ => None,
    }
}

/// What related requests inherit.
#[derive(Default)]
struct Inherited {
    channel: Option<Arc<Channel>>,
    session_id: u64,
    tree_id: u32,
    file: Option<FileId>,
    /// The request that would have opened the file failed.
    failed: Option<NtStatus>,
}

impl Chain {
    pub async fn run(self, held: Held) {
        let Self { connection, messages, encrypted_by, control } = self;
        let sealed_for = encrypted_by.as_ref().map(|channel| &*channel.session);
        let last_id = messages.last().map(|last| last.header.message_id);
        let last_control = control.unwrap_or_default();
        let _settles = Settles(Arc::clone(&last_control));
        let mut held = Some(held);
        let mut inherited = Inherited::default();
        let mut parts = Vec::new();
        let count = messages.len();
        for (number, incoming) in messages.into_iter().enumerate() {
            let last = number + 1 == count;
            let related = incoming.header.has(flag::RELATED_OPERATIONS);
            let control = if last { Arc::clone(&last_control) } else { Arc::default() };
            // What may wait for long gives the memory of its frame back, and keeps no more than it needs.
            let whole = incoming.message;
            let message = match kept_of(incoming.header.known_command()) {
                Some(kept) => Bytes::copy_from_slice(whole.get(..kept).unwrap_or(&whole)),
                None => whole.clone(),
            };
            drop(whole);
            let mut call = Call {
                connection: Arc::clone(&connection),
                channel: incoming.channel,
                header: incoming.header,
                message,
                related: None,
                control,
                encrypted: encrypted_by.is_some(),
            };
            let refused = inherited.pass_on(&mut call, related, number, incoming.refused);
            let outcome = match refused {
                Some(status) => Err(Failure::from(status)),
                None => perform(&call, last, &mut parts, sealed_for, &mut held).await,
            };
            inherited.remember(&call, &outcome);
            parts.push(part(&call, outcome));
        }
        if let Some(id) = last_id {
            connection.untrack(id);
        }
        send(&connection, parts, sealed_for).await;
    }
}

/// However a chain ends: what waits for it goes on.
struct Settles(Arc<Control>);

impl Drop for Settles {
    fn drop(&mut self) {
        self.0.settle();
    }
}

impl Inherited {
    /// Gives a related request what it has of the one before (MS-SMB2 3.3.5.2.7.2).
    fn pass_on(
        &mut self,
        call: &mut Call,
        related: bool,
        number: usize,
        refused: Option<NtStatus>,
    ) -> Option<NtStatus> {
        if !related {
            *self = Self::default();
            return refused;
        }
        if number == 0 {
            self.failed = Some(NtStatus::INVALID_PARAMETER);
            return refused.or(self.failed);
        }
        // There is nothing to be related to.
        if self.channel.is_none() && self.session_id != 0 {
            return Some(NtStatus::INVALID_PARAMETER);
        }
        if refused.is_some() {
            return refused;
        }
        call.header.session_id = self.session_id;
        call.header.tree_id = self.tree_id;
        call.channel = call.channel.take().or_else(|| self.channel.clone());
        call.related = self.file;
        self.failed
    }

    fn remember(&mut self, call: &Call, outcome: &Result<Reply, Failure>) {
        self.channel.clone_from(&call.channel);
        self.session_id = call.header.session_id;
        self.tree_id = call.header.tree_id;
        match outcome {
            Ok(reply) => {
                self.file = reply.file.or(self.file);
                self.tree_id = reply.tree_id.unwrap_or(self.tree_id);
                self.failed = None;
            }
            Err(failure) => {
                if call.header.known_command() == Some(Command::Create) || self.failed.is_some() {
                    self.failed = Some(failure.status);
                }
            }
        }
    }
}

/// Carries a request out. Where that takes long, the client is told so, together with what came before it in the frame.
async fn perform(
    call: &Call,
    last: bool,
    before: &mut Vec<Part>,
    encrypted_by: Option<&Session>,
    held: &mut Option<Held>,
) -> Result<Reply, Failure> {
    let command = call.header.known_command();
    // State behind a panic is safe to use again: what a request changes, it changes by a commit or not at all.
    let work = async {
        let done = AssertUnwindSafe(command::perform(call)).catch_unwind().await;
        done.unwrap_or_else(|_| Err(NtStatus::INTERNAL_ERROR.into()))
    };
    let mut work = std::pin::pin!(work);
    if !last {
        return match command {
            // It would hold up what follows for as long as nothing changes.
            Some(Command::ChangeNotify) => Err(NtStatus::INTERNAL_ERROR.into()),
            _ => work.await,
        };
    }
    let cancelled = async {
        match is_cancellable(command) {
            true => call.control.cancelled().await,
            false => std::future::pending().await,
        }
    };
    let mut cancelled = std::pin::pin!(cancelled);
    tokio::select! {
        biased;
        done = &mut work => return done,
        () = &mut cancelled => return Err(NtStatus::CANCELLED.into()),
        () = sleep(patience(command)) => {}
    }
    // Requests that change who the connection is are answered in their turn, however long that takes.
    let keeps_its_turn =
        matches!(command, Some(Command::Negotiate | Command::SessionSetup | Command::Logoff));
    if keeps_its_turn {
        return work.await;
    }
    // What is kept of a request that gives the memory of its frame back is paid for, too.
    let kept = match is_cancellable(command) {
        true => call.connection.parked_memory(call.message.len()).map(Some),
        false => Some(None),
    };
    let Some(_kept) = kept else { return Err(NtStatus::INSUFFICIENT_RESOURCES.into()) };
    let parked = &call.connection.parked;
    if parked.fetch_add(1, Ordering::Relaxed) >= PARKED_MAX && is_cancellable(command) {
        parked.fetch_sub(1, Ordering::Relaxed);
        return Err(NtStatus::INSUFFICIENT_RESOURCES.into());
    }
    call.control.set_async_id(call.connection.fresh_async_id());
    before.push(interim(call));
    let told = async {
        send(&call.connection, std::mem::take(before), encrypted_by).await;
        call.control.settle();
        if is_cancellable(command) {
            // A request that waits for something to happen gives its place to the next one.
            held.take();
        }
    };
    // The work goes on while a client is slow to take the word: others may wait for what it has meanwhile.
    let mut early = None;
    {
        let mut told = std::pin::pin!(told);
        while early.is_none() {
            tokio::select! {
                biased;
                done = &mut work => early = Some(done),
                () = &mut told => break,
            }
        }
        if early.is_some() {
            told.await;
        }
    }
    let outcome = match early {
        Some(done) => done,
        None => tokio::select! {
            biased;
            done = &mut work => done,
            () = &mut cancelled => Err(NtStatus::CANCELLED.into()),
        },
    };
    parked.fetch_sub(1, Ordering::Relaxed);
    outcome
}

/// Never signed: AES-GMAC must not sign two messages with one id.
fn interim(call: &Call) -> Part {
    let header = ResponseHeader {
        credit_charge: call.header.credit_charge,
        status: NtStatus::PENDING,
        command: call.header.command,
        credits: call.connection.credits.lock().grant(call.header.credit_request),
        flags: call.header.flags & flag::RELATED_OPERATIONS,
        message_id: call.header.message_id,
        async_id: call.control.async_id(),
        tree_id: call.header.tree_id,
        session_id: call.header.session_id,
    };
    Part {
        header,
        body: error_body(&[]),
        payload: Vec::new(),
        held: Vec::new(),
        signed_by: None,
        echoed: None,
        after: None,
    }
}

fn part(call: &Call, outcome: Result<Reply, Failure>) -> Part {
    let reply = match outcome {
        Ok(reply) => reply,
        Err(Failure { status, data }) => {
            Reply { status: Some(status), body: error_body(&data), ..Reply::default() }
        }
    };
    let async_id = call.control.async_id();
    let credits = match async_id {
        Some(_) => 0,
        None => call.connection.credits.lock().grant(call.header.credit_request),
    };
    let header = ResponseHeader {
        credit_charge: call.header.credit_charge,
        status: reply.status.unwrap_or(NtStatus::SUCCESS),
        command: call.header.command,
        credits,
        flags: call.header.flags & (flag::RELATED_OPERATIONS | flag::REPLAY_OPERATION),
        message_id: call.header.message_id,
        async_id,
        tree_id: reply.tree_id.unwrap_or(call.header.tree_id),
        session_id: reply.session_id.unwrap_or(call.header.session_id),
    };
    let signed_by = reply.sign_as.or_else(|| call.channel.clone());
    let unknown = signed_by.is_none() && call.header.has(flag::SIGNED);
    let echoed = unknown.then_some(call.header.signature);
    Part {
        header,
        body: reply.body,
        payload: reply.payload,
        held: reply.held,
        signed_by,
        echoed,
        after: reply.after,
    }
}

async fn send(connection: &Connection, parts: Vec<Part>, encrypted_by: Option<&Session>) {
    if parts.is_empty() {
        return;
    }
    match frame(parts, encrypted_by) {
        Ok(frame) => connection.send(frame).await,
        Err(_) => {
            tracing::error!("an SMB answer cannot be signed or encrypted");
            connection.close();
        }
    }
}
