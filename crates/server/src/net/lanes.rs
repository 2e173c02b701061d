//! Lanes: a runtime of one thread for each processor. A connection stays on its lane from its first byte to its last, so
//! that what it keeps stays in one processor's caches and no request is handed from thread to thread (decision 0013).

use std::future::Future;
use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::runtime::{Builder, Handle};
use tokio::sync::watch;

/// Threads for work that blocks, of all lanes together; what needs many has a bound of its own far below.
const BLOCKING_THREADS: usize = 512;

pub struct Lanes {
    lanes: Vec<Lane>,
    /// The threads leave when it is gone.
    _open: watch::Sender<()>,
}

struct Lane {
    runtime: Handle,
    /// Held by each of its connections.
    connections: Arc<()>,
}

impl Lanes {
    pub fn start() -> io::Result<Self> {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        Self::start_some(count)
    }

    fn start_some(count: usize) -> io::Result<Self> {
        let open = watch::Sender::new(());
        let lane = |_| Lane::start((BLOCKING_THREADS / count).max(1), open.subscribe());
        let lanes = (0..count).map(lane).collect::<io::Result<_>>()?;
        Ok(Self { lanes, _open: open })
    }

    /// The one lane that is the runtime of the caller.
    pub fn here() -> Self {
        Self { lanes: vec![Lane::of(Handle::current())], _open: watch::Sender::new(()) }
    }

    /// Serves a connection on the lane that has the fewest.
    pub fn take<F>(
        &self,
        socket: TcpStream,
        serve: impl FnOnce(TcpStream) -> F + Send + 'static,
    ) -> io::Result<()>
    where
        F: Future<Output = ()> + Send,
    {
        let Some(lane) = self.lanes.iter().min_by_key(|lane| lane.connections()) else { return Ok(()) };
        // A socket belongs to the runtime that it was registered with.
        let socket = socket.into_std()?;
        let place = lane.connections.clone();
        lane.runtime.spawn(async move {
            match TcpStream::from_std(socket) {
                Ok(socket) => serve(socket).await,
                Err(error) => tracing::warn!(%error, "cannot serve a connection"),
            }
            drop(place);
        });
        Ok(())
    }
}

impl Lane {
    fn start(blocking_threads: usize, mut open: watch::Receiver<()>) -> io::Result<Self> {
        let runtime =
            Builder::new_current_thread().enable_all().max_blocking_threads(blocking_threads).build()?;
        let lane = Self::of(runtime.handle().clone());
        std::thread::Builder::new().name("lane".into()).spawn(move || {
            // Nothing is ever sent: this ends with the sender.
            let _ = runtime.block_on(open.changed());
            runtime.shutdown_background();
        })?;
        Ok(lane)
    }

    fn of(runtime: Handle) -> Self {
        Self { runtime, connections: Arc::new(()) }
    }

    fn connections(&self) -> usize {
        Arc::strong_count(&self.connections) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::thread::ThreadId;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;
    use tokio::time::timeout;

    /// A connection that tells its thread at once and each time it is asked, until the client leaves.
    async fn tell(mut socket: TcpStream, to: mpsc::UnboundedSender<ThreadId>) {
        let mut asked = [0];
        loop {
            to.send(std::thread::current().id()).expect("the test listens");
            if !matches!(socket.read(&mut asked).await, Ok(1)) {
                return;
            }
        }
    }

    struct Door {
        lanes: Lanes,
        listener: TcpListener,
        to: mpsc::UnboundedSender<ThreadId>,
    }

    impl Door {
        async fn open(lanes: usize) -> (Self, mpsc::UnboundedReceiver<ThreadId>) {
            let lanes = Lanes::start_some(lanes).expect("starts");
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
            let (to, told) = mpsc::unbounded_channel();
            (Self { lanes, listener, to }, told)
        }

        async fn connect(&self) -> TcpStream {
            let address = self.listener.local_addr().expect("bound");
            let client = TcpStream::connect(address).await.expect("connects");
            let (socket, _) = self.listener.accept().await.expect("accepts");
            let to = self.to.clone();
            self.lanes.take(socket, move |socket| tell(socket, to)).expect("taken");
            client
        }
    }

    #[tokio::test]
    async fn connections_are_spread_and_stay_where_they_are() {
        let (door, mut told) = Door::open(3).await;
        let mut on = HashMap::new();
        let mut clients = Vec::new();
        for _ in 0..6 {
            clients.push(door.connect().await);
            *on.entry(told.recv().await.expect("told")).or_insert(0) += 1;
        }
        assert_eq!(on.into_values().collect::<Vec<_>>(), [2, 2, 2]);

        clients[0].write_all(&[0]).await.expect("asks");
        let first = told.recv().await;
        clients[0].write_all(&[0]).await.expect("asks");
        assert_eq!(told.recv().await, first);
    }

    #[tokio::test]
    async fn who_leaves_makes_room_on_its_own_lane() {
        let (door, mut told) = Door::open(2).await;
        let mut clients = Vec::new();
        let mut threads = Vec::new();
        for _ in 0..4 {
            clients.push(door.connect().await);
            threads.push(told.recv().await.expect("told"));
        }
        clients.remove(1);
        let left = async {
            while door.lanes.lanes.iter().map(Lane::connections).sum::<usize>() > 3 {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(30), left).await.expect("it leaves");
        clients.push(door.connect().await);
        assert_eq!(told.recv().await, Some(threads[1]));
    }

    #[tokio::test]
    async fn the_threads_leave_with_the_lanes() {
        let (door, mut told) = Door::open(1).await;
        let _client = door.connect().await;
        assert!(told.recv().await.is_some());
        drop(door);
        // The connection is dropped with its runtime, and its sender with it.
        assert!(told.recv().await.is_none());
    }
}
