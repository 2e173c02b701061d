//! One client's use of one share.

use std::sync::Arc;

use lazuli_model::admission::caching::{Kept, LeaseOwner};
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::attempt::{LONGEST, PAUSE, Step};
use super::info::FileInfo;
use super::{
    Caching, CachingGranted, CachingWanted, Create, CreateAction, Created, DurableGranted, LeaseVersion,
    Notice, OpenFile, OplockLevel, Outcome, Reconnect, Refusal,
};
use crate::file::{ShareAddress, ShareProtocol, ShareRecord};
use crate::store::record::open::OpenRecord;
use crate::store::share::{NewlyOpened, OpenKey, Opener, Opening};
use crate::{Context, Services};

/// Who opens files, as far as others are told.
#[derive(Clone, Debug)]
pub struct Client {
    /// The client's own name of itself (`ClientGuid`): its leases are known by it and their keys.
    pub guid: u128,
    pub session: u64,
    /// As List Handles shows it: address and port.
    pub address: String,
    pub name: Option<String>,
    /// Where breaks and ends of its opens go. A connection that is gone is told nothing.
    pub notices: mpsc::UnboundedSender<Notice>,
}

/// A share that a client is connected to. Cheap to clone.
#[derive(Clone)]
pub struct ShareClient {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub services: Services,
    pub context: Context,
    pub share: Arc<str>,
    pub client: Client,
}

/// What the share is as a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    pub label: String,
    pub created: Timestamp,
    pub serial: u32,
    pub id: u128,
    /// The quota, in bytes.
    pub total: u64,
    pub free: u64,
}

impl ShareClient {
    /// Refused with [`Refusal::BadNetworkName`] where there is no such share for SMB.
    pub async fn connect(
        services: &Services,
        context: &Context,
        share: &str,
        client: Client,
    ) -> Outcome<Self> {
        let (services, context, share) = (services.clone(), context.clone(), share.into());
        let connected = Self { inner: Arc::new(Inner { services, context, share, client }) };
        match connected.share().await?.settings.protocol {
            ShareProtocol::Smb => Ok(connected),
            ShareProtocol::Nfs => Err(Refusal::BadNetworkName),
        }
    }

    pub(super) fn services(&self) -> &Services {
        &self.inner.services
    }

    pub(super) fn context(&self) -> &Context {
        &self.inner.context
    }

    pub fn share_name(&self) -> &str {
        &self.inner.share
    }

    async fn share(&self) -> Outcome<ShareRecord> {
        let view = self.services().view(self.context()).await?;
        let at = ShareAddress { share: self.inner.share.to_string(), snapshot: None };
        let found = view.share(&at).await?;
        found.record().cloned().ok_or(Refusal::BadNetworkName)
    }

    /// The whole of CREATE: finds or makes the file, has every other open and lease agree, breaks what others keep and waits for it
    /// (35 seconds at the most), and opens it, in one commit. To drop the future is to cancel it: nothing stays open.
    pub async fn create(&self, mut request: Create) -> Outcome<Created> {
        if let Some(moment) = request.snapshot {
            request.snapshot = Some(self.snapshot_at(moment).await?);
        }
        if let CachingWanted::Lease(lease) = request.caching {
            self.check_lease_key(&request, lease.key).await?;
            // Leases of directories are not offered; the key is judged all the same.
            if request.options.directory {
                request.caching = CachingWanted::None;
            }
        }
        let (client, (answer, answered)) = (self.clone(), oneshot::channel());
        tokio::spawn(async move {
            let mut answer = answer;
            let Some(outcome) = client.create_unless(&request, answer.closed()).await else { return };
            // The caller has dropped its future: the open is closed.
            if let Err(Ok(created)) = answer.send(outcome) {
                created.file.end().await;
            }
        });
        answered.await.unwrap_or(Err(ErrorCode::InternalError.into()))
    }

    /// None where it was cancelled while it waited.
    async fn create_unless(
        &self,
        request: &Create,
        cancelled: impl Future<Output = ()>,
    ) -> Option<Outcome<Created>> {
        let handle: u64 = rand::random_range(1..u64::MAX);
        let opener = &Opener { share: &self.inner.share, client: &self.inner.client, handle };
        let patience = Instant::now() + LONGEST;
        tokio::pin!(cancelled);
        let mut known = None;
        loop {
            let waiting = known.map(|node| self.services().opens().wait(node));
            let changed = waiting.as_ref().map(|waiting| waiting.change());
            let opening = self
                .services()
                .commit(self.context(), |unit| async move { unit.create_open(opener, request).await })
                .await;
            let node = match opening {
                Ok(Opening::Done(opened)) => {
                    let mut created = self.opened(*opened);
                    if created.action != CreateAction::Opened && !created.info.is_directory {
                        created.file.set_aside(request.allocation_size, &mut created.info);
                    }
                    return Some(Ok(created));
                }
                Ok(Opening::Wait(node)) => node,
                Err(refusal) => return Some(Err(refusal)),
            };
            if Instant::now() >= patience {
                return Some(Err(ErrorCode::OperationTimedOut.into()));
            }
            // It waits only after it has tried once more since it began to listen.
            known = Some(node);
            let Some(changed) = changed else { continue };
            tokio::select! {
                () = &mut cancelled => return None,
                _ = tokio::time::timeout(PAUSE, changed) => {}
            }
        }
    }

