//! Work in the background: giving back what nothing reaches any more. No correctness rests on when it runs.

mod contents;
mod generations;
mod orphans;

use std::time::{Duration, Instant};

use crate::Services;
use crate::fault::Answer;
use crate::queue::expiry;

/// How long the sweeper rests when it found nothing to do.
const REST: Duration = Duration::from_secs(2);
/// How often it looks whether the readers of an epoch have left.
const GLANCE: Duration = Duration::from_millis(50);
/// How often it walks the queues for messages that expired while nobody came for them.
const WALK: Duration = Duration::from_secs(600);

/// Sees to what a crash left. To be awaited once, before the first request is served.
pub async fn recover(services: &Services) -> Answer<()> {
    orphans::sweep(services).await
}

/// Sweeps until the engine stops. To be spawned once for an engine.
pub async fn sweep_forever(services: Services) {
    let mut walked = Instant::now();
    while services.engine().is_stopped().is_none() {
        match sweep(&services).await {
            Ok(0) => tokio::time::sleep(REST).await,
            Ok(_) => tokio::task::yield_now().await,
            Err(fault) => {
                tracing::warn!(cause = ?fault.0.cause, "sweep failed");
                tokio::time::sleep(REST).await;
            }
        }
        if walked.elapsed() >= WALK {
            if let Err(fault) = expiry::walk(&services).await {
                tracing::warn!(cause = ?fault.0.cause, "expired messages stay for now");
            }
            walked = Instant::now();
        }
    }
}

/// One pass: lists what is dead now, waits for the readers of now to leave, gives it back. Tells how many items
/// were dealt with.
pub async fn sweep(services: &Services) -> Answer<usize> {
    let generations = generations::list(services).await?;
    let contents = contents::list(services).await?;
    contents::adopt_all(services).await?;
    if generations.is_empty() && contents.is_empty() {
        return Ok(0);
    }
    let epoch = services.pins().turn();
    while !services.pins().is_past(epoch) {
        tokio::time::sleep(GLANCE).await;
    }
    let mut done = 0;
    for generation in generations {
        generations::sweep(services, generation).await?;
        done += 1;
    }
    for (content, dead) in contents {
        contents::sweep(services, content, dead).await?;
        done += 1;
    }
    Ok(done)
}
