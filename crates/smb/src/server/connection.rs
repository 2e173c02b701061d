//! One connection: reading frames, carrying their requests out side by side, writing answers.

use std::collections::HashMap;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::io::AsyncRead;
use tokio::net::TcpStream;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::Server;
use super::call::Control;
use super::chain::{self, Chain};
use super::channel::Channel;
use super::credits::Credits;
use super::limits;
use super::memory::{self, Memory, Pool};
use super::negotiated::Negotiated;
use super::outgoing::{Outgoing, write_all};
use super::receive::{Broken, Incoming, Received};
use super::session::End;
use crate::auth::logon::Logon;
use crate::command::negotiate;
use crate::crypto::PreauthHash;
use crate::status::NtStatus;
use crate::wire::frame;
use crate::wire::header::{Command, flag};

pub struct Connection {
    pub server: Arc<Server>,
    pub peer: SocketAddr,
    /// The address of this machine that the client has reached.
    pub local: IpAddr,
    pub credits: Mutex<Credits>,
    negotiated: OnceLock<Negotiated>,
    /// By the id of the session that each is one of.
    channels: Mutex<HashMap<u64, Arc<Channel>>>,
    /// Logons that have begun, by the id of the session that they will be.
    pub logons: Mutex<HashMap<u64, PendingLogon>>,
    /// Requests under way, by their message id.
    calls: Mutex<HashMap<u64, Arc<Control>>>,
    next_async_id: AtomicU64,
    /// Requests that wait for something to happen.
    pub parked: AtomicUsize,
    out: mpsc::Sender<Outgoing>,
    answer_memory: Pool,
    /// Of the account that logged on first over this connection.
    account_memory: OnceLock<Arc<Memory>>,
    closing: AtomicBool,
    close: Notify,
}

#[derive(Default)]
pub struct PendingLogon {
    pub logon: Logon,
    pub preauth: PreauthHash,
    pub aim: Aim,
}

/// What a logon is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aim {
    #[default]
    NewSession,
    /// A session of this connection proves again who it is.
    Renewal,
    /// A session of another connection is to have this one, too.
    Binding,
}

impl Connection {
    pub async fn serve(
        server: Arc<Server>,
        socket: TcpStream,
        peer: SocketAddr,
        stop: impl Future<Output = ()>,
    ) {
        let Ok(local) = socket.local_addr() else { return };
        let (read, write) = socket.into_split();
        let (out, frames) = mpsc::channel(limits::QUEUE);
        let connection = Arc::new(Self {
            server,
            peer,
            local: local.ip(),
            credits: Mutex::default(),
            negotiated: OnceLock::new(),
            channels: Mutex::default(),
            logons: Mutex::default(),
            calls: Mutex::default(),
            next_async_id: AtomicU64::new(1),
            parked: AtomicUsize::new(0),
            out,
            answer_memory: Pool::new(limits::CONNECTION_SMALL_MEMORY, limits::CONNECTION_ANSWER_MEMORY),
            account_memory: OnceLock::new(),
            closing: AtomicBool::new(false),
            close: Notify::new(),
        });
        // Weakly: the writer ends when the last sender is dropped.
        let closer = Arc::downgrade(&connection);
        let writing = tokio::spawn(async move {
            if let Err(error) = write_all(write, frames).await {
                tracing::debug!(%error, "cannot write to an SMB client");
            }
            if let Some(connection) = closer.upgrade() {
                connection.close();
            }
        });
        let mut tasks = JoinSet::new();
        tokio::select! {
            () = connection.read(read, &mut tasks) => {}
            () = stop => {}
            () = connection.closed() => {}
        }
        connection.finish(tasks).await;
        // The writer ends when the last sender is dropped; one that is stuck is cut off.
        drop(connection);
        let writer = writing.abort_handle();
        if timeout(limits::FINISHING, writing).await.is_err() {
            writer.abort();
        }
    }

