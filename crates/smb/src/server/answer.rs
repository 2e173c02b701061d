//! Answers, from what a command says to the bytes of a frame: headers, signatures, encryption.

use std::sync::Arc;

use bytes::{BufMut, Bytes};
use tokio::sync::OwnedSemaphorePermit;

use super::channel::Channel;
use super::open::FileId;
use super::outgoing::Outgoing;
use super::session::Session;
use crate::crypto::{CryptoError, Purpose};
use crate::status::NtStatus;
use crate::wire::header::{self, ResponseHeader, flag};
use crate::wire::{pad, transform};

/// What a command answers.
#[derive(Default)]
pub struct Reply {
    /// A success or a warning; errors are a [`Failure`].
    pub status: Option<NtStatus>,
    /// Behind the header, with the structure's size in front.
    pub body: Vec<u8>,
    /// Behind the body, as it came from the service.
    pub payload: Vec<Bytes>,
    /// Memory that the payload takes.
    pub held: Vec<OwnedSemaphorePermit>,
    /// What related requests behind this one act on.
    pub file: Option<FileId>,
    /// Set by the requests that change what they came with.
    pub session_id: Option<u64>,
    pub tree_id: Option<u32>,
    /// Sign with the key of a session, or of a channel of one, that the request did not have yet.
    pub sign_as: Option<Arc<Channel>>,
    /// Sent as it is, and hashed as part of a logon.
    pub after: Option<After>,
}

/// What is done with the bytes of an answer before they leave.
pub type After = Box<dyn FnOnce(&[u8]) + Send>;

impl Reply {
    pub fn new(body: Vec<u8>) -> Self {
        Self { body, ..Self::default() }
    }

    /// The many commands whose answer says only that it was done.
    pub fn done() -> Self {
        Self::new(vec![4, 0, 0, 0])
    }
}

/// What is refused, and for some the data that a client needs to do better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub status: NtStatus,
    pub data: Vec<u8>,
}

impl<S: Into<NtStatus>> From<S> for Failure {
    fn from(status: S) -> Self {
        Self { status: status.into(), data: Vec::new() }
    }
}

/// The body of an answer that is an error, and of one that only says that another will follow.
pub fn error_body(data: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(9 + data.len());
    body.put_u16_le(9);
    body.put_u16_le(0);
    body.put_u32_le(data.len() as u32);
    match data.is_empty() {
        true => body.put_u8(0),
        false => body.put_slice(data),
    }
    body
}

/// One message of a frame.
pub struct Part {
    pub header: ResponseHeader,
    pub body: Vec<u8>,
    pub payload: Vec<Bytes>,
    pub held: Vec<OwnedSemaphorePermit>,
    /// Who signs it, if anybody does.
    pub signed_by: Option<Arc<Channel>>,
    /// The signature of a request that no session could judge goes back as it came, as Windows does it; clients that
    /// require signatures take the refusal for what it is only then.
    pub echoed: Option<[u8; 16]>,
    pub after: Option<After>,
}

/// One frame of the messages, each but the last filled up to a multiple of eight.
pub fn frame(parts: Vec<Part>, encrypted_by: Option<&Session>) -> Result<Outgoing, CryptoError> {
    let cipher = encrypted_by.and_then(|session| Some((session.id, session.cipher.as_ref()?)));
    let mut out = Outgoing { parts: Vec::new(), held: Vec::new() };
    let mut whole = Vec::new();
    if cipher.is_some() {
        let length: usize = parts.iter().map(Part::length).sum();
        whole.reserve_exact(transform::SIZE + length + 8 * parts.len());
        whole.put_bytes(0, transform::SIZE);
    }
    let count = parts.len();
    for (number, part) in parts.into_iter().enumerate() {
        let last = number + 1 == count;
        match cipher {
            Some(_) => part.append(&mut whole, last, &mut out.held),
            None => part.append_signed(last, &mut out)?,
        }
    }
    if let Some((session_id, cipher)) = cipher {
        let nonce = cipher.next_nonce();
        let original_size = (whole.len() - transform::SIZE) as u32;
        let mut head = Vec::with_capacity(transform::SIZE);
        transform::TransformHeader { signature: [0; 16], nonce, original_size, session_id }.write(&mut head);
        let (place, message) = whole.split_at_mut(transform::SIZE);
        let authenticated = head.get(transform::AUTHENTICATED).ok_or(CryptoError)?;
        let tag = cipher.seal(&nonce, authenticated, message)?;
        head.get_mut(transform::SIGNATURE).ok_or(CryptoError)?.copy_from_slice(&tag);
        place.copy_from_slice(&head);
        out.parts.push(whole.into());
    }
    Ok(out)
}

impl Part {
    fn length(&self) -> usize {
        header::SIZE + self.body.len() + self.payload.iter().map(Bytes::len).sum::<usize>()
    }

    fn head(&self, flags: u32, room: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(header::SIZE + self.body.len() + room);
        let mut header = self.header.clone();
        header.flags |= flags;
        header.write(&mut bytes);
        bytes.put_slice(&self.body);
        bytes
    }

    /// Into a frame that is encrypted as a whole; nothing in it is signed.
    fn append(self, to: &mut Vec<u8>, last: bool, held: &mut Vec<OwnedSemaphorePermit>) {
        let start = to.len();
        to.put_slice(&self.head(0, 0));
        self.payload.iter().for_each(|payload| to.put_slice(payload));
        if !last {
            let length = (to.len() - start).next_multiple_of(8);
            to.resize(start + length, 0);
            if let Some(message) = to.get_mut(start..) {
                header::set_next_command(message, length as u32);
            }
        }
        held.extend(self.held);
    }

    fn append_signed(mut self, last: bool, out: &mut Outgoing) -> Result<(), CryptoError> {
        let signer = self.signed_by.take();
        let signer = signer.as_ref().map(|channel| &channel.signer);
        let flags = if signer.is_some() || self.echoed.is_some() { flag::SIGNED } else { 0 };
        let in_one_piece = signer.is_some_and(|signer| !signer.takes_parts());
        let payload_length: usize = self.payload.iter().map(Bytes::len).sum();
        let mut head = self.head(flags, if in_one_piece { payload_length + 8 } else { 8 });
        if in_one_piece {
            self.payload.drain(..).for_each(|payload| head.put_slice(&payload));
        }
        let mut tail = Vec::new();
        if !last {
            let length = head.len() + self.payload.iter().map(Bytes::len).sum::<usize>();
            let padded = length.next_multiple_of(8);
            header::set_next_command(&mut head, padded as u32);
            match self.payload.is_empty() {
                true => pad(&mut head, 8),
                false => tail.resize(padded - length, 0),
            }
        }
        if let Some(signer) = signer {
            let purpose = Purpose { message_id: self.header.message_id, from_server: true, cancel: false };
            let mut pieces: Vec<&[u8]> = vec![&head];
            pieces.extend(self.payload.iter().map(|payload| &payload[..]));
            if !tail.is_empty() {
                pieces.push(&tail);
            }
            let signature = signer.sign(&pieces, purpose)?;
            header::set_signature(&mut head, &signature);
        }
        if let (None, Some(echoed)) = (signer, &self.echoed) {
            header::set_signature(&mut head, echoed);
        }
        if let Some(after) = self.after.take() {
            after(&head);
        }
        out.parts.push(head.into());
        out.parts.append(&mut self.payload);
        out.parts.push(tail.into());
        out.held.append(&mut self.held);
        Ok(())
    }
}
