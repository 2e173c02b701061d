//! What one client, and all of them together, can make this server hold.

use std::time::Duration;

/// Bytes of one READ, WRITE or other exchange.
pub const TRANSFER_MAX: u32 = 8 * 1024 * 1024;
/// Of a frame: a transfer, and what stands around it.
pub const FRAME_MAX: usize = TRANSFER_MAX as usize + 64 * 1024;
/// Before a client has logged on.
pub const EARLY_FRAME_MAX: usize = 68 * 1024;
/// Message ids that a client may have in use.
pub const CREDITS_MAX: u32 = 8192;
/// Requests of one connection that are carried out at once.
pub const RUNNING_MAX: usize = 64;
/// Requests of one connection that wait for something to happen: changes, locks, breaks.
pub const PARKED_MAX: usize = 1024;
pub const SESSIONS_MAX: usize = 64;
/// Logons of one connection that have begun and not ended.
pub const LOGONS_MAX: usize = 16;
/// Connections of one session.
pub const CHANNELS_MAX: usize = 32;
pub const TREES_MAX: usize = 256;
pub const OPENS_MAX: usize = 16 * 1024;
/// So long a request or an answer has memory apart from longer ones; of each connection, account, and of all.
pub const SMALL: usize = 68 * 1024;
pub const CONNECTION_SMALL_MEMORY: usize = 4 * 1024 * 1024;
pub const ACCOUNT_SMALL_MEMORY: usize = 16 * 1024 * 1024;
pub const SMALL_MEMORY: usize = 64 * 1024 * 1024;
/// Bytes of requests of one connection, and of all.
pub const CONNECTION_REQUEST_MEMORY: usize = 4 * FRAME_MAX;
pub const REQUEST_MEMORY: usize = 32 * FRAME_MAX;
/// Of all connections of one account, whose clients must not keep it from those of others.
pub const ACCOUNT_REQUEST_MEMORY: usize = REQUEST_MEMORY / 4;
/// Of all clients that have not logged on, apart from that of those that have.
pub const EARLY_REQUEST_MEMORY: usize = 16 * 1024 * 1024;
/// Of requests that wait for something to happen and have given the memory of their frames back, of each account and of all.
pub const ACCOUNT_PARKED_MEMORY: usize = 16 * 1024 * 1024;
pub const PARKED_MEMORY: usize = 64 * 1024 * 1024;
/// What is kept of a CREATE that waits: names and contexts are no longer.
pub const PARKED_CREATE_MAX: usize = 132 * 1024;
pub const CONNECTION_ANSWER_MEMORY: usize = 4 * FRAME_MAX;
pub const ANSWER_MEMORY: usize = 32 * FRAME_MAX;
pub const ACCOUNT_ANSWER_MEMORY: usize = ANSWER_MEMORY / 4;
/// An answer of IOCTL.
pub const IOCTL_ANSWER_MAX: usize = 64 * 1024;
/// Frames that wait to be sent.
pub const QUEUE: usize = 64;

/// From the first byte to the first logon.
pub const HANDSHAKE: Duration = Duration::from_secs(30);
/// For the next step of a frame that has begun, and for a client to take an answer.
pub const STEP: Duration = Duration::from_secs(60);
/// The same before a client has logged on.
pub const EARLY_STEP: Duration = Duration::from_secs(5);
/// For memory that others hold.
pub const MEMORY: Duration = Duration::from_secs(20);
/// Without a request and without an open file.
pub const IDLE: Duration = Duration::from_secs(15 * 60);
/// For the old connection of a client that comes back to be found gone.
pub const LOSS_NOTICED: Duration = Duration::from_secs(2);
/// For requests under way when a connection ends.
pub const FINISHING: Duration = Duration::from_secs(30);
