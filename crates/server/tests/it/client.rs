//! The least HTTP client that shows what is on the wire, and Shared Key for it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

pub const ACCOUNT: &str = "devstoreaccount1";
pub const KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect_timeout(&address, Duration::from_secs(10)).expect("connects");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket");
    stream
}

pub fn get(address: SocketAddr, target: &str) -> Answer {
    send(connect(address), "GET", target, &[], b"")
}

pub fn post(address: SocketAddr, target: &str, body: &str) -> Answer {
    send(connect(address), "POST", target, &[], body.as_bytes())
}

pub fn send(
    mut stream: impl Read + Write,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    write_head(&mut stream, method, target, headers, body.len());
    stream.write_all(body).expect("sent");
    read(&mut BufReader::new(stream), method)
}

pub fn write_head(
    stream: &mut impl Write,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    length: usize,
) {
    let mut head = format!("{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).expect("sent");
}

pub fn read(stream: &mut impl BufRead, method: &str) -> Answer {
    let mut line = || {
        let mut text = String::new();
        stream.read_line(&mut text).expect("a line");
        text.trim_end().to_owned()
    };
    let first = line();
    let status =
        first.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{first:?}"));
    let mut headers = Vec::new();
    loop {
        let header = line();
        let Some((name, value)) = header.split_once(": ") else { break };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let mut answer = Answer { status, headers, body: String::new() };
    let length = answer.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    if method != "HEAD" {
        let mut body = vec![0; length];
        stream.read_exact(&mut body).expect("the body");
        answer.body = String::from_utf8(body).expect("text");
    }
    answer
}

/// Headers of a request signed with Shared Key. `date` is what a client with the server's clock would send.
pub fn signed(
    account: &str,
    key: &str,
    method: &str,
    target: &str,
    length: usize,
    date: &str,
) -> Vec<(String, String)> {
    let mut extra = vec![("x-ms-date", date), ("x-ms-version", "2023-11-03")];
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if method == "PUT" && query.is_empty() {
        extra.push(("x-ms-blob-type", "BlockBlob"));
    }
    extra.sort_unstable();
    let canonical: String = extra.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
    let mut parameters: Vec<String> =
        query.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.replacen('=', ":", 1)).collect();
    parameters.sort_unstable();
    let parameters: String = parameters.iter().map(|pair| format!("\n{pair}")).collect();
    let length = if length == 0 { String::new() } else { length.to_string() };
    let text = format!("{method}\n\n\n{length}\n\n\n\n\n\n\n\n\n{canonical}/{account}{path}{parameters}");
    let key = hmac::Key::new(hmac::HMAC_SHA256, &BASE64_STANDARD.decode(key).expect("base64"));
    let signature = BASE64_STANDARD.encode(hmac::sign(&key, text.as_bytes()));
    let mut headers: Vec<(String, String)> =
        extra.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    headers.push(("Authorization".to_owned(), format!("SharedKey {account}:{signature}")));
    headers
}

/// What the server takes the time to be; any answer tells.
pub fn server_date(address: SocketAddr) -> String {
    let answer = get(address, &format!("/{ACCOUNT}?comp=list"));
    answer.header("date").expect("every answer has a date").to_owned()
}

pub fn borrowed(headers: &[(String, String)]) -> Vec<(&str, &str)> {
    headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// One signed request on a connection of its own.
pub fn send_signed(address: SocketAddr, method: &str, target: &str, body: &[u8]) -> Answer {
    send_as(address, ACCOUNT, KEY, method, target, body)
}

pub fn send_as(
    address: SocketAddr,
    account: &str,
    key: &str,
    method: &str,
    target: &str,
    body: &[u8],
) -> Answer {
    let headers = signed(account, key, method, target, body.len(), &server_date(address));
    send(connect(address), method, target, &borrowed(&headers), body)
}
