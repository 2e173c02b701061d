//! The spelling of metadata names. Header names have no case in HTTP and none in the header map, but the service
//! gives `x-ms-meta-Colour` back as it was sent, and listings show it.
//!
//! The HTTP library keeps the spelling of a parsed head beside the map, in a type of its own that only its encoder
//! reads. So the names are learnt by having it write a head into memory, and told by having it read one. Both take
//! a few microseconds, and happen only where metadata (with capitals, for answers) is about. A listener must ask
//! the library to `preserve_header_case`; without that, names are lower case.

use std::cell::RefCell;
use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_util::FutureExt;
use http::{Extensions, HeaderMap, HeaderValue};
use http_body_util::Empty;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::service::service_fn;

use crate::headers::X_MS_META_PREFIX;

/// The names of the metadata headers as they were spelled, without their prefix; empty where nobody knows.
pub(crate) fn metadata_names(headers: &HeaderMap, extensions: Extensions) -> Vec<String> {
    if extensions.is_empty() || !headers.keys().any(|name| name.as_str().starts_with(X_MS_META_PREFIX)) {
        return Vec::new();
    }
    let mut request = http::Request::new(Empty::<Bytes>::new());
    *request.extensions_mut() = extensions;
    for name in headers.keys().filter(|name| name.as_str().starts_with(X_MS_META_PREFIX)) {
        request.headers_mut().insert(name.clone(), HeaderValue::from_static(""));
    }
    let written = write_head(request).unwrap_or_default();
    let names = written.split("\r\n").filter_map(|line| {
        let (name, _) = line.split_once(':')?;
        let (prefix, own) = name.split_at_checked(X_MS_META_PREFIX.len())?;
        prefix.eq_ignore_ascii_case(X_MS_META_PREFIX).then(|| own.to_owned())
    });
    names.collect()
}

fn write_head(request: http::Request<Empty<Bytes>>) -> Option<String> {
    let memory = Memory::default();
    let written = Rc::clone(&memory.written);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(memory).now_or_never()?.ok()?;
    let _answer = sender.send_request(request);
    let _ = pin!(connection).poll(&mut Context::from_waker(Waker::noop()));
    String::from_utf8(written.take()).ok()
}

/// What makes the library spell the metadata headers of an answer like this; none if lower case will do.
pub(crate) fn spelling(names: &[String]) -> Option<Extensions> {
    if names.iter().all(|name| !name.bytes().any(|byte| byte.is_ascii_uppercase())) {
        return None;
    }
    let mut head = b"GET / HTTP/1.1\r\n".to_vec();
    for name in names {
        head.extend_from_slice(X_MS_META_PREFIX.as_bytes());
        head.extend_from_slice(name.as_bytes());
        head.extend_from_slice(b":\r\n");
    }
    head.extend_from_slice(b"\r\n");
    let found = Rc::new(RefCell::new(None));
    let service = service_fn(|request: http::Request<hyper::body::Incoming>| {
        *found.borrow_mut() = Some(request.into_parts().0.extensions);
        std::future::pending::<Result<http::Response<Empty<Bytes>>, Infallible>>()
    });
    let memory = Memory { to_read: head.into(), ..Memory::default() };
    let mut builder = hyper::server::conn::http1::Builder::new();
    let connection = builder.preserve_header_case(true).serve_connection(memory, service);
    let _ = pin!(connection).poll(&mut Context::from_waker(Waker::noop()));
    found.take()
}

/// A connection whose other end is this function.
#[derive(Default)]
struct Memory {
    to_read: Bytes,
    written: Rc<RefCell<Vec<u8>>>,
}

impl Read for Memory {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.to_read.is_empty() {
            return Poll::Pending;
        }
        let length = self.to_read.len().min(buffer.remaining());
        buffer.put_slice(&self.to_read.split_to(length));
        Poll::Ready(Ok(()))
    }
}

impl Write for Memory {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.written.borrow_mut().extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests;
