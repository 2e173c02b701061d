//! A frame that arrived: decrypted, cut into its messages, each with the session it belongs to and its signature judged.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::channel::Channel;
use super::connection::Connection;
use crate::command::session_setup;
use crate::crypto::Purpose;
use crate::status::NtStatus;
use crate::wire::header::{self, Command, RequestHeader, flag};
use crate::wire::transform::{self, TransformHeader};
use crate::wire::{chain, smb1};

/// The connection cannot go on: nothing that the client says can be believed any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken(pub &'static str);

pub enum Received {
    /// The negotiation of the older protocol.
    Older(smb1::Offer),
    Messages {
        messages: Vec<Incoming>,
        /// The answers are encrypted for it, too.
        encrypted_by: Option<Arc<Channel>>,
    },
}

pub struct Incoming {
    pub header: RequestHeader,
    pub message: Bytes,
    /// Whose key it was signed or encrypted with.
    pub channel: Option<Arc<Channel>>,
    /// The command is not carried out.
    pub refused: Option<NtStatus>,
}

impl Connection {
    pub fn receive(&self, mut frame: BytesMut) -> Result<Received, Broken> {
        if frame.starts_with(&smb1::PROTOCOL) {
            return smb1::negotiate(&frame).map(Received::Older).map_err(|_| Broken("not a negotiation"));
        }
        let mut encrypted_by = None;
        if frame.starts_with(&transform::PROTOCOL) {
            let channel = self.decrypt(&mut frame)?;
            let _ = frame.split_to(transform::SIZE);
            encrypted_by = Some(channel);
        }
        let split = chain::split(&frame).map_err(|_| Broken("a chain that is malformed"))?;
        let mut verdicts = Vec::with_capacity(split.len());
        let mut session_id = 0;
        for (number, (range, header)) in split.into_iter().enumerate() {
            let message = frame.get_mut(range.clone()).ok_or(Broken("a chain that is malformed"))?;
            // Related requests carry the session of the first, or say that they have it.
            if !header.has(flag::RELATED_OPERATIONS) || number == 0 {
                session_id = header.session_id;
            }
            let judged = self.judge(&header, session_id, message, encrypted_by.as_ref())?;
            verdicts.push((range, header, judged));
        }
        let frame = frame.freeze();
        let messages = verdicts.into_iter().map(|(range, header, (channel, refused))| {
            let message = frame.slice(range);
            Incoming {
                header: RequestHeader { session_id: header.session_id, ..header },
                message,
                channel,
                refused,
            }
        });
        Ok(Received::Messages { messages: messages.collect(), encrypted_by })
    }

    fn decrypt(&self, frame: &mut BytesMut) -> Result<Arc<Channel>, Broken> {
        let head =
            TransformHeader::parse(frame).map_err(|_| Broken("a transform header that is malformed"))?;
        let channel =
            self.channel(head.session_id).ok_or(Broken("encrypted for no session of this connection"))?;
        let cipher = channel.session.cipher.as_ref().ok_or(Broken("encrypted without a cipher"))?;
        if frame.len() != transform::SIZE + head.original_size as usize {
            return Err(Broken("an encrypted message of another length"));
        }
        let (head_bytes, message) = frame.split_at_mut(transform::SIZE);
        let authenticated = head_bytes.get(transform::AUTHENTICATED).unwrap_or_default();
        cipher
            .open(&head.nonce, authenticated, message, &head.signature)
            .map_err(|_| Broken("an encrypted message that is not authentic"))?;
        Ok(channel)
    }

    /// The session that a message speaks for, over this connection, and whether it may (MS-SMB2 3.3.5.2.4, 3.3.5.2.9). The signature is cleared
    /// in place: what is signed has zeros there.
    fn judge(
        &self,
        header: &RequestHeader,
        session_id: u64,
        message: &mut [u8],
        encrypted_by: Option<&Arc<Channel>>,
    ) -> Result<(Option<Arc<Channel>>, Option<NtStatus>), Broken> {
        let command = header.known_command();
        if let Some(channel) = encrypted_by {
            if command == Some(Command::Negotiate) || session_id != channel.session.id {
                return Err(Broken("encrypted for another session than it speaks for"));
            }
            return Ok((Some(Arc::clone(channel)), self.outdated(channel)));
        }
        if command == Some(Command::Negotiate) {
            return Ok((None, None));
        }
        let Some(channel) = self.channel(session_id) else {
            if command == Some(Command::SessionSetup)
                && let Some(channel) = self.to_be_bound(header, session_id, message)
            {
                return Ok((Some(channel), None));
            }
            // A logon that has begun is no session yet, and a client that only asks whether the server is there (ECHO) needs none.
            let needs_none = match command {
                Some(Command::SessionSetup) => true,
                Some(Command::Echo) => session_id == 0,
                _ => false,
            };
            return Ok((None, (!needs_none).then_some(NtStatus::USER_SESSION_DELETED)));
        };
        if channel.session.encrypt && command != Some(Command::SessionSetup) {
            return Ok((None, Some(NtStatus::ACCESS_DENIED)));
        }
        if !header.has(flag::SIGNED) {
            return Ok((None, Some(NtStatus::ACCESS_DENIED)));
        }
        if let Some(place) = message.get_mut(header::SIGNATURE) {
            place.fill(0);
        }
        let cancel = command == Some(Command::Cancel);
        let purpose = Purpose { message_id: header.message_id, from_server: false, cancel };
        if !channel.signer.verify(message, purpose, &header.signature) {
            return Ok((None, Some(NtStatus::ACCESS_DENIED)));
        }
        let outdated = self.outdated(&channel);
        Ok((Some(channel), outdated))
    }

    /// The session of another connection that a client wants to bind this one to, where it has that session's key.
    fn to_be_bound(&self, header: &RequestHeader, id: u64, message: &mut [u8]) -> Option<Arc<Channel>> {
        let asks = message.get(header::SIZE + 2).is_some_and(|flags| flags & session_setup::BINDING != 0);
        if !asks || !header.has(flag::SIGNED) {
            return None;
        }
        let session = self.server.session(id)?;
        message.get_mut(header::SIGNATURE)?.fill(0);
        let purpose = Purpose { message_id: header.message_id, from_server: false, cancel: false };
        let is_its = session.signer.verify(message, purpose, &header.signature);
        // The keys of the channel depend on every byte that was sent.
        message.get_mut(header::SIGNATURE)?.copy_from_slice(&header.signature);
        is_its.then(|| Channel::first(&session))
    }

    /// A key that the client logged on with was rotated away.
    fn outdated(&self, channel: &Channel) -> Option<NtStatus> {
        let session = &channel.session;
        let current = self.server.gate.users.find(&session.account);
        let holds = current
            .is_some_and(|(_, hashes)| hashes.contains(&session.proved) && hashes.contains(&channel.proved));
        (!holds || session.has_ended()).then_some(NtStatus::USER_SESSION_DELETED)
    }
}
