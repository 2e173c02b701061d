//! A CREATE that may have been carried out already (MS-SMB2 3.3.5.9.10): the client names it by a guid, and says when it sends it again.

use std::sync::Arc;

use lazuli_service::open_file::{Created, Reconnect, ShareClient, parse_path};

use super::contexts::CreateContexts;
use super::create_answer::Told;
use super::refusal::status;
use crate::server::call::Call;
use crate::server::open::{Open, Replay};
use crate::server::session::Creating;
use crate::status::NtStatus;
use crate::wire::header::flag;

/// What there is of the same CREATE.
pub enum Before {
    New,
    /// It was answered, to this session.
    Answered(Arc<Open>, Box<Told>),
    /// It was carried out, and its connection was lost. This session has it now.
    Lost(Box<Created>),
}

/// Only one CREATE with this guid is carried out at a time: a client that sends it again before it is done has to come once more.
pub fn begin(call: &Call, guid: u128) -> Result<Creating, NtStatus> {
    let again = match call.header.has(flag::REPLAY_OPERATION) {
        true => NtStatus::FILE_NOT_AVAILABLE,
        false => NtStatus::DUPLICATE_OBJECTID,
    };
    call.session()?.creating(guid).ok_or(again)
}

/// A guid that is used again without saying so is refused; an open that was lost with another session is given only to a request that says so.
pub async fn before(
    call: &Call,
    share: &ShareClient,
    guid: u128,
    asked: &CreateContexts,
    path: &str,
) -> Result<Before, NtStatus> {
    let session = call.session()?;
    let is_replay = call.header.has(flag::REPLAY_OPERATION);
    let lease_key = asked.lease.map(|lease| lease.key);
    if let Some(open) = session.open_by_create_guid(guid) {
        let file = open.file()?;
        if !is_replay {
            return Err(NtStatus::DUPLICATE_OBJECTID);
        }
        if file.lease.map(|(key, _)| key) != lease_key {
            return Err(NtStatus::ACCESS_DENIED);
        }
        let Some(Replay { action, maximal_access, durable, .. }) = file.replay.lock().as_deref().copied()
        else {
            return Ok(Before::New);
        };
        let info = file.file.info().await.map_err(status)?;
        let caching = file.file.caching().await.map_err(status)?;
        let told = Told { action, info, maximal_access, caching, durable };
        return Ok(Before::Answered(open, Box::new(told)));
    }
    if !is_replay {
        return Ok(Before::New);
    }
    let server = &call.connection.server;
    server.lost_connections_ended().await;
    let name = session.create_name(guid);
    let Some(made) = server.replays.find(&name) else { return Ok(Before::New) };
    server.replays.forget(&name);
    let path = parse_path(path).unwrap_or_default();
    let reconnect = Reconnect { handle: made.handle, create_guid: Some(guid), lease_key, path };
    // One that is over by now is made again.
    Ok(match share.reconnect(reconnect).await {
        Ok(created) => Before::Lost(Box::new(Created { action: made.action, ..created })),
        Err(_) => Before::New,
    })
}
