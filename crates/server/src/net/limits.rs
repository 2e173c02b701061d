//! Every bound of the network side, in one place.

use std::time::Duration;

/// Request line and headers together. The service takes 8 KiB of metadata beside long names and SAS tokens.
pub const MAX_HEAD: usize = 64 * 1024;
pub const MAX_HEADERS: usize = 256;
/// What is read from a connection, or waits to be written to it, at a time: many uploads at once multiply it.
pub const MAX_BUFFER: usize = 64 * 1024;
/// From the first byte of a request to the end of its headers.
pub const HEAD_PATIENCE: Duration = Duration::from_secs(30);
/// From accept to the first byte, where the first byte tells https from http: a client of https greets at once.
pub const FIRST_BYTE_PATIENCE: Duration = Duration::from_secs(30);
/// From the first byte of a TLS handshake to its end.
pub const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(30);
/// Without the client taking a byte of the answer.
pub const WRITE_PATIENCE: Duration = Duration::from_secs(120);
/// The least rate at which a client takes its answers is judged over so much waiting for it.
pub const RATE_WINDOW: Duration = Duration::from_secs(120);
/// Bytes a second. A slower client would keep its connection and its content for too long.
pub const LEAST_RATE: u64 = 16 * 1024;
/// A new connection waits so long for a place before the acceptor asks others to leave: connections that are idle, and
/// those whose head does not come to an end.
pub const PRESSURE_AFTER: Duration = Duration::from_millis(50);
pub const PRESSURE_IDLE: Duration = Duration::from_secs(1);
pub const PRESSURE_HEAD: Duration = Duration::from_secs(3);
