//! Work in the background: giving back what nothing reaches any more. No correctness rests on when it runs.
//!
//! The sweeper passes over what it cannot do: an item that fails is logged and counted, and the items behind it have
//! their turn.

mod budget;
mod contents;
mod copies;
mod counters;
mod generations;
mod manifests;
mod orphans;
mod snapshots;
mod stages;

use std::time::{Duration, Instant};

use lazuli_engine::Key;

pub use counters::{Counters, UpkeepStats};

use crate::Services;
use crate::fault::Answer;
use crate::key;
use crate::queue::expiry;
use crate::record::content::DeadContent;

/// How long the sweeper rests when it found nothing to do.
const REST: Duration = Duration::from_secs(2);
/// How often it looks whether the readers of an epoch have decided what they read.
const GLANCE: Duration = Duration::from_millis(50);
/// How long it waits for that.
const READERS_PATIENCE: Duration = Duration::from_secs(30);
/// How often it walks the queues for messages that expired while no consumer came for them.
const WALK: Duration = Duration::from_secs(600);

/// Sees to what a crash left. To be awaited once, before the first request is served. Opening does not depend on it:
/// what fails here stays, and takes space.
pub async fn recover(services: &Services) {
    if let Err(fault) = orphans::give_up_all(&services.giving_back()).await {
        services.upkeep().pass_over("orphans", &fault);
    }
}

/// Sweeps until the engine stops. To be spawned once for an engine.
pub async fn sweep_forever(services: Services) {
    let services = services.giving_back();
    let mut walked = Instant::now();
    let mut round = Round::begin();
    while services.engine().is_stopped().is_none() {
        match round.pass(&services).await {
            Ok(Pass { more: true, .. }) => tokio::task::yield_now().await,
            Ok(Pass { found: 0, .. }) => tokio::time::sleep(REST).await,
            Ok(_) => tokio::time::sleep(GLANCE).await,
            Err(fault) => {
                tracing::warn!(cause = ?fault.0.cause, "the sweeper cannot list what is dead");
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
    Ok(Round::begin().pass(&services.giving_back()).await?.found)
}

/// Where the sweeper has come in each kind of work. Deleted keys slow the scan that crosses them, so a pass begins where
/// the last one ended; a later round finds what died behind that place, and what was passed over or left unfinished.
struct Round {
    began: Instant,
    contents: Option<Key>,
    generations: Option<Key>,
    snapshots: Option<Key>,
    adopted: Option<Key>,
}

struct Pass {
    /// Items that were dealt with.
    found: usize,
    more: bool,
}

impl Round {
    fn begin() -> Self {
        Self { began: Instant::now(), contents: None, generations: None, snapshots: None, adopted: None }
    }

    async fn pass(&mut self, services: &Services) -> Answer<Pass> {
        let mut done = Tally { services, found: 0, unfinished: false };
        let mut all_finished = true;
        for generation in generations::list(services, self.generations.clone()).await? {
            all_finished &= done.note("container", generations::sweep(services, generation).await);
            if all_finished {
                self.generations = Some(key::dead_generation(generation));
            }
        }
        let mut all_finished = true;
        for name in snapshots::list(services, self.snapshots.clone()).await? {
            all_finished &= done.note("snapshots", snapshots::sweep(services, &name).await);
            if all_finished {
                self.snapshots = Some(name);
            }
        }
        for manifest in stages::list_adopted(services, self.adopted.clone()).await? {
            done.note("adopted blocks", stages::adopt(services, manifest).await.map(|()| true));
            self.adopted = Some(key::adopted(manifest));
        }
        match copies::end_lost(services).await {
            Ok(count) => done.found += count,
            Err(fault) => services.upkeep().pass_over("a copy without a server", &fault),
        }
        let more = self.sweep_contents(services, &mut done).await?;
        Ok(Pass { found: done.found, more: more || done.unfinished })
    }

    /// Lists what is dead now, lets the readers of now decide what they read, gives the rest back.
    async fn sweep_contents(&mut self, services: &Services, done: &mut Tally<'_>) -> Answer<bool> {
        let contents::Page { mut items, unreadable, last, more } =
            contents::list(services, self.contents.clone()).await?;
        (0..unreadable).for_each(|_| services.upkeep().count_passed_over());
        if !items.is_empty() && !readers_decide(services).await {
            services.upkeep().count_passed_over();
            tracing::warn!(
                "a reader has not found its record for a long time; contents are given back later"
            );
            return Ok(false);
        }
        items.retain(|item| !services.readers().is_read(item.id));
        let (few, others): (Vec<_>, Vec<_>) =
            items.into_iter().partition(|item| matches!(item.dead, DeadContent::Pieces(_)));
        let mut rest = &few[..];
        while !rest.is_empty() {
            match contents::release_listed(services, rest).await {
                Ok(count) => {
                    done.found += count;
                    rest = &rest[count.clamp(1, rest.len())..];
                }
                Err(_) => {
                    // One of them may be the cause: one by one, the others go.
                    for item in rest {
                        done.note("content", contents::sweep(services, item).await.map(|()| true));
                    }
                    break;
                }
            }
        }
        for item in &others {
            done.note("content", contents::sweep(services, item).await.map(|()| true));
        }
        self.contents = last.or(self.contents.take());
        Ok(more)
    }
}

/// Whether all readers that were there when this was called have said what they read, or have left. They read some rows,
/// so they do it soon.
async fn readers_decide(services: &Services) -> bool {
    let epoch = services.readers().next_epoch();
    let end = Instant::now() + READERS_PATIENCE;
    while !services.readers().is_decided(epoch) {
        if Instant::now() >= end || services.engine().is_stopped().is_some() {
            return false;
        }
        tokio::time::sleep(GLANCE).await;
    }
    true
}

/// What became of the items of a pass.
struct Tally<'a> {
    services: &'a Services,
    found: usize,
    /// Some item has more than its share of a pass.
    unfinished: bool,
}

impl Tally<'_> {
    /// Notes what became of an item, of which nothing is left when it is `Ok(true)`. False when the next pass should begin
    /// with this very item.
    fn note(&mut self, what: &'static str, done: Answer<bool>) -> bool {
        match done {
            Ok(is_finished) => {
                self.found += 1;
                self.unfinished |= !is_finished;
                is_finished
            }
            Err(fault) => {
                self.services.upkeep().pass_over(what, &fault);
                true
            }
        }
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
