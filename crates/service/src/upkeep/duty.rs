//! Which server does the work in the background. One at a time holds the job's row; every commit of the work checks
//! that the row still names this server and its epoch, so that two sweepers never act on the same things.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lazuli_engine::{EngineError, Plan, Reader};
use parking_lot::Mutex;

use crate::Services;
use crate::fault::{Answer, Fault};
use crate::key::{self, Incarnation};
use crate::members::{self, Members};
use crate::record::Record;
use crate::record::server::JobRow;

/// The only job so far: everything that upkeep does.
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
    /// Takes the job; `None` while another server has it.
    pub async fn take(services: &Services) -> Answer<Option<Self>> {
        let services = services.giving_back();
        if services.members() == Members::Alone {
            return Ok(Some(Self { services, duty: None }));
        }
        let (all, owner, taken) = (&services, services.membership().incarnation(), Instant::now());
        let epoch = services
            .engine()
            .run(services.deadline(), |reader| async move {
                let now = all.engine().steady_now().0;
                let epoch = match found(&reader).await? {
                    None => 0,
                    Some(job) if job.until <= now || members::is_dead(all, &reader, job.owner).await? => {
                        job.epoch
                    }
                    Some(job) if job.owner == owner => job.epoch,
                    Some(_) => return Ok(Plan::new(None)),
                };
                let job = JobRow { owner, epoch: epoch + 1, until: now + ticks(HELD) };
                let mut plan = Plan::new(Some(job.epoch));
                plan.put(key::job(SWEEP), job.encode());
                Ok::<_, Fault>(plan)
            })
            .await?;
        let duty = epoch.map(|epoch| Duty {
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
        if found(reader).await?.is_some_and(|job| duty.is(&job)) {
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
                plan.put(key::job(SWEEP), JobRow { owner: duty.owner, epoch: duty.epoch, until }.encode());
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

async fn found(reader: &Reader) -> Answer<Option<JobRow>> {
    Ok(match reader.get(key::job(SWEEP)).await? {
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
