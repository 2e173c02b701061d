//! Work in the background: giving back what nothing reaches any more. No correctness rests on when it runs.
//!
//! The sweeper passes over what it cannot do: an item that fails is logged and counted, and the items behind it have
//! their turn.

pub(super) mod budget;
pub(super) mod contents;
mod counters;
mod drain;
mod due;
mod duty;
mod expired;
mod generations;
pub(super) mod manifests;
mod servers;
mod shares;
mod snapshots;
mod stages;

pub(super) use budget::has_room;

use std::time::{Duration, Instant};

use lazuli_engine::{Key, Reader, Scan};

pub use counters::{Counters, UpkeepStats};
pub(crate) use duty::Work;

use crate::Services;
use crate::fault::Answer;
use crate::store::key;
use crate::store::pack;
use crate::store::queue::expiry;
use crate::store::record::content::DeadContent;
use crate::store::share;

/// How long the sweeper rests when it found nothing to do.
const REST: Duration = Duration::from_secs(2);
/// How long it rests when some was done and more may come soon.
const SHORT_REST: Duration = Duration::from_millis(50);
/// How often it walks the queues for messages that expired while no consumer came for them, and uncommitted blocks for those
/// that were not committed in time.
const WALK: Duration = Duration::from_secs(600);

/// Sweeps until the engine stops. To be spawned once for a server. Of several servers one sweeps at a time.
pub async fn sweep_forever(services: Services) {
    let mut walked = Instant::now();
    while services.engine().is_stopped().is_none() {
        match Work::take(&services).await {
            Ok(Some(work)) => sweep_while_ours(&work, &mut walked).await,
            Ok(None) => {}
            Err(fault) => tracing::warn!(cause = ?fault.0.cause, "the sweeper cannot begin"),
        }
        tokio::time::sleep(REST).await;
    }
}

async fn sweep_while_ours(work: &Work, walked: &mut Instant) {
    let mut round = Round::begin();
    while work.engine().is_stopped().is_none() && !work.is_lost() {
        match round.pass(work).await {
            Ok(Pass { more: true, .. }) => tokio::task::yield_now().await,
            Ok(Pass { found: 0, .. }) => tokio::time::sleep(REST).await,
            Ok(_) => tokio::time::sleep(SHORT_REST).await,
            Err(fault) => {
                tracing::warn!(cause = ?fault.0.cause, "the sweeper cannot list what is dead");
                tokio::time::sleep(REST).await;
            }
        }
        if round.began.elapsed() >= REST {
            round = Round::begin();
        }
        if walked.elapsed() >= WALK {
            walk(work).await;
            *walked = Instant::now();
        }
    }
}

/// What is found by looking at everything of a kind: once in a while.
async fn walk(work: &Work) {
    expiry::walk(work).await;
    expired::walk_stages(work).await;
}

/// The same once, unless another server works in the background.
pub async fn walk_once(services: &Services) -> Answer<()> {
    if let Some(work) = Work::take(services).await? {
        walk(&work).await;
        work.release().await?;
    }
    Ok(())
}

/// The first pass of a round. Tells how many items were dealt with: none while another server sweeps.
pub async fn sweep(services: &Services) -> Answer<usize> {
    let Some(work) = Work::take(services).await? else { return Ok(0) };
    let swept = Round::begin().pass(&work).await;
    work.release().await?;
    Ok(swept?.found)
}

/// Where the sweeper has come in each kind of work. Deleted keys slow the scan that crosses them, so a pass begins where
/// the last one ended; a later round finds what died behind that place, and what was passed over or left unfinished.
struct Round {
    began: Instant,
    /// Servers and what they left are looked at once in a round.
    servers_seen: bool,
    contents: Option<Key>,
    generations: Option<Key>,
    due: Option<Key>,
    snapshots: Option<Key>,
    adopted: Option<Key>,
    expired: Option<Key>,
    to_pack: Option<Key>,
    shares: [Option<Key>; shares::KINDS.len()],
}

struct Pass {
    /// Items that were dealt with.
    found: usize,
    more: bool,
}

impl Round {
    fn begin() -> Self {
        Self {
            began: Instant::now(),
            servers_seen: false,
            contents: None,
            generations: None,
            due: None,
            snapshots: None,
            adopted: None,
            expired: None,
            to_pack: None,
            shares: Default::default(),
        }
    }

    async fn pass(&mut self, work: &Work) -> Answer<Pass> {
        let mut done = Tally { work, found: 0, unfinished: false };
        if !std::mem::replace(&mut self.servers_seen, true) {
            done.note("rows of servers", servers::declare_dead(work).await.map(|()| true));
            // Looking at the servers' rows is not counted as work that was found; else the sweeper would never rest.
            done.found = 0;
            match servers::give_up_orphans(work).await {
                Ok(count) => done.found += count,
                Err(fault) => drop(done.note("what a server left", Err(fault))),
            }
        }
        let mut all_finished = true;
        for generation in generations::list(work, self.generations.clone()).await? {
            all_finished &= done.note("container", generations::sweep(work, generation).await);
            if all_finished {
                self.generations = Some(key::dead_generation(generation));
            }
        }
        let mut more = self.sweep_due(work, &mut done).await?;
        let mut all_finished = true;
        for name in snapshots::list(work, self.snapshots.clone()).await? {
            all_finished &= done.note("snapshots", snapshots::sweep(work, &name).await);
            if all_finished {
                self.snapshots = Some(name);
            }
        }
        for manifest in stages::list_adopted(work, self.adopted.clone()).await? {
            done.note("adopted blocks", stages::adopt(work, manifest).await.map(|()| true));
            self.adopted = Some(key::adopted(manifest));
        }
        let Page { items, more: more_expired } = expired::list(work, self.expired.clone()).await?;
        in_batches(&mut done, "an expired blob", &items, |items| expired::sweep(work, items)).await;
        self.expired = items.last().cloned().or(self.expired.take());
        more |= more_expired;
        for blob in pack::list(work, self.to_pack.clone()).await? {
            done.note("small blocks", pack::pack(work, &blob).await.map(|()| true));
            self.to_pack = Some(blob);
        }
        for (kind, reached) in shares::KINDS.into_iter().zip(&mut self.shares) {
            let mut all_finished = true;
            for item in shares::list(work, kind, reached.clone()).await? {
                all_finished &= done.note(kind.name(), shares::sweep(work, kind, &item).await);
                if all_finished {
                    *reached = Some(item);
                }
            }
        }
        match share::end_lost_opens(work).await {
            Ok(count) => done.found += count,
            Err(fault) => work.upkeep().pass_over("an open without a server", &fault),
        }
        match share::end_letters(work).await {
            Ok(count) => done.found += count,
            Err(fault) => work.upkeep().pass_over("a message to a server that is gone", &fault),
        }
        more |= self.sweep_contents(work, &mut done).await?;
        Ok(Pass { found: done.found, more: more || done.unfinished })
    }

