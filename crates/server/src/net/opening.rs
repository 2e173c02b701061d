//! A connection before its first request: told apart by its first byte, and greeted over TLS.

use std::fmt;
use std::io;
use std::pin::pin;

use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::activity::{Activity, Phase};
use super::connection::Traffic;
use super::cuts::Reason;
use super::limits::{FIRST_BYTE_PATIENCE, HANDSHAKE_PATIENCE};
use super::stream::Stream;

/// First byte of a TLS record that opens a handshake; no HTTP method begins with it.
const TLS_HANDSHAKE: u8 = 0x16;

/// Why a connection was not opened.
#[derive(Debug)]
pub enum Unopened {
    Cut(Reason),
    Draining,
    Failed(io::Error),
}

impl fmt::Display for Unopened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut(reason) => write!(f, "cut off: {reason:?}"),
            Self::Draining => f.write_str("the server is stopping"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

/// With a certificate, one port speaks http and https. Until the connection is open it holds a place like any other, so
/// it gives way to pressure like any other.
pub async fn open(
    socket: TcpStream,
    tls: Option<&TlsAcceptor>,
    activity: &Activity,
    traffic: &mut watch::Receiver<Traffic>,
) -> Result<Stream, Unopened> {
    let Some(tls) = tls else { return Ok(Stream::Plain(socket)) };
    let mut greeted = pin!(greet(socket, tls, activity));
    loop {
        tokio::select! {
            biased;
            opened = greeted.as_mut() => return opened,
            changed = traffic.changed() => {
                let now = if changed.is_ok() { *traffic.borrow_and_update() } else { Traffic::Draining };
                match now {
                    Traffic::Open => {}
                    Traffic::Pressure(_) if activity.gives_way() => return Err(Unopened::Cut(Reason::Pressure)),
                    Traffic::Pressure(_) => {}
                    Traffic::Draining => return Err(Unopened::Draining),
                }
            }
        }
    }
}

/// The first byte is looked at where it lies, in the kernel's buffer, so that telling http and https apart costs no
/// copy and no wrapper around the socket.
async fn greet(socket: TcpStream, tls: &TlsAcceptor, activity: &Activity) -> Result<Stream, Unopened> {
    let mut first = [0];
    let seen = timeout(FIRST_BYTE_PATIENCE, socket.peek(&mut first))
        .await
        .map_err(|_| Unopened::Cut(Reason::Silent))?
        .map_err(Unopened::Failed)?;
    if seen == 0 || first != [TLS_HANDSHAKE] {
        return Ok(Stream::Plain(socket));
    }
    activity.enter(Phase::Head);
    let stream = timeout(HANDSHAKE_PATIENCE, tls.accept(socket))
        .await
        .map_err(|_| Unopened::Cut(Reason::Handshake))?
        .map_err(Unopened::Failed)?;
    activity.enter(Phase::Idle);
    Ok(Stream::Tls(Box::new(stream)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::ServerConfig;
    use rustls::pki_types::PrivateKeyDer;
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;
    use tokio::time::Instant;

    use super::*;

    fn acceptor() -> TlsAcceptor {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("made");
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("a pair");
        TlsAcceptor::from(Arc::new(config))
    }

    async fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
        let client = TcpStream::connect(listener.local_addr().expect("bound")).await.expect("connects");
        (client, listener.accept().await.expect("accepts").0)
    }

    async fn opened(socket: TcpStream) -> Result<Stream, Unopened> {
        let (_told, mut traffic) = watch::channel(Traffic::Open);
        open(socket, Some(&acceptor()), &Activity::new(), &mut traffic).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_connection_is_given_up_after_half_a_minute() {
        let (_client, socket) = pair().await;
        let started = Instant::now();
        let outcome = opened(socket).await;
        assert!(matches!(outcome, Err(Unopened::Cut(Reason::Silent))));
        assert_eq!(started.elapsed().as_secs(), FIRST_BYTE_PATIENCE.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn half_a_handshake_is_given_up_too() {
        let (mut client, socket) = pair().await;
        client.write_all(&[TLS_HANDSHAKE, 3, 1]).await.expect("sent");
        let started = Instant::now();
        let outcome = opened(socket).await;
        assert!(matches!(outcome, Err(Unopened::Cut(Reason::Handshake))));
        assert!(started.elapsed() <= FIRST_BYTE_PATIENCE + HANDSHAKE_PATIENCE);
    }
}
