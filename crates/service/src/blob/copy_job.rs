//! A copy that goes on after its answer: bytes are moved, progress is noted, an abort is noticed. What a server leaves
//! unfinished another one begins again, or the same one after its restart.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use lazuli_model::admission::Preconditions;
use lazuli_model::blob::BlobType;
use lazuli_model::encryption::Encryption;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::policy;
use lazuli_model::version::ApiVersion;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{MissedTickBehavior, interval};

pub(crate) use super::copy_form::Target;
use super::copy_source::{ForeignAddress, ForeignSource, OwnSource};
use crate::download::Download;
use crate::fault::{Answer, Fault};
use crate::store::{AtWork, CopiedFrom, CopyMark, CopyPlan, NewContent, Pending, Sealing};
use crate::upload::{Uploaded, upload, upload_pages};
use crate::{Body, Context, Services};

/// Bytes up to this length are copied before the answer: it takes no longer than a client waits for an upload.
pub(crate) const AT_ONCE: u64 = 8 * 1024 * 1024;
/// The longest page blob or file whose bytes are copied: as many intervals as one commit takes. Those of this server are
/// copied at any length, without their bytes.
pub(crate) const PAGES_COPIED: u64 = 16 << 30;
/// The longest file whose bytes are copied into a block blob, where they are to be encrypted with a key: its holes become zeros
/// that take room. All others are copied without their bytes.
pub(crate) const FILES_COPIED: u64 = 256 << 30;

/// How often progress is noted, and an abort noticed.
const PROGRESS: Duration = Duration::from_secs(2);
/// How often a server looks for copies that no server works at.
const LOOK: Duration = Duration::from_secs(2);

/// What the blob of a copy that failed says.
const UNREADABLE: &str = "500 InternalError \"Copy failed when reading the source.\"";

/// Asks sources elsewhere for their bytes.
pub trait Abroad: Send + Sync {
    /// The same source again, if it has not changed. In a bounded time.
    fn open<'a>(&'a self, source: &'a ForeignAddress) -> BoxFuture<'a, Result<ForeignSource, Failure>>;
}

/// What a try of a copy needs while it lasts.
pub(crate) struct Try {
    pub job: Pending,
    pub target: Target,
    pub length: u64,
    pub sealing: Sealing,
}

/// That this server works at a copy, and that it may.
pub(crate) type Held = (AtWork, OwnedSemaphorePermit);

/// Moves the bytes of a copy that has been answered.
pub(crate) fn start(services: Services, context: Context, body: Body, this: Try, held: Held) {
    tokio::spawn(async move {
        let _held = held;
        let moved = run(&services, &context, &this, body).await;
        settle(&services, &context, &this.job, moved).await;
    });
}

