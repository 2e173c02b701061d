//! Shares that are deleted: for good, or kept for a while, listed and restored. All that they hold stays under their
//! generation and their root meanwhile.

use lazuli_engine::{Key, KeyRange, Scan, Value};
use lazuli_model::blob::SoftDeletion;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::{Mode, Service};
use lazuli_model::time::Timestamp;

use super::key;
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::file::{DeleteShareSnapshots, ListShares, ListedShare, ShareState};
use crate::shared::marker::Position;
use crate::store::found::{Admitted, Present};
use crate::store::key::snapshot_ticks;
use crate::store::record::Record as _;
use crate::store::record::deleted_share::DeletedShare;
use crate::store::record::path::PathRecord;
use crate::store::record::place::GoneSnapshot;
use crate::store::record::share::ShareRecord;
use crate::store::retention::{kept_for, note_due};
use crate::store::tree::{self, Entry as _};
use crate::store::unit::{Changes, Unit, View};

impl ShareRecord {
    /// Ends it for good: the sweeper deletes what it held.
    pub(in crate::store) fn bury(&self, changes: &mut impl Changes) {
        changes.put(key::dead_share(self.generation), Value::new());
        changes.put(tree::key::dead(PathRecord::SPACE, self.root.node), Value::new());
    }
}

impl Present<ShareRecord> {
    /// Ends the share, for good or for as long as the account keeps deleted shares; or one of its snapshots, which is not
    /// kept. What a share held that has provisioned rates: the service tells it of those alone.
    pub async fn delete(self, snapshots: Option<DeleteShareSnapshots>) -> Answer<Option<u64>> {
        let Self { mut unit, place, record, .. } = self;
        if let Some(moment) = place.snapshot {
            let mut share = unit.find_share(&place.name).await?.ok_or(ErrorCode::ShareNotFound)?;
            share.snapshots = share.snapshots.saturating_sub(1);
            unit.put(key::share(unit.account(), &place.name), share.encode());
            unit.delete(tree::key::snapshot(PathRecord::SPACE, record.generation, moment.0));
            unit.put(key::gone_snapshot(record.generation, moment.0), GoneSnapshot::default().encode());
            return Ok(None);
        }
        match snapshots {
            None if record.snapshots > 0 => return Err(ErrorCode::ShareHasSnapshots.into()),
            Some(DeleteShareSnapshots::Include) => unit.refuse_leased_snapshots(&record).await?,
            None | Some(DeleteShareSnapshots::IncludeLeased) => {}
        }
        let usage = match record.settings.is_provisioned() {
            true => Some(unit.share_usage(&record).await?),
            false => None,
        };
        unit.delete(key::share(unit.account(), &place.name));
        let Some(deletion) = unit.share_soft_deletion().await? else {
            record.bury(&mut unit);
            return Ok(usage);
        };
        let version = unit.next_deleted_share(&place.name, deletion.deleted.0).await?;
        let key = key::deleted_share(unit.account(), &place.name, version);
        unit.put(key.clone(), DeletedShare { share: record, deletion }.encode());
        note_due(&mut unit, deletion, &key);
        Ok(usage)
    }
}

impl<M: Mode> Unit<M> {
    /// What becomes of a share that is deleted now: None where it is gone for good.
    async fn share_soft_deletion(&self) -> Answer<Option<SoftDeletion>> {
        let policy = self.service_properties(Service::File).await?.delete_retention;
        let days = policy.days.filter(|_| policy.enabled);
        Ok(days.map(|days| kept_for(days, self.now())))
    }

    /// A moment that tells this deletion from earlier ones of shares of this name. The share's own key is a check of the
    /// commit, so there is one deletion of a name at a time.
    async fn next_deleted_share(&self, name: &str, from: u64) -> Answer<u64> {
        let range = key::deleted_shares_of(self.account(), name);
        let scan = Scan { limit: 1, reverse: true, keys_only: true, ..Scan::of(range) };
        let page = self.reader().scan(scan).await?;
        let last = page.items.first().and_then(|(key, _)| snapshot_ticks(key)).unwrap_or(0);
        Ok(from.max(last + 1))
    }
}

impl Admitted<ShareRecord> {
    /// Brings a deleted share of this name back, with its snapshots; refuses where there is one. Under another name the
    /// opens of its files would name the wrong share.
    pub async fn restore(mut self, version: Timestamp) -> Answer<Stamped> {
        if self.record().is_some() {
            return Err(ErrorCode::ShareAlreadyExists.into());
        }
        let now = self.unit.now();
        let key = key::deleted_share(self.unit.account(), &self.place.name, version.0);
        let entry = self.unit.reader().get(key.clone()).await?.ok_or(ErrorCode::ShareNotFound)?;
        let DeletedShare { mut share, deletion } = DeletedShare::decode(&entry.value)?;
        if deletion.until <= now {
            return Err(ErrorCode::ShareNotFound.into());
        }
        self.unit.delete(key);
        share.lease = None;
        share.touch(now);
        let key = key::share(self.unit.account(), &self.place.name);
        self.unit.put(key, share.encode());
        Ok(share.stamped())
    }
}

impl View {
    /// A page of the account's deleted shares, those of one name by the moments of their deletions.
    pub(super) async fn deleted_shares(
        &self,
        request: &ListShares,
    ) -> Answer<(Vec<ListedShare>, Option<Position>)> {
        let space = key::deleted_shares(self.account());
        let after = match &request.marker {
            Some(Position::Name { name, ticks }) => Some(key::deleted_share(self.account(), name, *ticks)),
            _ => None,
        };
        let range = KeyRange::prefix(Key::from([&space[..], request.prefix.as_bytes()].concat()));
        let (limit, max_bytes) = (request.max_results, request.max_bytes);
        let page = self.reader().scan(Scan { after, limit, max_bytes, ..Scan::of(range) }).await?;
        let mut items = Vec::with_capacity(page.items.len());
        let mut last = None;
        for (key, entry) in page.items {
            let (Some(ticks), Some(end)) = (snapshot_ticks(&key), key.len().checked_sub(9)) else {
                continue;
            };
            let name = String::from_utf8_lossy(key.get(space.len()..end).unwrap_or_default()).into_owned();
            last = Some(Position::Name { name: name.clone(), ticks });
            let DeletedShare { share, deletion } = DeletedShare::decode(&entry.value)?;
            if deletion.until > self.now() {
                let state = ShareState::Deleted { version: Timestamp(ticks), deletion };
                items.push(ListedShare { name, state, share });
            }
        }
        Ok((items, last.filter(|_| page.more)))
    }
}