    async fn read(self: &Arc<Self>, mut from: impl AsyncRead + Unpin, tasks: &mut JoinSet<()>) {
        let room = Pool::new(limits::CONNECTION_SMALL_MEMORY, limits::CONNECTION_REQUEST_MEMORY);
        let running = Arc::new(Semaphore::new(limits::RUNNING_MAX));
        let mut without_session = Instant::now();
        loop {
            if self.has_sessions() {
                without_session = Instant::now();
            }
            let prefix = match self.next_frame(&mut from, without_session).await {
                Ok(Some(prefix)) => prefix,
                Ok(None) => return,
                Err(error) => {
                    tracing::debug!(%error, peer = %self.peer, "an SMB connection ended");
                    return;
                }
            };
            let length = match frame::announced(prefix, self.frame_max()) {
                Ok(None) => continue,
                Ok(Some(length)) => length,
                Err(error) => {
                    tracing::debug!(%error, peer = %self.peer, "an SMB connection is cut off");
                    return;
                }
            };
            let Some(held) = self.hold(&room, length).await else { return };
            let patience = if self.has_sessions() { limits::STEP } else { limits::EARLY_STEP };
            let body = match frame::read_body(&mut from, length, patience).await {
                Ok(body) => body,
                Err(error) => {
                    tracing::debug!(%error, peer = %self.peer, "an SMB connection ended inside a frame");
                    return;
                }
            };
            let Ok(slot) = Arc::clone(&running).acquire_owned().await else { return };
            while tasks.try_join_next().is_some() {}
            if let Err(Broken(why)) = self.take(body, held, slot, tasks).await {
                tracing::debug!(why, peer = %self.peer, "an SMB connection is cut off");
                return;
            }
        }
    }