/// Looks for copies that no server works at, until the engine stops. To be spawned once for a server.
pub async fn take_up_copies_forever(services: Services, abroad: Arc<dyn Abroad>) {
    while services.is_stopped().is_none() {
        if let Err(fault) = take_up_copies(&services, &abroad).await {
            tracing::warn!(cause = ?fault.0.cause, "copies without a server wait");
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The same once: takes up as many as this server has turns for, and tells how many those are.
pub async fn take_up_copies(services: &Services, abroad: &Arc<dyn Abroad>) -> Answer<usize> {
    let mut taken = 0;
    for lost in services.lost_copies().await? {
        let Some(turn) = services.copies().try_take() else { break };
        let Some(at_work) = services.running_copies().begin(lost.id()) else { continue };
        let job = match services.take_up_copy(&lost).await {
            Ok(Some(job)) => job,
            Ok(None) => continue,
            Err(fault) => {
                services.upkeep().pass_over("a copy without a server", &fault);
                continue;
            }
        };
        tracing::info!(copy = %job.id(), tries = job.tries(), "a copy is begun again");
        taken += 1;
        let (services, abroad) = (services.clone(), Arc::clone(abroad));
        tokio::spawn(async move {
            let _held: Held = (at_work, turn);
            let Some(plan) = job.plan() else { return };
            let context =
                Context { cause: plan.cause.clone(), ..Context::of_owner(job.account(), ApiVersion::NEWEST) };
            let moved = run_again(&services, &context, &job, plan, &*abroad).await;
            settle(&services, &context, &job, moved).await;
        });
    }
    Ok(taken)
}

async fn run_again(
    services: &Services,
    context: &Context,
    job: &Pending,
    plan: &CopyPlan,
    abroad: &dyn Abroad,
) -> Answer<()> {
    let changed = || Failure::new(ErrorCode::SourceConditionNotMet).cause("the source has changed");
    let sealing = match job.encryption(services, context).await? {
        // It has ended.
        None => return Ok(()),
        // Of a key of the customer's only the request knew.
        Some(Encryption::Customer(_)) => return Err(changed().into()),
        Some(encryption) => services.sealing_as(&context.account, encryption).await?,
    };
    let body = match &plan.source {
        CopiedFrom::Foreign(address) => {
            let found = abroad.open(address).await?;
            // Not every source heeds If-Match.
            let etag = found.again.and_then(|again| again.etag);
            if found.length != plan.length || address.etag.is_some() && etag != address.etag {
                return Err(changed().into());
            }
            found.body
        }
        CopiedFrom::Own { account, at, state, etag } => {
            let own = OwnSource {
                account: account.as_str().into(),
                at: at.clone(),
                state: *state,
                preconditions: Preconditions::default(),
                customer_key: None,
            };
            let active = services.readers().enter();
            let view = services.view(context).await?;
            let source = view.copy_source(&own, policy::CopyBlob).await?;
            if source.etag != *etag || source.length() != plan.length {
                return Err(changed().into());
            }
            view.check_readable(account, &source, None)?;
            let whole = 0..source.length();
            let origin = own.origin(source.etag);
            Download::open(services, active, &view, &source.content, whole, None, origin).await?.into_body()
        }
    };
    let CopyPlan { length, kind, sequence_number, seals, blocks, .. } = *plan;
    let mark = CopyMark { sequence_number, seals, blocks, ..CopyMark::default() };
    let target = Target { kind, mark };
    let this = Try { job: job.clone(), target, length, sealing };
    run(services, context, &this, body).await
}

/// A try that failed is followed by another one, or by the end of the copy.
async fn settle(services: &Services, context: &Context, job: &Pending, moved: Answer<()>) {
    let Err(fault) = moved else { return };
    tracing::warn!(copy = %job.id(), tries = job.tries(), cause = ?fault.0.cause, code = ?fault.0.code, "a copy failed");
    let settling = async {
        if is_passing(&fault) && services.try_copy_again(context, job).await? {
            return Ok(());
        }
        services.commit(context, |mut unit| async move { unit.fail_copy(job, UNREADABLE).await }).await
    };
    // If this fails too, the job is one of this server's that it does not work at, and it is taken up again.
    if let Err(fault) = settling.await {
        services.upkeep().pass_over("a copy that failed", &fault);
    }
}

/// Whether the same may go well another time: what refuses a client does so again.
fn is_passing(fault: &Fault) -> bool {
    let code = fault.0.code;
    fault.0.status() >= 500 || matches!(code, ErrorCode::InvalidInput | ErrorCode::OperationTimedOut)
}

/// The bytes of a copy, for a blob of this type.
pub(crate) async fn receive(
    services: &Services,
    kind: BlobType,
    body: Body,
    limit: u64,
    with_md5: bool,
    sealing: &Sealing,
) -> Answer<Uploaded> {
    match kind {
        BlobType::Page => upload_pages(services, body, limit, with_md5, sealing).await,
        BlobType::Block | BlobType::Append => upload(services, body, limit, with_md5, sealing).await,
    }
}

/// What the bytes of a copy become in a blob of this type.
pub(crate) async fn new_content(
    services: &Services,
    kind: BlobType,
    uploaded: Uploaded,
) -> Answer<NewContent> {
    match kind {
        BlobType::Page => NewContent::of_pages(services, uploaded).await,
        BlobType::Block | BlobType::Append => NewContent::of_blob(services, uploaded).await,
    }
}

async fn run(services: &Services, context: &Context, this: &Try, body: Body) -> Answer<()> {
    let Try { job, target, length, sealing, .. } = this;
    let copied = Arc::new(AtomicU64::new(0));
    let body = counted(body, Arc::clone(&copied));
    let uploading = receive(services, target.kind, body, *length, false, sealing);
    tokio::pin!(uploading);
    let mut ticks = interval(PROGRESS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let uploaded = loop {
        tokio::select! {
            uploaded = &mut uploading => break uploaded?,
            _ = ticks.tick() => {
                let copied = copied.load(Ordering::Relaxed);
                let noting =
                    services.commit(context, |mut unit| async move { unit.note_progress(job, copied).await });
                if !noting.await? {
                    return Ok(());
                }
            }
        }
    };
    check_length(&uploaded, *length)?;
    let mut content = new_content(services, target.kind, uploaded).await?;
    let (new, mark) = (&content, &target.mark);
    let completing =
        services.commit(context, |mut unit| async move { unit.complete_copy(job, new, mark).await });
    if completing.await? {
        content.settle();
    }
    Ok(())
}

pub(crate) fn check_length(uploaded: &Uploaded, announced: u64) -> Result<(), Failure> {
    match uploaded.length == announced {
        true => Ok(()),
        false => Err(Failure::new(ErrorCode::CannotVerifyCopySource).cause("the source ended early")),
    }
}

/// The same bytes, counted as they pass.
fn counted(body: Body, count: Arc<AtomicU64>) -> Body {
    let length = body.length;
    let frames = futures_util::stream::unfold((body, count), |(mut body, count)| async move {
        let frame = body.next().await?;
        if let Ok(bytes) = &frame {
            count.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        Some((frame, (body, count)))
    });
    Body::new(frames, length)
}
