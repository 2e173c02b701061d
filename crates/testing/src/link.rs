//! A way to a port of loopback that can be cut.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

pub struct Link {
    pub port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    cut: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Link {
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let own = listener.local_addr().expect("its number").port();
        let state = Arc::new(State::default());
        let of_each = state.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                of_each.carry(client, port);
            }
        });
        Self { port: own, state }
    }

    /// Connections end, and no others are made.
    pub fn cut(&self) {
        self.state.cut.store(true, Ordering::SeqCst);
        for stream in self.state.open.lock().expect("no panic").drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub fn mend(&self) {
        self.state.cut.store(false, Ordering::SeqCst);
    }
}

impl State {
    fn carry(&self, client: TcpStream, port: u16) {
        let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { return };
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        let mut open = self.open.lock().expect("no panic");
        if self.cut.load(Ordering::SeqCst) {
            return;
        }
        for (from, to) in [(&client, &server), (&server, &client)] {
            let (Ok(from), Ok(to), Ok(kept)) = (from.try_clone(), to.try_clone(), from.try_clone()) else {
                return;
            };
            open.push(kept);
            std::thread::spawn(move || pass(from, to));
        }
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; 16 << 10];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_carries_until_it_is_cut_and_again_when_it_is_mended() {
        let echo = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let link = Link::to(echo.local_addr().expect("its number").port());
        std::thread::spawn(move || {
            for mut stream in echo.incoming().flatten() {
                std::thread::spawn(move || {
                    let mut byte = [0];
                    while stream.read_exact(&mut byte).is_ok() && stream.write_all(&byte).is_ok() {}
                });
            }
        });
        let ask = |stream: &mut TcpStream| {
            let mut byte = [0];
            stream.write_all(b"x").and_then(|()| stream.read_exact(&mut byte)).is_ok()
        };
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, link.port)).expect("it listens");
        let mut stream = connect();
        assert!(ask(&mut stream));
        link.cut();
        assert!(!ask(&mut stream) && !ask(&mut connect()));
        link.mend();
        assert!(ask(&mut connect()));
    }
}
