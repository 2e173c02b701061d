//! A copy that goes on after its answer: bytes are moved, progress is noted, an abort is noticed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lazuli_model::version::ApiVersion;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::copy_blob::check_length;
use crate::fault::Answer;
use crate::store::{NewContent, Pending, Sealing};
use crate::upload::upload;
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
    job: Pending,
    body: Body,
    length: u64,
    sealing: Sealing,
    turn: OwnedSemaphorePermit,
) {
    tokio::spawn(async move {
        let _turn = turn;
        let context = Context::of_owner(job.account(), ApiVersion::NEWEST);
        let why = match timeout(LONGEST, run(&services, &context, &job, body, length, &sealing)).await {
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

async fn run(
    services: &Services,
    context: &Context,
    job: &Pending,
    body: Body,
    length: u64,
    sealing: &Sealing,
) -> Answer<()> {
    let copied = Arc::new(AtomicU64::new(0));
    let uploading = upload(services, counted(body, Arc::clone(&copied)), length, false, sealing);
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
    let mut content = NewContent::of_blob(services, uploaded).await?;
    let new = &content;
    let completing = services.commit(context, |mut unit| async move { unit.complete_copy(job, new).await });
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
