//! An open, by which its client acts on the file.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::attempt::Step;
use super::client::granted_caching;
use super::info::Frozen;
use super::{AccessMask, CachingGranted, CreateOptions, OplockLevel, Outcome, Refusal, ShareClient};
use crate::store::desk::Watcher;
use crate::store::record::open::OpenRecord;
use crate::store::share::OpenKey;

/// Cheap to clone. When the last clone is dropped without [`close`](Self::close) or [`disconnect`](Self::disconnect), the open is closed.
#[derive(Clone)]
pub struct OpenFile {
    inner: Arc<Inner>,
}

struct Inner {
    client: ShareClient,
    key: OpenKey,
    access: AccessMask,
    options: CreateOptions,
    is_directory: bool,
    /// Times that what is done through this open does not change.
    frozen: Mutex<Frozen>,
    watcher: Mutex<Option<Arc<Watcher>>>,
    /// Bytes that the client was told are set aside for the file. None are: every file grows as it is written.
    set_aside: AtomicU64,
    ended: AtomicBool,
}

impl OpenFile {
    pub(super) fn new(
        client: ShareClient,
        key: OpenKey,
        access: AccessMask,
        options: u32,
        is_directory: bool,
    ) -> Self {
        let inner = Inner {
            client,
            key,
            access,
            options: CreateOptions::from_bits(options),
            is_directory,
            frozen: Mutex::default(),
            watcher: Mutex::default(),
            set_aside: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The number that List Handles shows, and the persistent half of the file id.
    pub fn handle(&self) -> u64 {
        self.inner.key.handle
    }

    pub fn granted_access(&self) -> AccessMask {
        self.inner.access
    }

    pub fn options(&self) -> CreateOptions {
        self.inner.options
    }

    pub fn is_directory(&self) -> bool {
        self.inner.is_directory
    }

    /// Whose it is.
    pub fn client(&self) -> &ShareClient {
        &self.inner.client
    }

    pub(super) fn key(&self) -> &OpenKey {
        &self.inner.key
    }

    pub(super) fn frozen(&self) -> &Mutex<Frozen> {
        &self.inner.frozen
    }

    pub(super) fn watcher(&self) -> &Mutex<Option<Arc<Watcher>>> {
        &self.inner.watcher
    }

    pub(super) fn aside(&self) -> &AtomicU64 {
        &self.inner.set_aside
    }

    /// Whether it was opened for one of these.
    pub(super) fn needs(&self, any: AccessMask) -> Outcome<()> {
        if self.inner.access.has_any(any) { Ok(()) } else { Err(Refusal::AccessDenied) }
    }

    /// Nothing is changed in a snapshot.
    pub(super) fn writable(&self) -> Outcome<()> {
        if self.inner.key.snapshot.is_some() { Err(Refusal::MediaWriteProtected) } else { Ok(()) }
    }

    /// Its locks go, and the file, if that was asked for and this was the last open. Of an open that is over already: [`Refusal::FileClosed`].
    pub async fn close(&self) -> Outcome<()> {
        if self.inner.ended.swap(true, Ordering::AcqRel) {
            return Err(Refusal::FileClosed);
        }
        self.stop_watching().await;
        close(&self.inner.client, &self.inner.key).await
    }

    pub(super) async fn end(&self) {
        if let Err(refusal) = self.close().await {
            tracing::debug!(?refusal, "an open whose create was cancelled was not closed");
        }
    }

    /// Its connection is lost: a durable open is kept for its time, another one is closed.
    pub async fn disconnect(&self) {
        if self.inner.ended.swap(true, Ordering::AcqRel) {
            return;
        }
        self.stop_watching().await;
        let (client, key) = (&self.inner.client, &self.inner.key);
        let kept = client
            .attempt(key, |unit| async move {
                let opened = unit.opened(key).await?;
                let own = opened.own().ok_or(Refusal::FileClosed)?;
                // A break that is under way would not be answered.
                if own.durable.is_none() || own.open.kept.breaking.is_some() || !own.open.kept.held.handle {
                    return Ok(Step::Done(false));
                }
                let now = unit.now();
                opened.change_own(|row: &mut OpenRecord| {
                    if let Some(durable) = &mut row.durable {
                        durable.disconnected = Some(now);
                    }
                });
                Ok(Step::Done(true))
            })
            .await;
        client.services().opens().forget(key.handle);
        if !matches!(kept, Ok(true))
            && let Err(refusal) = close(client, key).await
        {
            tracing::debug!(?refusal, "an open without a connection was not closed");
        }
    }

    /// What the client may keep of it now.
    pub async fn caching(&self) -> Outcome<CachingGranted> {
        let view = self.client().services().view(self.client().context()).await?;
        Ok(view.opened(self.key()).await?.own().map(granted_caching).unwrap_or_default())
    }

    /// The client answers a [`Notice::OplockBreak`](super::Notice::OplockBreak); tells the level that it has now.
    pub async fn acknowledge_oplock(&self, level: OplockLevel) -> Outcome<OplockLevel> {
        let key = self.key();
        let commit = self.work(|unit| async move {
            let opened = unit.opened(key).await?;
            let mut kept = opened.own().map(|own| own.open.kept).ok_or(Refusal::FileClosed)?;
            let breaking = kept.breaking.ok_or(Refusal::InvalidOplockProtocol)?;
            let is_good = breaking.to.has(level.caching()) && kept.owner.is_none();
            kept.held = if is_good { level.caching() } else { OplockLevel::None.caching() };
            kept.breaking = None;
            opened.change_own(|row: &mut OpenRecord| row.open.kept = kept);
            Ok(Step::Done((kept, is_good)))
        });
        let (kept, is_good) = self.client().services().acknowledge(key, commit).await?;
        if is_good { Ok(OplockLevel::of(kept.held)) } else { Err(Refusal::InvalidOplockProtocol) }
    }
}

/// The desk forgets it first: its client needs no word of its own close.
async fn close(client: &ShareClient, key: &OpenKey) -> Outcome<()> {
    client.services().opens().forget(key.handle);
    if key.snapshot.is_some() {
        return Ok(());
    }
    let is_closed = client
        .services()
        .commit(client.context(), |mut unit| async move { unit.close_opened(key).await })
        .await?;
    if is_closed { Ok(()) } else { Err(Refusal::FileClosed) }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.ended.load(Ordering::Acquire) {
            return;
        }
        let (client, key) = (self.client.clone(), self.key.clone());
        if let Some(watcher) = self.watcher.lock().take() {
            client.services().opens().unwatch(&watcher);
        }
        // Without a runtime there is no server left to have it open.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { close(&client, &key).await });
        }
    }
}
