//! Work in the background: giving back what nothing reaches any more. No correctness rests on when it runs.

mod contents;
mod generations;
mod orphans;

use std::time::{Duration, Instant};

use lazuli_engine::Key;

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
    let mut round = Round::begin();
    while services.engine().is_stopped().is_none() {
        match round.pass(&services).await {
            Ok(Pass { more: true, .. }) => tokio::task::yield_now().await,
            Ok(Pass { found: 0, .. }) => tokio::time::sleep(REST).await,
            Ok(_) => tokio::time::sleep(GLANCE).await,
            Err(fault) => {
                tracing::warn!(cause = ?fault.0.cause, "sweep failed");
                tokio::time::sleep(REST).await;
            }
        }
        if round.began.elapsed() >= REST {
            round = Round::begin();
        }
        if walked.elapsed() >= WALK {
            if let Err(fault) = expiry::walk(&services).await {
                tracing::warn!(cause = ?fault.0.cause, "expired messages stay for now");
            }
            walked = Instant::now();
        }
    }
}

/// The first pass of a round. Tells how many items were dealt with.
pub async fn sweep(services: &Services) -> Answer<usize> {
    Ok(Round::begin().pass(services).await?.found)
}

/// A way through what is dead. What was swept leaves traces, which cost whoever walks over them, so a pass goes on where the
/// one before ended; what died behind it, a later round finds.
struct Round {
    began: Instant,
    after: Option<Key>,
}

struct Pass {
    found: usize,
    more: bool,
}

impl Round {
    fn begin() -> Self {
        Self { began: Instant::now(), after: None }
    }

    /// Lists what is dead now, waits for the readers of now to leave, gives it back.
    async fn pass(&mut self, services: &Services) -> Answer<Pass> {
        let generations = generations::list(services).await?;
        let contents::Page { contents, last, more } = contents::list(services, self.after.clone()).await?;
        contents::adopt_all(services).await?;
        let found = generations.len() + contents.len();
        if found == 0 {
            return Ok(Pass { found, more });
        }
        let epoch = services.pins().turn();
        while !services.pins().is_past(epoch) {
            tokio::time::sleep(GLANCE).await;
        }
        for generation in generations {
            generations::sweep(services, generation).await?;
        }
        contents::sweep(services, contents).await?;
        self.after = last.or(self.after.take());
        Ok(Pass { found, more })
    }
}

#[cfg(test)]
mod tests {
    use lazuli_engine::{Engine, Host, Plan};

    use super::*;
    use crate::ServiceOptions;
    use crate::fault::Fault;
    use crate::key::{self, ContentId};
    use crate::record::Record;
    use crate::record::content::DeadContent;

    async fn die(services: &Services, ids: std::ops::Range<u128>) {
        let write = |_| async {
            let mut plan = Plan::new(());
            for id in ids.clone() {
                plan.put(key::dead_content(ContentId(id)), DeadContent::Pieces(Vec::new()).encode());
            }
            Ok::<_, Fault>(plan)
        };
        services.engine().run(None, write).await.expect("written");
    }

    #[tokio::test]
    async fn a_pass_goes_on_where_the_one_before_ended_and_a_round_finds_all() {
        let services = Services::new(Engine::memory(Host::real()), ServiceOptions::default());
        let mut round = Round::begin();
        die(&services, 1_000..1_700).await;
        let first = round.pass(&services).await.expect("swept");
        assert_eq!((first.found, first.more), (500, true));
        let second = round.pass(&services).await.expect("swept");
        assert_eq!((second.found, second.more), (200, false));
        // One died behind the place where it stands, another before it.
        die(&services, 1..2).await;
        die(&services, 2_000..2_001).await;
        assert_eq!(round.pass(&services).await.expect("swept").found, 1);
        assert_eq!(round.pass(&services).await.expect("swept").found, 0);
        assert_eq!(sweep(&services).await.expect("swept"), 1, "the one that the round has passed");
        assert_eq!(sweep(&services).await.expect("swept"), 0);
    }
}
