//! Requests to the binary, on connections of their own. What fails to be sent or answered fails the test.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use lazuli_testing::{Form, Signer, blocking};

pub use lazuli_testing::blocking::Connection;
pub use lazuli_testing::{ACCOUNT, Answer, KEY, Request};

pub fn connect(address: SocketAddr) -> TcpStream {
    blocking::connect(address).expect("connects")
}

pub fn get(address: SocketAddr, target: &str) -> Answer {
    send(connect(address), &Request::new("GET", target))
}

pub fn post(address: SocketAddr, target: &str, body: &str) -> Answer {
    send(connect(address), &Request::new("POST", target).body(body.to_owned()))
}

pub fn send(stream: impl Read + Write, request: &Request) -> Answer {
    Connection::new(stream).exchange(request).expect("an answer")
}

/// What the server takes the time to be; any answer tells.
pub fn server_date(address: SocketAddr) -> String {
    let answer = get(address, &format!("/{ACCOUNT}?comp=list"));
    answer.header("date").expect("every answer has a date").to_owned()
}

/// Signed by an account, with the time of the server that is asked.
pub fn signed_as(address: SocketAddr, account: &str, key: &str, request: Request) -> Request {
    let signer = Signer::new(account, key, Form::BlobQueueFile);
    request.header("x-ms-version", "2023-11-03").sign(&signer, &server_date(address))
}

pub fn signed(address: SocketAddr, request: Request) -> Request {
    signed_as(address, ACCOUNT, KEY, request)
}

/// A Put Blob that is signed, so that a test may send its parts when it wants.
pub fn put_blob(address: SocketAddr, target: &str, body: &[u8]) -> Request {
    let put = Request::new("PUT", target).header("x-ms-blob-type", "BlockBlob");
    signed(address, put.body(body.to_vec()))
}

pub fn send_signed(address: SocketAddr, method: &'static str, target: &str) -> Answer {
    send(connect(address), &signed(address, Request::new(method, target)))
}
