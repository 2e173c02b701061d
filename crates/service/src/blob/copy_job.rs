//! A copy that goes on after its answer: bytes are moved, progress is noted, an abort is noticed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lazuli_model::blob::BlobType;
use lazuli_model::version::ApiVersion;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::copy_blob::check_length;
use super::copy_form::Target;
use crate::event::Cause;
use crate::fault::Answer;
use crate::store::{NewContent, Pending, Sealing};
use crate::upload::{Uploaded, upload, upload_pages};
use crate::{Body, Context, Services};

/// How often progress is noted, and an abort noticed.
const PROGRESS: Duration = Duration::from_secs(2);
/// After so long a copy fails, as in the service.
const LONGEST: Duration = Duration::from_secs(14 * 24 * 3600);

/// What the blob of a copy that failed says.
const UNREADABLE: &str = "500 InternalError \"Copy failed when reading the source.\"";
const TOO_LONG: &str = "500 OperationCancelled \"Copy did not end in two weeks.\"";

pub(super) fn start(
    services: Services,
    cause: Option<Arc<Cause>>,
    job: Pending,
    target: Target,
    body: Body,
    length: u64,
    sealing: Sealing,
    turn: OwnedSemaphorePermit,
) {
    tokio::spawn(async move {
        let _turn = turn;
        let context = Context { cause, ..Context::of_owner(job.account(), ApiVersion::NEWEST) };
        let why = match timeout(LONGEST, run(&services, &context, &job, &target, body, length, &sealing))
            .await
        {
            Ok(Ok(())) => return,
            Ok(Err(fault)) => {
                tracing::warn!(copy = %job.id(), cause = ?fault.0.cause, code = ?fault.0.code, "a copy failed");
                UNREADABLE
            }
            Err(_) => TOO_LONG,
        };
        // If this fails too, the job is not prolonged any more and the sweeper ends it.
        let job = &job;
        let failed = services.commit(&context, |mut unit| async move { unit.fail_copy(job, why).await });
        if let Err(fault) = failed.await {
            services.upkeep().pass_over("a copy that failed", &fault);
        }
    });
}

/// The bytes of a copy, for a blob of this type.
pub(super) async fn receive(
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
pub(super) async fn new_content(
    services: &Services,
    kind: BlobType,
    uploaded: Uploaded,
) -> Answer<NewContent> {
    match kind {
        BlobType::Page => NewContent::of_pages(services, uploaded).await,
        BlobType::Block | BlobType::Append => NewContent::of_blob(services, uploaded).await,
    }
}

async fn run(
    services: &Services,
    context: &Context,
    job: &Pending,
    target: &Target,
    body: Body,
    length: u64,
    sealing: &Sealing,
) -> Answer<()> {
    let copied = Arc::new(AtomicU64::new(0));
    let body = counted(body, Arc::clone(&copied));
    let uploading = receive(services, target.kind, body, length, false, sealing);
    tokio::pin!(uploading);
    let mut ticks = interval(PROGRESS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let uploaded = loop {
        tokio::select! {
            uploaded = &mut uploading => break uploaded?,
            _ = ticks.tick() => {
                let copied = copied.load(Ordering::Relaxed);
                let prolonging =
                    services.commit(context, |mut unit| async move { unit.prolong_copy(job, copied).await });
                if !prolonging.await? {
                    return Ok(());
                }
            }
        }
    };
    check_length(&uploaded, length)?;
    let mut content = new_content(services, target.kind, uploaded).await?;
    let (new, mark) = (&content, &target.mark);
    let completing =
        services.commit(context, |mut unit| async move { unit.complete_copy(job, new, mark).await });
    if completing.await? {
        content.settle();
    }
    Ok(())
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
