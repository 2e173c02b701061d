//! A page of an account's shares, with those that are deleted and with the snapshots of those that are there.

use lazuli_engine::Scan;
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;

use super::key;
use crate::fault::Answer;
use crate::file::{ListShares, ListedShare, ShareState};
use crate::shared::marker::Position;
use crate::store::by_name::{ByName, merge};
use crate::store::record::Record as _;
use crate::store::record::path::PathRecord;
use crate::store::record::share::ShareRecord;
use crate::store::tree::{self, Entry as _};
use crate::store::unit::View;

impl View {
    /// A page of the account's shares.
    pub async fn shares(&self, request: &ListShares) -> Answer<(Vec<ListedShare>, Option<Position>)> {
        let (mut items, next) = self.shares_alive(request).await?;
        if !request.deleted {
            return Ok((items, next));
        }
        let (deleted, next_deleted) = self.deleted_shares(request).await?;
        items.extend(deleted);
        Ok(merge(items, [next, next_deleted], request.max_results, ListedShare::order))
    }

    /// The shares that are there, each behind its snapshots where those are asked for. Only shares that have some are
    /// searched for them, so a page makes no more searches than it has entries.
    async fn shares_alive(&self, request: &ListShares) -> Answer<(Vec<ListedShare>, Option<Position>)> {
        let (limit, max_bytes) = (request.max_results, request.max_bytes);
        let listing = ByName {
            space: key::shares(self.account()),
            prefix: &request.prefix,
            marker: request.marker.as_ref(),
            max_results: limit,
            max_bytes,
        };
        let (page, next) = listing.page(self.reader()).await?;
        let mut items = Vec::with_capacity(page.len());
        let mut bytes = 0;
        let mut page = page.into_iter().peekable();
        while let Some((name, share)) = page.next() {
            let share: ShareRecord = share;
            if request.snapshots && share.snapshots > 0 {
                let after = request.snapshots_after(&name);
                let wanted = Scan {
                    limit: limit - items.len(),
                    max_bytes: max_bytes.saturating_sub(bytes).max(1),
                    ..Scan::of(tree::key::snapshots(PathRecord::SPACE, share.generation))
                };
                let after =
                    after.map(|moment| tree::key::snapshot(PathRecord::SPACE, share.generation, moment));
                let found = self.reader().scan(Scan { after, ..wanted }).await?;
                for (key, entry) in &found.items {
                    bytes += key.len() + entry.value.len();
                    let moment = tree::key::moment_of(key).ok_or(ErrorCode::InternalError)?;
                    let state = ShareState::Snapshot(Timestamp(moment));
                    let share = ShareRecord::decode(&entry.value)?;
                    items.push(ListedShare { name: name.clone(), state, share });
                }
                if found.more || items.len() == limit {
                    return Ok(cut(items));
                }
            }
            items.push(ListedShare { name, state: ShareState::Present, share });
            if (items.len() == limit || bytes >= max_bytes) && page.peek().is_some() {
                return Ok(cut(items));
            }
        }
        Ok((items, next))
    }

    /// The snapshots of a share by their moments: no more than a share may have.
    pub async fn share_snapshots(&self, share: &ShareRecord) -> Answer<Vec<(Timestamp, ShareRecord)>> {
        let range = tree::key::snapshots(PathRecord::SPACE, share.generation);
        let (mut snapshots, mut after) = (Vec::new(), None);
        loop {
            let page = self.reader().scan(Scan { after, ..Scan::of(range.clone()) }).await?;
            for (key, entry) in &page.items {
                let moment = tree::key::moment_of(key).ok_or(ErrorCode::InternalError)?;
                snapshots.push((Timestamp(moment), ShareRecord::decode(&entry.value)?));
            }
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.more {
                return Ok(snapshots);
            }
        }
    }
}

/// A page that ends before what it was to show did.
fn cut(items: Vec<ListedShare>) -> (Vec<ListedShare>, Option<Position>) {
    let next = items.last().map(ListedShare::position);
    (items, next)
}
