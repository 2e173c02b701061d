//! The wall clock jumps while an engine runs and between its runs. In one process, with a clock that the test holds.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use lazuli_engine::host::{Clock, ManualClock};
use lazuli_engine::{Engine, Host, Options as EngineOptions, Ticks};
use lazuli_model::access::PublicAccess;
use lazuli_model::admission::{LeaseAction, LeaseDuration, LeaseId, Preconditions};
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;
use lazuli_model::version::ApiVersion;
use lazuli_service::blob::{BlobAddress, BlobProperties, CreateContainer, Digests, LeaseBlob, PutBlockBlob};
use lazuli_service::{Body, Context, Fault, ServiceOptions, Services};
use std::sync::Arc;
use uuid::Uuid;

use crate::Trial;
use crate::options::Options;

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;
const HOLDER: LeaseId = LeaseId(Uuid::from_u128(1));

pub async fn run(options: &Options) -> Trial<String> {
    let jumps = [HOUR, -HOUR, DAY, -DAY, 40 * DAY, -40 * DAY, -400 * DAY];
    for jump in jumps {
        while_running(options, jump).await.map_err(|reason| format!("{jump} s while it runs: {reason}"))?;
    }
    for jump in jumps.into_iter().filter(|jump| *jump < 0) {
        while_down(options, jump).await.map_err(|reason| format!("{jump} s while it is down: {reason}"))?;
    }
    Ok(format!(
        "{} jumps while running, and backward ones over crashes: never early, never late",
        jumps.len()
    ))
}

/// No time passes in a jump: the lease lasts its minute, neither less nor more.
async fn while_running(options: &Options, jump: i64) -> Trial {
    let place = directory(options)?;
    let bench = Bench::open(place.path(), clock())?;
    bench.prepare().await?;
    bench.leased(true).await?;
    bench.jump(jump);
    bench.leased(true).await?;
    bench.pass(30);
    bench.leased(true).await?;
    bench.jump(-jump);
    bench.leased(true).await?;
    bench.pass(29);
    bench.leased(true).await?;
    bench.pass(2);
    bench.leased(false).await
}

/// After a crash the wall clock is behind. Time goes on from where the engine knows it to have been, so the lease
/// does not end early; nor does it become longer than it was.
async fn while_down(options: &Options, jump: i64) -> Trial {
    let place = directory(options)?;
    let clock = clock();
    let bench = Bench::open(place.path(), clock.clone())?;
    bench.prepare().await?;
    bench.pass(20);
    // Remembers the moment.
    bench.write("another", None).await.map_err(|code| code.to_owned())?;
    bench.jump(jump);
    // Dropped, not closed: as after a crash.
    drop(bench);
    let bench = Bench::open(place.path(), clock)?;
    bench.leased(true).await?;
    bench.pass(38);
    bench.leased(true).await?;
    bench.pass(3);
    bench.leased(false).await
}

fn directory(options: &Options) -> Trial<tempfile::TempDir> {
    tempfile::tempdir_in(&options.work).map_err(|error| format!("{}: {error}", options.work.display()))
}

fn clock() -> Arc<ManualClock> {
    match Clock::manual() {
        Clock::Manual(clock) => clock,
        Clock::Real => unreachable!("a manual clock is manual"),
    }
}

struct Bench {
    services: Services,
    context: Context,
    clock: Arc<ManualClock>,
}

impl Bench {
    fn open(place: &Path, clock: Arc<ManualClock>) -> Trial<Self> {
        let host = Host { clock: Clock::Manual(clock.clone()), ..Host::real() };
        let engine =
            Engine::open(place, EngineOptions::default(), host).map_err(|error| error.to_string())?;
        let services = Services::new(engine, ServiceOptions::default());
        let context = Context::of_owner("acct", ApiVersion::NEWEST);
        Ok(Self { services, context, clock })
    }

    async fn prepare(&self) -> Trial {
        let container = CreateContainer {
            container: "c".into(),
            metadata: Metadata::default(),
            public_access: PublicAccess::Private,
            default_encryption_scope: None,
            deny_encryption_scope_override: false,
        };
        let told = |Fault(failure)| failure.to_string();
        container.execute(&self.services, &self.context).await.map_err(told)?;
        self.write("leased", None).await.map_err(|code| code.to_owned())?;
        let lease = LeaseBlob {
            at: address("leased"),
            preconditions: Preconditions::default(),
            action: LeaseAction::Acquire {
                proposed: Some(HOLDER),
                duration: LeaseDuration::Fixed { seconds: 60 },
            },
        };
        let op = policy::AcquireBlobLease;
        lease.execute(&self.services, &self.context, op).await.map(drop).map_err(told)
    }

    /// Whether the lease keeps a stranger out, and lets its holder in.
    async fn leased(&self, expected: bool) -> Trial {
        let holder = self.write("leased", Some(HOLDER)).await;
        let holder_expected = if expected { Ok(()) } else { Err("LeaseLost".to_owned()) };
        if holder != holder_expected {
            return Err(format!("the holder's write: {holder:?} instead of {holder_expected:?}"));
        }
        let stranger = self.write("leased", None).await;
        let stranger_expected = if expected { Err("LeaseIdMissing".to_owned()) } else { Ok(()) };
        if stranger != stranger_expected {
            return Err(format!("a stranger's write: {stranger:?} instead of {stranger_expected:?}"));
        }
        Ok(())
    }

    /// The code of the refusal, when it is refused.
    async fn write(&self, name: &str, lease_id: Option<LeaseId>) -> Result<(), String> {
        let input = PutBlockBlob {
            at: address(name),
            preconditions: Preconditions { lease_id, ..Preconditions::default() },
            properties: BlobProperties::default(),
            digests: Digests::default(),
            body: Body::from(Bytes::from_static(b"content")),
            limit: u64::MAX,
        };
        let stored = input.execute(&self.services, &self.context).await;
        stored.map(drop).map_err(|Fault(failure)| format!("{:?}", failure.code))
    }

    /// The wall clock alone.
    fn jump(&self, seconds: i64) {
        let wall = Clock::Manual(self.clock.clone()).wall();
        self.clock.set_wall(Ticks(wall.0.saturating_add_signed(seconds * 10_000_000)));
    }

    /// Time itself.
    fn pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

fn address(name: &str) -> BlobAddress {
    BlobAddress { container: "c".into(), blob: name.into() }
}
