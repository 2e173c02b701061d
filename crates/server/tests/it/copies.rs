//! A copy under way when the process is killed.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use crate::client::{ACCOUNT, Request, connect, send, signed};
use crate::process::{Server, command};

const LARGE: usize = 9 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(30);

/// Stalls when it is asked first, and then sends what it announced.
fn source() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for (number, stream) in listener.incoming().enumerate() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 4096]);
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {LARGE}\r\n\r\n");
            let _ = stream.write_all(head.as_bytes());
            if number > 0 {
                let _ = stream.write_all(&vec![b'x'; LARGE]);
            }
            kept.push(stream);
        }
    });
    address
}

/// The next process begins it again.
#[test]
fn a_copy_outlives_its_server() {
    let (directory, source) = (tempfile::tempdir().expect("a directory"), source());
    let allowed = source.to_string();
    let start = || {
        let arguments = ["--createContainers", "box", "--copySources", &allowed];
        Server::start(command(directory.path()).args(arguments))
    };
    let mut server = start();
    let copy = Request::new("PUT", format!("/{ACCOUNT}/box/blob"))
        .header("x-ms-copy-source", format!("http://{source}/b?sig=s"));
    let blob = server.address("blob");
    let begun = send(connect(blob), &signed(blob, copy));
    assert_eq!((begun.status, begun.header("x-ms-copy-status")), (202, Some("pending")));
    let id = begun.header("x-ms-copy-id").expect("an id").to_owned();
    server.kill();
    let server = start();
    let (blob, end) = (server.address("blob"), Instant::now() + PATIENCE);
    loop {
        let read = send(connect(blob), &signed(blob, Request::new("HEAD", format!("/{ACCOUNT}/box/blob"))));
        assert_eq!(read.header("x-ms-copy-id"), Some(id.as_str()));
        match read.header("x-ms-copy-status") {
            Some("success") => {
                assert_eq!(read.header("content-length"), Some(LARGE.to_string().as_str()));
                return;
            }
            status => assert_eq!(status, Some("pending")),
        }
        assert!(Instant::now() < end, "the copy does not end");
        std::thread::sleep(Duration::from_millis(50));
    }
}
