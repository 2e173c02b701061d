//! The least that an HTTP server can do.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::log::Log;

const LARGEST: usize = 4 << 20;
static CONTENT: [u8; LARGEST] = [b'x'; LARGEST];

pub async fn connection(socket: TcpStream, log: Option<Log>) {
    let service = service_fn(|request| answer(request, log.clone()));
    // The client ends the connection; what it ended with is its own matter.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await;
}

async fn answer(request: Request<Incoming>, log: Option<Log>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, content) = match *request.method() {
        Method::GET | Method::HEAD => (StatusCode::OK, content(request.uri().path())),
        _ => (written(request.into_body(), log).await, Bytes::new()),
    };
    let mut response = Response::new(Full::new(content));
    *response.status_mut() = status;
    Ok(response)
}

/// As long as the container's name says: `/account/get-1024/7` is 1,024 bytes.
fn content(path: &str) -> Bytes {
    let container = path.split('/').nth(2).unwrap_or_default();
    let size = container.rsplit('-').next().and_then(|size| size.parse::<usize>().ok()).unwrap_or_default();
    Bytes::from_static(CONTENT.get(..size.min(LARGEST)).unwrap_or_default())
}

async fn written(mut body: Incoming, log: Option<Log>) -> StatusCode {
    let mut parts = Vec::new();
    while let Some(frame) = body.frame().await {
        match frame.map(http_body::Frame::into_data) {
            Ok(Ok(part)) if log.is_some() => parts.push(part),
            Ok(_) => {}
            Err(_) => return StatusCode::BAD_REQUEST,
        }
    }
    match log {
        Some(log) if !log.append(parts).await => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::CREATED,
    }
}
