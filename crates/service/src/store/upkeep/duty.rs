//! Which server does the work in the background. One at a time holds the job's row; every commit of the work checks
//! that the row still names this server and its epoch, so that two sweepers never act on the same things.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lazuli_engine::{EngineError, Key, Plan, Reader};
use parking_lot::Mutex;

use crate::Services;
use crate::fault::{Answer, Fault};
use crate::store::key::{self, Incarnation};
use crate::store::members::{self, Members};
use crate::store::record::Record;
use crate::store::record::server::JobRow;

/// The job of the sweeper: everything that upkeep does. Each subscription to events has one too.
const SWEEP: &str = "sweep";
/// How long the job is a server's without a word of it.
const HELD: Duration = Duration::from_secs(30);
/// After so long the next commit of the work renews the row first.
const RENEWED: Duration = Duration::from_secs(10);

/// The services, for the work in the background: with the duty to do it.
pub struct Work {
    services: Services,
    /// None when there are no other servers: nothing is written to say so.
    duty: Option<Duty>,
}

struct Duty {
    job: Key,
    owner: Incarnation,
    epoch: u64,
    renewed: Mutex<Instant>,
    lost: AtomicBool,
}

impl Deref for Work {
    type Target = Services;

    fn deref(&self) -> &Services {
        &self.services
    }
}

impl Work {
    /// Takes the job of the sweeper; `None` while another server has it.
    pub async fn take(services: &Services) -> Answer<Option<Self>> {
        Self::take_job(&services.giving_back(), SWEEP).await
    }

    /// Takes the job of this name; `None` while another server has it.
    pub async fn take_job(services: &Services, job: &str) -> Answer<Option<Self>> {
        let services = services.clone();
        if services.members() == Members::Alone {
            return Ok(Some(Self { services, duty: None }));
        }
        let (all, owner, taken) = (&services, services.membership().incarnation(), Instant::now());
        let job_key = &key::job(job);
        let epoch = services
            .engine()
            .run(services.deadline(), |reader| async move {
                let now = all.engine().steady_now().0;
                let epoch = match found(&reader, job_key).await? {
                    None => 0,
                    Some(job) if job.until <= now || members::is_dead(all, &reader, job.owner).await? => {
                        job.epoch
                    }
                    Some(job) if job.owner == owner => job.epoch,
                    Some(_) => return Ok(Plan::new(None)),
                };
                let job = JobRow { owner, epoch: epoch + 1, until: now + ticks(HELD) };
                let mut plan = Plan::new(Some(job.epoch));
                plan.put(job_key.clone(), job.encode());
                Ok::<_, Fault>(plan)
            })
            .await?;
        let duty = epoch.map(|epoch| Duty {
            job: job_key.clone(),
            owner,
            epoch,
            renewed: Mutex::new(taken),
            lost: AtomicBool::new(false),
        });
        Ok(duty.map(|duty| Self { services, duty: Some(duty) }))
    }

    /// Another server has the job now.
    pub fn is_lost(&self) -> bool {
        self.duty.as_ref().is_some_and(|duty| duty.lost.load(Ordering::Relaxed))
    }

    /// Reads, decides and commits as [`lazuli_engine::Engine::run`] does, while the job is this server's.
    pub async fn run<T, F, Fut>(&self, closure: F) -> Answer<T>
    where
        T: Send,
        F: Fn(Reader) -> Fut + Send + Sync,
        Fut: Future<Output = Answer<Plan<T>>> + Send,
    {
        self.keep().await?;
        let closure = &closure;
        self.engine()
            .run(self.deadline(), |reader| async move {
                self.check(&reader).await?;
                closure(reader).await
            })
            .await
    }

    /// The job is still this server's. A check of the commit.
    async fn check(&self, reader: &Reader) -> Answer<()> {
        let Some(duty) = &self.duty else { return Ok(()) };
        if found(reader, &duty.job).await?.is_some_and(|job| duty.is(&job)) {
            return Ok(());
        }
        duty.lost.store(true, Ordering::Relaxed);
        Err(lost())
    }

    /// Renews the row when it is time to.
    async fn keep(&self) -> Answer<()> {
        let Some(duty) = &self.duty else { return Ok(()) };
        if self.is_lost() {
            return Err(lost());
        }
        let now = Instant::now();
        if now.duration_since(*duty.renewed.lock()) >= RENEWED {
            self.hold_until(self.engine().steady_now().0 + ticks(HELD)).await?;
            *duty.renewed.lock() = now;
        }
        Ok(())
    }

    /// Lets another server take the job at once.
    pub async fn release(&self) -> Answer<()> {
        self.hold_until(0).await
    }

    async fn hold_until(&self, until: u64) -> Answer<()> {
        let Some(duty) = &self.duty else { return Ok(()) };
        self.engine()
            .run(self.deadline(), |reader| async move {
                self.check(&reader).await?;
                let mut plan = Plan::new(());
                plan.put(duty.job.clone(), JobRow { owner: duty.owner, epoch: duty.epoch, until }.encode());
                Ok::<_, Fault>(plan)
            })
            .await
    }
}

impl Duty {
    fn is(&self, job: &JobRow) -> bool {
        job.owner == self.owner && job.epoch == self.epoch
    }
}

async fn found(reader: &Reader, job: &Key) -> Answer<Option<JobRow>> {
    Ok(match reader.get(job.clone()).await? {
        Some(entry) => Some(JobRow::decode(&entry.value)?),
        None => None,
    })
}

fn lost() -> Fault {
    EngineError::Unavailable("another server does the work in the background").into()
}

fn ticks(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos() / 100).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use lazuli_engine::host::Clock;
    use lazuli_engine::{Engine, Host};

    use super::*;
    use crate::ServiceOptions;

    async fn write(work: &Work, key: &'static str) -> Answer<()> {
        let write = |_| async move {
            let mut plan = Plan::new(());
            plan.put(key, "");
            Ok(plan)
        };
        work.run(write).await
    }

    /// A sweeper that stalled between its decision and its commit, or between two commits, commits nothing any more.
    #[tokio::test]
    async fn a_commit_of_a_job_that_was_lost_is_refused() {
        let host = Host::test();
        let Clock::Manual(clock) = host.clock.clone() else { panic!("a test's clock") };
        let engine = Engine::memory(host);
        let options = ServiceOptions { members: Members::Several, ..ServiceOptions::default() };
        let [first, second] = [(); 2].map(|()| Services::new(engine.clone(), options.clone()));
        for server in [&first, &second] {
            server.join().await.expect("joined");
        }
        let slow = Work::take(&first).await.expect("read").expect("free");
        write(&slow, "a").await.expect("its turn");
        assert!(Work::take(&second).await.expect("read").is_none());
        clock.advance(HELD);
        // The lease ran out, and no other server has taken the job.
        write(&slow, "b").await.expect("its turn");
        let (slow, second) = (&slow, &second);
        let stalled = slow.run(|_| async move {
            // Others do it meanwhile.
            if let Some(quick) = Work::take(second).await? {
                write(&quick, "c").await?;
            }
            let mut plan = Plan::new(());
            plan.put("d", "");
            Ok(plan)
        });
        stalled.await.expect_err("no longer its turn");
        assert!(slow.is_lost());
        write(slow, "e").await.expect_err("no longer its turn");
        let reader = engine.reader().await.expect("open");
        for (key, is_there) in [("a", true), ("b", true), ("c", true), ("d", false), ("e", false)] {
            assert_eq!(reader.get_untracked(key).await.expect("read").is_some(), is_there, "{key}");
        }
    }
}
