//! Stands between servers and their database or store, and cuts.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::trap::{Catch, Trap};
use crate::Trial;

pub struct Proxy {
    pub port: u16,
    pub faults: Arc<Faults>,
}

#[derive(Default)]
pub struct Faults {
    /// Of so many answers to commits, one is not handed on: the connection is cut instead. 0: none.
    pub cut_answers: AtomicU32,
    /// Connections are refused, and open ones cut.
    pub down: AtomicBool,
    pub cuts: AtomicU64,
    pub trap: Trap,
    passed: AtomicU64,
}

impl Proxy {
    /// To a port of loopback.
    pub async fn start(to: u16) -> Trial<Self> {
        let failed = |error: std::io::Error| format!("a proxy: {error}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let faults = Arc::new(Faults::default());
        let of_each = faults.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, SocketAddr::from((Ipv4Addr::LOCALHOST, to)), of_each.clone()));
            }
        });
        Ok(Self { port, faults })
    }
}

async fn carry(client: TcpStream, to: SocketAddr, faults: Arc<Faults>) {
    if faults.down.load(Relaxed) {
        return;
    }
    let Ok(server) = TcpStream::connect(to).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let way = Way::default();
    tokio::select! {
        () = pass(from_client, to_server, &faults, &way, Towards::Database) => {}
        () = pass(from_server, to_client, &faults, &way, Towards::Server) => {}
    }
}

/// What both directions of a connection know.
#[derive(Default)]
struct Way {
    /// A commit is under way.
    committing: AtomicBool,
    /// Its answer is not handed on: the server is to be killed.
    is_caught: AtomicBool,
}

#[derive(Clone, Copy)]
enum Towards {
    Database,
    Server,
}

/// Whether this asks for the function that commits, which alone has that many parameters, more with each version of it: `Bind`, the
/// names of a portal and a statement, and how many formats of parameters follow.
fn is_commit(sent: &[u8]) -> bool {
    let Some((b'B', rest)) = sent.split_first() else { return false };
    let mut names = rest.get(4..).unwrap_or_default().splitn(3, |byte| *byte == 0);
    names.nth(2).is_some_and(|rest| matches!(rest, [0, parameters, ..] if *parameters > 20))
}

/// Until one side ends, or it is cut.
async fn pass(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    faults: &Faults,
    way: &Way,
    towards: Towards,
) {
    let mut bytes = vec![0; 64 << 10];
    let down = async || {
        while !faults.down.load(Relaxed) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    loop {
        let read = tokio::select! {
            read = from.read(&mut bytes) => read,
            () = down() => return,
        };
        let Ok(length @ 1..) = read else { return };
        let one_of = u64::from(faults.cut_answers.load(Relaxed));
        let (begins_commit, ends_commit) = match towards {
            Towards::Database => (is_commit(&bytes[..length]), false),
            Towards::Server => (false, way.committing.swap(false, Relaxed)),
        };
        way.committing.fetch_or(begins_commit, Relaxed);
        if begins_commit && faults.trap.springs(Catch::Sent)
            || ends_commit && faults.trap.springs(Catch::Answered)
        {
            return faults.trap.hold().await;
        }
        if begins_commit && faults.trap.springs(Catch::Arrived) {
            way.is_caught.store(true, Relaxed);
            let _ = to.write_all(&bytes[..length]).await;
            return faults.trap.hold().await;
        }
        if way.is_caught.load(Relaxed) {
            faults.trap.answered();
            return faults.trap.hold().await;
        }
        if ends_commit && one_of > 0 {
            let number = faults.passed.fetch_add(1, Relaxed);
            let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            if mixed.is_multiple_of(one_of) {
                faults.cuts.fetch_add(1, Relaxed);
                return;
            }
        }
        if to.write_all(&bytes[..length]).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_commit;

    #[test]
    fn a_commit_is_known_by_its_parameters() {
        let bind = |parameters: u8| [b"B\0\0\0\x50\0s12\0\0".as_slice(), &[parameters], &[0, 1]].concat();
        assert!(is_commit(&bind(21)) && is_commit(&bind(27)));
        assert!(!is_commit(&bind(5)) && !is_commit(b"") && !is_commit(b"Q\0\0\0\x04\0\0\0\x15"));
    }
}
