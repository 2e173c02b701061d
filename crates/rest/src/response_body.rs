//! The body of an answer. Its length is known before its first byte, so that Content-Length is sent; only the results of
//! a query are sent while they are being found.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use http_body::{Body, Frame, SizeHint};
use lazuli_service::Answer;
use lazuli_service::download::Download;

use crate::structured::Encoder;

pub enum ResponseBody {
    Empty,
    /// None once it has been sent.
    Full(Option<Bytes>),
    Stream(Streamed),
    /// Bytes that are made while they are sent, without a length that is known before. None once they have ended.
    Open(Option<ByteStream>),
}

type ByteStream = Pin<Box<dyn Stream<Item = Answer<Bytes>> + Send>>;

/// Bytes that are read while they are sent.
pub struct Streamed {
    stream: ByteStream,
    left: u64,
}

/// The body broke off, which the listener logs with the operation: the connection is closed, and the client sees fewer bytes than were announced.
#[derive(Debug)]
pub struct Broken(String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}

impl ResponseBody {
    pub fn full(bytes: Bytes) -> Self {
        if bytes.is_empty() { Self::Empty } else { Self::Full(Some(bytes)) }
    }

    /// Bytes that came with the record are sent as they are; the rest is read piece by piece.
    pub fn download(mut download: Download) -> Self {
        if let Some(bytes) = download.take_ready() {
            return Self::full(bytes);
        }
        let left = download.length();
        if left == 0 {
            return Self::Empty;
        }
        let stream = futures_util::stream::unfold(download, |mut download| async move {
            let next = download.next().await?;
            Some((next, download))
        });
        Self::Stream(Streamed { stream: Box::pin(stream), left })
    }

    /// A structured message around the bytes, written while they are read.
    pub fn structured(download: Download) -> Self {
        let encoder = Encoder::new(download.length());
        let left = encoder.message_length();
        let stream =
            futures_util::stream::unfold((download, encoder), |(mut download, mut encoder)| async move {
                loop {
                    if let Some(bytes) = encoder.pull() {
                        return Some((Ok(bytes), (download, encoder)));
                    }
                    match download.next().await? {
                        Ok(bytes) => encoder.push(bytes),
                        Err(fault) => return Some((Err(fault), (download, encoder))),
                    }
                }
            });
        Self::Stream(Streamed { stream: Box::pin(stream), left })
    }

    /// What is still to be sent, where that is known.
    pub fn length(&self) -> Option<u64> {
        match self {
            Self::Empty | Self::Full(None) | Self::Open(None) => Some(0),
            Self::Full(Some(bytes)) => Some(bytes.len() as u64),
            Self::Stream(streamed) => Some(streamed.left),
            Self::Open(Some(_)) => None,
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match &mut *self {
            Self::Empty => Poll::Ready(None),
            Self::Full(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Stream(streamed) => streamed.poll(context),
            Self::Open(stream) => poll_open(stream, context),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.length() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.length().map_or_else(SizeHint::new, SizeHint::with_exact)
    }
}

impl Streamed {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let next = match self.stream.as_mut().poll_next(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(next) => next,
        };
        Poll::Ready(match next {
            Some(Ok(bytes)) if bytes.len() as u64 <= self.left => {
                self.left -= bytes.len() as u64;
                Some(Ok(Frame::data(bytes)))
            }
            Some(Ok(_)) => Some(Err(broken("more bytes than announced"))),
            Some(Err(fault)) => Some(Err(broken(&fault.0.to_string()))),
            None if self.left > 0 => Some(Err(broken("fewer bytes than announced"))),
            None => None,
        })
    }
}

fn poll_open(
    open: &mut Option<ByteStream>,
    context: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
    let Some(stream) = open else { return Poll::Ready(None) };
    let next = match stream.as_mut().poll_next(context) {
        Poll::Pending => return Poll::Pending,
        Poll::Ready(next) => next,
    };
    if !matches!(next, Some(Ok(_))) {
        *open = None;
    }
    Poll::Ready(next.map(|next| match next {
        Ok(bytes) => Ok(Frame::data(bytes)),
        Err(fault) => Err(broken(&fault.0.to_string())),
    }))
}

fn broken(why: &str) -> Broken {
    Broken(why.to_owned())
}