    /// What was soft deleted and is due. True when there is more.
    async fn sweep_due(&mut self, work: &Work, done: &mut Tally<'_>) -> Answer<bool> {
        let Page { mut items, more } = due::list(work, self.due.clone()).await?;
        let mut reached = items.last().cloned();
        let mut unfinished = Vec::new();
        for (at, due) in items.iter().enumerate().filter(|(_, due)| due::is_of_many(due)) {
            if !done.note("what was soft deleted", due::sweep_many(work, due).await) {
                // The next pass goes on with the first of them.
                if unfinished.is_empty() {
                    reached = at.checked_sub(1).and_then(|before| items.get(before).cloned());
                }
                unfinished.push(due.clone());
            }
        }
        items.retain(|due| !unfinished.contains(due));
        in_batches(done, "what was soft deleted", &items, |items| due::sweep(work, items)).await;
        self.due = reached.or(self.due.take());
        Ok(more)
    }

    /// Lists what is dead now, lets the readers of now decide what they read, gives the rest back.
    async fn sweep_contents(&mut self, work: &Work, done: &mut Tally<'_>) -> Answer<bool> {
        let contents::Page { mut items, readership, unreadable, last, more } =
            contents::list(work, self.contents.clone()).await?;
        (0..unreadable).for_each(|_| work.upkeep().count_passed_over());
        if !items.is_empty() {
            let Some(reading) = readership.decided(work).await? else {
                work.upkeep().count_passed_over();
                tracing::warn!(
                    "a reader has not found its record for a long time; contents are given back later"
                );
                return Ok(false);
            };
            items.retain(|item| !item.seen_through().iter().any(|content| reading.has(*content)));
        }
        let (few, others): (Vec<_>, Vec<_>) = items
            .into_iter()
            .partition(|item| matches!(item.dead, DeadContent::Pieces(_) | DeadContent::Replaced { .. }));
        in_batches(done, "content", &few, |items| contents::release_listed(work, items)).await;
        for item in &others {
            done.note("content", contents::sweep(work, item).await.map(|()| true));
        }
        self.contents = last.or(self.contents.take());
        Ok(more)
    }
}

/// Some keys of a kind of work.
struct Page {
    items: Vec<Key>,
    /// There are more behind them.
    more: bool,
}

impl Page {
    async fn of(reader: &Reader, scan: Scan) -> Answer<Self> {
        let page = reader.scan(Scan { keys_only: true, ..scan }).await?;
        Ok(Self { items: page.items.into_iter().map(|(key, _)| key).collect(), more: page.more })
    }
}

/// Deals with items as many at a time as one commit takes, of which `sweep` tells the number.
async fn in_batches<'a, T, Fut>(
    done: &mut Tally<'_>,
    what: &'static str,
    items: &'a [T],
    sweep: impl Fn(&'a [T]) -> Fut,
) where
    Fut: Future<Output = Answer<usize>>,
{
    let mut rest = items;
    while !rest.is_empty() {
        match sweep(rest).await {
            Ok(count) => {
                let count = count.clamp(1, rest.len());
                done.found += count;
                rest = rest.split_at(count).1;
            }
            Err(_) => {
                // One of them may be the cause: one by one, the others go.
                for item in rest.chunks(1) {
                    done.note(what, sweep(item).await.map(|_| true));
                }
                return;
            }
        }
    }
}

/// What became of the items of a pass.
struct Tally<'a> {
    work: &'a Work,
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
            // The server that sweeps now will do it.
            Err(_) if self.work.is_lost() => true,
            Err(fault) => {
                self.work.upkeep().pass_over(what, &fault);
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
    use crate::store::key::{self, ContentId};
    use crate::store::record::Record;
    use crate::store::record::content::DeadContent;

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
        let work = Work::take(&services).await.expect("read").expect("alone");
        let mut round = Round::begin();
        die(&services, 1_000..1_700).await;
        let first = round.pass(&work).await.expect("swept");
        assert_eq!((first.found, first.more), (500, true));
        let second = round.pass(&work).await.expect("swept");
        assert_eq!((second.found, second.more), (200, false));
        // One died behind the place where it stands, another before it.
        die(&services, 1..2).await;
        die(&services, 2_000..2_001).await;
        assert_eq!(round.pass(&work).await.expect("swept").found, 1);
        assert_eq!(round.pass(&work).await.expect("swept").found, 0);
        assert_eq!(sweep(&services).await.expect("swept"), 1, "the one that the round has passed");
        assert_eq!(sweep(&services).await.expect("swept"), 0);
    }
}
