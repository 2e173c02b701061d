//! The File service over SMB: connections of the same pool, served by another protocol.

use std::sync::Arc;
use std::time::Duration;

use lazuli_smb::{Options, Server};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

use crate::assemble::Assembled;
use crate::metrics::Metrics;
use crate::net::{Acceptor, Bound, Traffic};

type Error = Box<dyn std::error::Error + Send + Sync>;

/// How the server calls itself to clients, which reach it by other names.
const NAME: &str = "LAZULI";

/// A client that is gone without a word is noticed after two minutes: what it has open would block others for ever.
fn keep_alive(socket: &TcpStream, peer: std::net::SocketAddr) {
    let often = TcpKeepalive::new().with_time(SILENT).with_interval(Duration::from_secs(10)).with_retries(6);
    if let Err(error) = SockRef::from(socket).set_tcp_keepalive(&often) {
        tracing::debug!(%error, %peer, "an SMB connection is not looked after");
    }
}

const SILENT: Duration = Duration::from_secs(60);

pub fn start(
    acceptor: &Acceptor,
    assembled: &Assembled,
    metrics: &Metrics,
    bound: Bound,
) -> Result<(), Error> {
    let options = Options { require_encryption: !bound.address.ip().is_loopback(), name: NAME.to_owned() };
    let server = Server::new(assembled.services.clone(), assembled.users.clone(), options);
    let server = Arc::new(server.map_err(|_| "the system has no random numbers")?);
    metrics.watch_smb(server.stats());
    let serve = move |socket: TcpStream, peer, mut traffic: tokio::sync::watch::Receiver<Traffic>| {
        let server = Arc::clone(&server);
        keep_alive(&socket, peer);
        async move {
            let leave = async move {
                // Ends with the sender, too, which is gone when the process leaves.
                let _ = traffic.wait_for(|now| *now == Traffic::Draining).await;
            };
            server.serve(socket, peer, leave).await;
        }
    };
    tokio::spawn(acceptor.clone().run_with(bound.listener, serve));
    Ok(())
}
