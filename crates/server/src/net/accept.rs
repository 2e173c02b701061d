//! Accepting connections, as many as there is room for and no more. Running out of descriptors slows the
//! accepting down; it never ends it and never spins.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use super::connection::{Answering, Settings, Traffic, serve};
use super::cuts::Cuts;
use super::lanes::Lanes;
use super::limits::PRESSURE_AFTER;

const BACKLOG: u32 = 1024;
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

pub struct Bound {
    pub listener: TcpListener,
    /// With the port that was chosen, when any free one was asked for.
    pub address: SocketAddr,
}

pub fn bind(address: SocketAddr) -> io::Result<Bound> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restart must not wait for connections of the process before it.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?;
    let address = listener.local_addr()?;
    Ok(Bound { listener, address })
}

/// Shared by the listeners of one pool of connections.
#[derive(Clone)]
pub struct Acceptor {
    lanes: Arc<Lanes>,
    room: Arc<Semaphore>,
    capacity: u32,
    traffic: watch::Sender<Traffic>,
    cuts: Cuts,
}

impl Acceptor {
    pub fn new(capacity: usize, lanes: Lanes) -> Self {
        let capacity = u32::try_from(capacity.min(Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX);
        Self {
            lanes: Arc::new(lanes),
            room: Arc::new(Semaphore::new(capacity as usize)),
            capacity,
            traffic: watch::Sender::new(Traffic::Open),
            cuts: Cuts::default(),
        }
    }

    pub fn open_connections(&self) -> usize {
        (self.capacity as usize).saturating_sub(self.room.available_permits())
    }

    /// Connections that the server ended by itself.
    pub fn cuts(&self) -> &Cuts {
        &self.cuts
    }

    /// Accepts until draining begins.
    pub async fn run<A: Answering>(self, listener: TcpListener, settings: Settings<A>) {
        let settings = Arc::new(settings);
        let cuts = self.cuts.clone();
        let serve = move |socket, address, traffic| {
            let (settings, cuts) = (settings.clone(), cuts.clone());
            async move { serve(socket, address, settings, traffic, &cuts).await }
        };
        self.run_with(listener, serve).await;
    }

    /// The same for another protocol: `serve` is given each connection, and sees when it is time to leave.
    pub async fn run_with<F>(
        self,
        listener: TcpListener,
        serve: impl Fn(TcpStream, SocketAddr, watch::Receiver<Traffic>) -> F + Clone + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut traffic = self.traffic.subscribe();
        let accepting = async {
            let mut pause = SHORTEST_PAUSE;
            loop {
                // Accept first, so that a listener without clients holds no place of the pool.
                match listener.accept().await {
                    Ok((socket, address)) => {
                        pause = SHORTEST_PAUSE;
                        let place = self.place().await;
                        self.spawn(place, socket, address, serve.clone());
                    }
                    Err(error) if is_of_one_connection(&error) => {}
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept connections, trying again");
                        self.press();
                        sleep(pause).await;
                        pause = (pause * 2).min(LONGEST_PAUSE);
                    }
                }
            }
        };
        tokio::select! {
            () = accepting => {}
            _ = traffic.wait_for(|now| *now == Traffic::Draining) => {}
        }
    }

    /// Tells every connection to finish and leave; true when all have left in time.
    pub async fn drain(&self, patience: Duration) -> bool {
        self.traffic.send_replace(Traffic::Draining);
        timeout(patience, self.room.acquire_many(self.capacity)).await.is_ok()
    }

    async fn place(&self) -> OwnedSemaphorePermit {
        loop {
            match timeout(PRESSURE_AFTER, self.room.clone().acquire_owned()).await {
                Ok(Ok(place)) => return place,
                // The semaphore is never closed.
                Ok(Err(_)) => std::future::pending().await,
                Err(_) => self.press(),
            }
        }
    }

    fn press(&self) {
        self.traffic.send_if_modified(|traffic| match *traffic {
            Traffic::Open => {
                *traffic = Traffic::Pressure(0);
                true
            }
            Traffic::Pressure(times) => {
                *traffic = Traffic::Pressure(times.wrapping_add(1));
                true
            }
            Traffic::Draining => false,
        });
    }

    fn spawn<F>(
        &self,
        place: OwnedSemaphorePermit,
        socket: TcpStream,
        address: SocketAddr,
        serve: impl FnOnce(TcpStream, SocketAddr, watch::Receiver<Traffic>) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        // Small answers must not wait for the client's delayed acknowledgement.
        let _ = socket.set_nodelay(true);
        let traffic = self.traffic.subscribe();
        let taken = self.lanes.take(socket, move |socket| async move {
            serve(socket, address, traffic).await;
            drop(place);
        });
        if let Err(error) = taken {
            tracing::warn!(%error, "cannot serve a connection");
        }
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted
    )
}
