//! Copies whose server is gone: they are ended as failed.

use lazuli_model::version::ApiVersion;

use crate::fault::{Answer, Fault};
use crate::store::Pending;
use crate::{Context, Services};

/// What the copy's blob says.
const LOST: &str = "500 InternalError \"The server that copied was stopped.\"";

/// Ends some of them; tells how many.
pub async fn end_lost(services: &Services) -> Answer<usize> {
    let view = services.view(&Context::reading("")).await?;
    let lost = view.lost_copies().await?;
    drop(view);
    for job in &lost {
        end(services, job).await?;
    }
    Ok(lost.len())
}

async fn end(services: &Services, job: &Pending) -> Answer<()> {
    let context = Context::of_owner(job.account(), ApiVersion::NEWEST);
    // Another server may have prolonged it since it was listed: what is read here is a check of the commit.
    services
        .commit(&context, |mut unit| async move {
            if unit.is_lost(job).await? {
                unit.fail_copy(job, LOST).await?;
            }
            Ok::<_, Fault>(())
        })
        .await
}