    /// A lease is of one file; a client that uses its key for another one is refused.
    async fn check_lease_key(&self, request: &Create, key: u128) -> Outcome<()> {
        let owner = LeaseOwner { client: self.inner.client.guid, key };
        let Some(other) = self.services().opens().find_lease(owner) else { return Ok(()) };
        let view = self.services().view(self.context()).await?;
        let at = crate::file::FileAddress {
            share: self.inner.share.to_string(),
            snapshot: request.snapshot,
            path: request.path.clone(),
        };
        let found = view.path(&at).await?;
        let is_same = found.record().is_some_and(|found| found.record.node == other.node);
        if is_same { Ok(()) } else { Err(Refusal::InvalidParameter) }
    }

    fn opened(&self, opened: NewlyOpened) -> Created {
        let NewlyOpened { key, record, parent, action, granted, maximal, row } = opened;
        let is_directory = record.is_directory();
        let info = FileInfo::of(&record, parent, false);
        let caching = granted_caching(&row);
        let durable = row.durable.map(|durable| DurableGranted { timeout: durable.timeout() });
        if key.snapshot.is_none() {
            self.register(&key, &row);
        }
        let file = OpenFile::new(self.clone(), key, granted, row.options, is_directory);
        Created { file, action, info, maximal_access: maximal, caching, durable }
    }

    /// Its client is told of breaks from now on, and of those since the commit.
    fn register(&self, key: &OpenKey, row: &OpenRecord) {
        let (services, kept) = (self.services(), &row.open.kept);
        services.opens().register(key.clone(), kept, row.server, self.inner.client.notices.clone());
        services.read_mail();
        if !kept.held.is_none() {
            let (services, node) = (services.clone(), key.node());
            tokio::spawn(async move { services.look_at_opens(node).await });
        }
    }

    /// An open that lost its connection and was durable, by what the client knows of it.
    pub async fn reconnect(&self, request: Reconnect) -> Outcome<Created> {
        let (share, client, request) = (&self.inner.share, &self.inner.client, &request);
        let opened = self
            .services()
            .commit(self.context(), |unit| async move { unit.reconnect(share, client, request).await })
            .await?;
        Ok(self.opened(opened))
    }

    /// The client answers a [`Notice::LeaseBreak`]; tells what the lease is now.
    pub async fn acknowledge_lease(&self, key: u128, state: Caching) -> Outcome<Caching> {
        let owner = LeaseOwner { client: self.inner.client.guid, key };
        let open = self.services().opens().find_lease(owner).ok_or(Refusal::ObjectNameNotFound)?;
        let open = &open;
        let commit = self.attempt(open, |unit| async move {
            let opened = unit.opened(open).await?;
            let kept = opened.own().map(|own| own.open.kept).ok_or(Refusal::FileClosed)?;
            let breaking = kept.breaking.ok_or(Refusal::Unsuccessful)?;
            if !breaking.to.has(state) {
                return Err(Refusal::RequestNotAccepted);
            }
            let kept = Kept { held: state.as_lease(), breaking: None, ..kept };
            opened.change_kept(move |row: &mut OpenRecord| row.open.kept = kept);
            Ok(Step::Done((kept, ())))
        });
        let (kept, ()) = self.services().acknowledge(open, commit).await?;
        Ok(kept.held)
    }

    /// The moments of the share's snapshots, the newest first: previous versions.
    pub async fn snapshots(&self) -> Outcome<Vec<Timestamp>> {
        let share = self.share().await?;
        let view = self.services().view(self.context()).await?;
        let mut moments: Vec<Timestamp> =
            view.share_snapshots(&share).await?.into_iter().map(|(moment, _)| moment).collect();
        moments.reverse();
        Ok(moments)
    }

    /// Clients know snapshots by the second.
    async fn snapshot_at(&self, wanted: Timestamp) -> Outcome<Timestamp> {
        let moments = self.snapshots().await?;
        let exact = moments.iter().find(|moment| **moment == wanted);
        let same_second = |moment: &&Timestamp| moment.whole_seconds() == wanted.whole_seconds();
        exact.or(moments.iter().rfind(same_second)).copied().ok_or(Refusal::ObjectNameNotFound)
    }

    pub async fn volume(&self) -> Outcome<Volume> {
        let share = self.share().await?;
        let view = self.services().view(self.context()).await?;
        let (total, used) = view.room_of(&share).await?;
        let id = share.root.node.0;
        Ok(Volume {
            label: self.inner.share.to_string(),
            created: share.created,
            serial: (id as u32) ^ ((id >> 32) as u32),
            id,
            total,
            free: total.saturating_sub(used),
        })
    }
}

/// What a client is told that it may keep.
pub(super) fn granted_caching(row: &OpenRecord) -> CachingGranted {
    let kept = row.open.kept;
    match (kept.owner, row.lease) {
        (Some(owner), Some(lease)) => CachingGranted::Lease {
            key: owner.key,
            state: kept.held,
            version: if lease.is_second_version { LeaseVersion::Two } else { LeaseVersion::One },
            parent: lease.parent,
            epoch: lease.epoch,
            breaking: kept.breaking.is_some(),
        },
        _ if kept.held.is_none() => CachingGranted::None,
        _ => CachingGranted::Oplock(OplockLevel::of(kept.held)),
    }
}
