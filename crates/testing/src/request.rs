//! What is asked.

use bytes::Bytes;

use crate::{Signable, Signer, decode_query};

#[derive(Clone, Debug, Default)]
pub struct Request {
    pub method: &'static str,
    /// Path and query, as they are sent.
    pub target: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
}

impl Request {
    pub fn new(method: &'static str, target: impl Into<String>) -> Self {
        Self { method, target: target.into(), ..Self::default() }
    }

    pub fn header(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    pub fn maybe(self, name: &'static str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.header(name, value),
            None => self,
        }
    }

    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Signs the request as it is now, body included, for a server on whose clock it is `date`.
    pub fn sign(mut self, signer: &Signer, date: &str) -> Self {
        self = self.header("x-ms-date", date);
        let length = self.body.len().to_string();
        let mut headers: Vec<(&str, &str)> = self.headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        headers.push(("content-length", &length));
        let (path, query) = self.target.split_once('?').unwrap_or((&self.target, ""));
        let query = decode_query(query);
        let query: Vec<(&str, &str)> = query.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let signable = Signable { method: self.method, path, query: &query, headers: &headers };
        let authorization = signer.authorization(&signable);
        self.header("Authorization", authorization)
    }

    /// Request line and headers, for a body of this length.
    pub fn head(&self, length: u64) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\n", self.method, self.target);
        if length > 0 || self.method != "GET" {
            head.push_str(&format!("Content-Length: {length}\r\n"));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        head
    }

    /// All of it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.head(self.body.len() as u64).into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}
