//! Force Close Handles: ends what SMB clients have open. What was to be deleted with the last of them is deleted.

use super::FileAddress;
use super::list_handles::{after, check_recursive, encoded, held};
use crate::fault::Answer;
use crate::shared::marker::Position;
use crate::store::Held;
use crate::{Context, Services};

/// So many are closed by one request, each by a commit; the answer tells where to go on.
const CLOSED: usize = 200;
/// Among so many one is looked for: as many as a root may have.
const SEARCHED: usize = 10_000;

#[derive(Clone, Debug)]
pub struct ForceCloseHandles {
    pub at: FileAddress,
    pub meant: HandlesMeant,
    /// Of everything below a directory too.
    pub recursive: bool,
    pub marker: Option<Position>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlesMeant {
    All,
    One(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    pub closed: usize,
    /// The marker of the next request, if there is more to close.
    pub next: Option<String>,
}

impl ForceCloseHandles {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Closed> {
        let Self { at, meant, recursive, marker } = self;
        let view = services.view(context).await?;
        let watched = view.path(&at).await?.watch()?;
        check_recursive(&watched, recursive)?;
        let most = if meant == HandlesMeant::All { CLOSED } else { SEARCHED };
        let (held, next) = held(&watched, recursive, after(marker)?, most).await?;
        drop((watched, view));
        let is_meant = |held: &Held| meant == HandlesMeant::All || meant == HandlesMeant::One(held.handle);
        let mut closed = 0;
        for Held { node, handle, .. } in held.into_iter().filter(is_meant) {
            let share = at.share.as_str();
            let close =
                |mut unit: crate::store::Unit| async move { unit.close_open(share, node, handle).await };
            closed += usize::from(services.commit(context, close).await?);
        }
        let found_it = matches!(meant, HandlesMeant::One(_)) && closed > 0;
        Ok(Closed { closed, next: encoded(next).filter(|_| !found_it) })
    }
}
