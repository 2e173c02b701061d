//! A balancer that hands each connection to the next server.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::shell::Chore;

/// A free port of loopback, and its address.
pub fn bind() -> Chore<(TcpListener, SocketAddr)> {
    let failed = |error: std::io::Error| format!("a balancer: {error}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

/// For as long as the process lives.
pub fn start(listener: TcpListener, servers: Vec<SocketAddr>) {
    let turn = AtomicUsize::new(0);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            // One that is not there is passed over.
            let reached = (0..servers.len()).find_map(|_| {
                let number = turn.fetch_add(1, Ordering::Relaxed) % servers.len().max(1);
                TcpStream::connect(servers.get(number)?).ok()
            });
            if let Some(server) = reached {
                carry(client, server);
            }
        }
    });
}

fn carry(client: TcpStream, server: TcpStream) {
    let (Ok(to_client), Ok(to_server)) = (client.try_clone(), server.try_clone()) else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    std::thread::spawn(move || pass(client, to_server));
    std::thread::spawn(move || pass(server, to_client));
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    let _ = (to.shutdown(Shutdown::Write), from.shutdown(Shutdown::Read));
}
