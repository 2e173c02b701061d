//! List Handles: what SMB clients have open of a file, of a directory, or of all that stands in one.

use lazuli_model::admission::sharing::Rights;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Mode;
use lazuli_model::time::Timestamp;

use super::FileAddress;
use crate::fault::Answer;
use crate::shared::marker::Position;
use crate::store::tree::NodeId;
use crate::store::{Held, Watched};
use crate::{Context, Services};

/// So many rows of a share are looked at for one page. A page may be short, and tells where to go on.
const ROWS: usize = 10_000;
/// At a time.
const BATCH: usize = 256;

#[derive(Clone, Debug)]
pub struct ListHandles {
    pub at: FileAddress,
    /// Of everything below a directory too.
    pub recursive: bool,
    pub marker: Option<Position>,
    pub max_results: usize,
}

/// An open handle.
#[derive(Clone, Debug)]
pub struct Handle {
    pub id: u64,
    /// Where a list goes on that ends here.
    pub position: Position,
    /// From the root of the share, as it is now; empty for the root.
    pub path: String,
    pub file_id: u64,
    pub parent_id: u64,
    pub session_id: u64,
    pub access: Rights,
    pub client_address: String,
    pub client_name: Option<String>,
    pub opened: Timestamp,
    pub reconnected: Option<Timestamp>,
}

impl ListHandles {
    /// A page of handles, and where the next one begins.
    pub async fn execute(
        self,
        services: &Services,
        context: &Context,
    ) -> Answer<(Vec<Handle>, Option<Position>)> {
        let Self { at, recursive, marker, max_results } = self;
        let view = services.view(context).await?;
        let watched = view.path(&at).await?.watch()?;
        check_recursive(&watched, recursive)?;
        let (held, next) = held(&watched, recursive, after(marker)?, max_results).await?;
        let mut handles = Vec::with_capacity(held.len());
        for held in held {
            let place = held.place();
            let Held { node, handle, open } = held;
            // What is deleted at this moment is not open any more in the next.
            let (path, file_id, parent_id) = watched.path_of(node).await?.unwrap_or((open.path, 0, 0));
            handles.push(Handle {
                id: handle,
                position: position(place),
                path,
                file_id,
                parent_id,
                session_id: open.session,
                access: open.open.access,
                client_address: open.client_address,
                client_name: open.client_name,
                opened: open.opened,
                reconnected: open.reconnected,
            });
        }
        Ok((handles, next.map(position)))
    }
}

/// Only of directories there is something below.
pub(super) fn check_recursive<M: Mode>(watched: &Watched<M>, recursive: bool) -> Result<(), Failure> {
    match recursive && !watched.is_directory() {
        true => Err(Failure::invalid_header("x-ms-recursive", "true")),
        false => Ok(()),
    }
}

/// Up to so many opens behind a place.
pub(super) async fn held<M: Mode>(
    watched: &Watched<M>,
    recursive: bool,
    mut after: Option<(NodeId, u64)>,
    limit: usize,
) -> Answer<(Vec<Held>, Option<(NodeId, u64)>)> {
    if !recursive {
        return watched.handles(after, limit).await;
    }
    let (mut all, mut rows): (Vec<Held>, usize) = (Vec::new(), 0);
    loop {
        let batch = BATCH.min(limit - all.len());
        let (held, next) = watched.handles_below(after, batch).await?;
        all.extend(held);
        (after, rows) = (next, rows + batch);
        if after.is_none() || all.len() >= limit || rows >= ROWS {
            return Ok((all, after));
        }
    }
}

/// Where a list goes on: behind an open of a node.
fn position((node, handle): (NodeId, u64)) -> Position {
    Position::Name { name: format!("{:032x}", node.0), ticks: handle }
}

pub(super) fn after(marker: Option<Position>) -> Result<Option<(NodeId, u64)>, Failure> {
    let Some(marker) = marker else { return Ok(None) };
    let Position::Name { name, ticks } = marker else { return Err(ErrorCode::OutOfRangeInput.into()) };
    let node = u128::from_str_radix(&name, 16).map_err(|_| ErrorCode::OutOfRangeInput)?;
    Ok(Some((NodeId(node), ticks)))
}

pub(super) fn encoded(next: Option<(NodeId, u64)>) -> Option<String> {
    next.map(|next| position(next).encode())
}