    /// Waits for a frame for as long as a client may be silent.
    async fn next_frame(
        &self,
        from: &mut (impl AsyncRead + Unpin),
        without_session: Instant,
    ) -> std::io::Result<Option<[u8; frame::PREFIX]>> {
        let is_over = || !self.has_sessions() && without_session.elapsed() >= limits::HANDSHAKE;
        // A frame that has arrived already is no excuse.
        if is_over() && !self.has_opens() {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        let mut reading = std::pin::pin!(frame::read_prefix(from));
        loop {
            let patience = match self.has_sessions() {
                true => limits::IDLE,
                false => limits::HANDSHAKE.saturating_sub(without_session.elapsed()),
            };
            match timeout(patience, &mut reading).await {
                Ok(read) => return read,
                Err(_) if self.has_opens() => {}
                Err(_) => return Err(std::io::ErrorKind::TimedOut.into()),
            }
        }
    }

    /// Memory for a frame. A connection that gets none for long is ended, and its client comes back.
    async fn hold(&self, own: &Pool, length: usize) -> Option<Vec<OwnedSemaphorePermit>> {
        let memory = &self.server.memory;
        let own = memory::take_own(own, length).await?;
        let mut held = match self.account_memory.get().filter(|_| self.has_sessions()) {
            Some(account) => memory::take(&[&account.requests, &memory.all.requests], length).await?,
            None => memory::take(&[&memory.early_requests], length).await?,
        };
        held.push(own);
        Some(held)
    }

    /// For an answer: a client that does not take its answers waits here, for some time: the answers that it waits for may be those of
    /// its own chain.
    pub async fn answer_memory(&self, bytes: usize) -> Option<Vec<OwnedSemaphorePermit>> {
        let account = self.account_memory.get()?;
        let pools = [&self.answer_memory, &account.answers, &self.server.memory.all.answers];
        // Of a client that is gone nothing more is read.
        tokio::select! {
            biased;
            () = self.closed() => None,
            held = memory::take(&pools, bytes) => held,
        }
    }

    /// For what is kept of a request that waits for something to happen.
    pub fn parked_memory(&self, bytes: usize) -> Option<[OwnedSemaphorePermit; 2]> {
        memory::park([self.account_memory.get()?, &self.server.memory.all], bytes)
    }

    async fn take(
        self: &Arc<Self>,
        body: bytes::BytesMut,
        held: Vec<OwnedSemaphorePermit>,
        slot: OwnedSemaphorePermit,
        tasks: &mut JoinSet<()>,
    ) -> Result<(), Broken> {
        let (mut messages, encrypted_by) = match self.receive(body)? {
            Received::Older(offer) => return negotiate::older(self, offer).await,
            Received::Messages { messages, encrypted_by } => (messages, encrypted_by),
        };
        let mut ordered = false;
        for message in &messages {
            // A command that the protocol does not have is answered, and costs what every request costs.
            let command = message.header.known_command();
            if let Some(command) = command {
                self.server.stats.requested(command);
            }
            if self.negotiated().is_none() && command != Some(Command::Negotiate) {
                return Err(Broken("a request before the negotiation"));
            }
            // Cancelling uses no id of its own, but that of the request which it cancels.
            if command == Some(Command::Cancel) {
                self.cancel(message);
                continue;
            }
            let charge = message.header.credit_charge;
            if !self.credits.lock().consume(message.header.message_id, charge) {
                return Err(Broken("a message id that was not granted or was used"));
            }
            ordered |= command.is_some_and(chain::is_ordered);
        }
        let is_cancel = |message: &Incoming| message.header.known_command() == Some(Command::Cancel);
        messages.retain(|message| !is_cancel(message));
        if messages.is_empty() {
            return Ok(());
        }
        let control = messages.last().map(|last| self.track(last));
        let chain = Chain { connection: Arc::clone(self), messages, encrypted_by, control: control.clone() };
        let held = (held, slot);
        if ordered {
            let Some(control) = control else { return Ok(()) };
            // Runs on beside what follows as soon as it waits for something.
            tasks.spawn(chain.run(held));
            control.settled().await;
        } else {
            tasks.spawn(chain.run(held));
        }
        Ok(())
    }

    /// Ends what is under way, then what is open.
    async fn finish(self: &Arc<Self>, mut tasks: JoinSet<()>) {
        let _ending = self.server.ending();
        self.close();
        self.calls.lock().values().for_each(|control| control.cancel());
        let all = async { while tasks.join_next().await.is_some() {} };
        if timeout(limits::FINISHING, all).await.is_err() {
            tracing::warn!(peer = %self.peer, "requests of an SMB connection that ended are cut off");
        }
        tasks.shutdown().await;
        let channels: Vec<_> = self.channels.lock().drain().map(|(_, channel)| channel).collect();
        for channel in channels {
            if channel.session.unbind(self) {
                self.server.end_session(&channel.session, End::Lost).await;
            }
        }
    }

    pub fn negotiated(&self) -> Option<&Negotiated> {
        self.negotiated.get()
    }

    /// False where it was done before.
    pub fn set_negotiated(&self, negotiated: Negotiated) -> bool {
        self.negotiated.set(negotiated).is_ok()
    }

    /// What it carries of a session.
    pub fn channel(&self, session: u64) -> Option<Arc<Channel>> {
        self.channels.lock().get(&session).cloned()
    }

    /// Refused where there are too many, or the session has ended.
    pub fn add_channel(self: &Arc<Self>, channel: &Arc<Channel>) -> Result<(), NtStatus> {
        let session = &channel.session;
        let mut channels = self.channels.lock();
        if channels.len() >= limits::SESSIONS_MAX {
            return Err(NtStatus::INSUFFICIENT_RESOURCES);
        }
        session.bind(self)?;
        channels.insert(session.id, Arc::clone(channel));
        self.account_memory.get_or_init(|| self.server.memory.of_account(&session.account));
        Ok(())
    }

    /// The session has ended.
    pub fn drop_channel(&self, session: u64) {
        self.channels.lock().remove(&session);
    }

    fn has_sessions(&self) -> bool {
        !self.channels.lock().is_empty()
    }

    fn has_opens(&self) -> bool {
        self.channels.lock().values().any(|channel| channel.session.has_opens())
    }

    fn frame_max(&self) -> usize {
        if self.has_sessions() { limits::FRAME_MAX } else { limits::EARLY_FRAME_MAX }
    }

    fn track(&self, request: &Incoming) -> Arc<Control> {
        let control = Arc::new(Control::of(request.channel.as_ref().map(|channel| channel.session.id)));
        self.calls.lock().insert(request.header.message_id, Arc::clone(&control));
        control
    }

    pub fn untrack(&self, message_id: u64) {
        self.calls.lock().remove(&message_id);
    }

    pub fn fresh_async_id(&self) -> u64 {
        self.next_async_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Never answered (MS-SMB2 3.3.5.16). The request has two ids once its client was told to wait. A cancellation that is of no session, or
    /// not authentic, cancels nothing, and one that is cancels what its own session asked for.
    fn cancel(&self, message: &Incoming) {
        let Some(channel) = message.channel.as_ref().filter(|_| message.refused.is_none()) else { return };
        let header = &message.header;
        let calls = self.calls.lock();
        let found = match header.has(flag::ASYNC_COMMAND) {
            true => calls.values().find(|control| control.async_id() == Some(header.async_id)),
            false => calls.get(&header.message_id),
        };
        if let Some(control) = found.filter(|control| control.is_of(channel.session.id)) {
            control.cancel();
        }
    }

    /// A frame that cannot be sent is of a connection that ends.
    pub async fn send(&self, frame: Outgoing) {
        if self.out.send(frame).await.is_err() {
            self.close();
        }
    }

    /// For what may go another way: gives the frame back where the connection is ending.
    pub async fn send_unless_ending(&self, frame: Outgoing) -> Result<(), Outgoing> {
        match self.closing.load(Ordering::Acquire) {
            true => Err(frame),
            false => self.out.send(frame).await.map_err(|refused| refused.0),
        }
    }

    pub fn close(&self) {
        self.closing.store(true, Ordering::Release);
        self.close.notify_waiters();
    }

    async fn closed(&self) {
        let mut told = std::pin::pin!(self.close.notified());
        told.as_mut().enable();
        if !self.closing.load(Ordering::Acquire) {
            told.await;
        }
    }
}
