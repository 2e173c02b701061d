//! Heartbeats, sweeps and downloads of three servers in any order, with servers that fall silent and come back: a download has
//! the bytes that it began with, or ends with an error if its server was silent for long; what nothing reads is given back.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use lazuli_engine::Host;
use lazuli_engine::host::{Clock, ManualClock};
use lazuli_model::version::ApiVersion;
use lazuli_service::download::Download;
use lazuli_service::{Answer, Context, Members, ServiceOptions, Services, upkeep};
use proptest::prelude::*;

use crate::support::Bench;

const SERVERS: usize = 3;
const BLOBS: usize = 2;
/// A few parts of a download.
const LENGTH: usize = 600 * 1024;

#[derive(Clone, Debug)]
enum Act {
    Put {
        blob: usize,
    },
    Open {
        server: usize,
        blob: usize,
    },
    Read {
        which: usize,
    },
    Leave {
        which: usize,
    },
    Beat {
        server: usize,
    },
    /// Goes on with the sweep of a server, for a while.
    Sweep {
        server: usize,
        polls: usize,
    },
    /// So long that the others may take it for dead.
    Silence {
        server: usize,
    },
}

fn act() -> impl Strategy<Value = Act> {
    let (server, blob) = (0..SERVERS, 0..BLOBS);
    prop_oneof![
        4 => blob.clone().prop_map(|blob| Act::Put { blob }),
        4 => (server.clone(), blob).prop_map(|(server, blob)| Act::Open { server, blob }),
        6 => (0usize..8).prop_map(|which| Act::Read { which }),
        1 => (0usize..8).prop_map(|which| Act::Leave { which }),
        9 => server.clone().prop_map(|server| Act::Beat { server }),
        9 => (server.clone(), 1usize..12).prop_map(|(server, polls)| Act::Sweep { server, polls }),
        1 => server.prop_map(|server| Act::Silence { server }),
    ]
}

struct Reading {
    server: usize,
    download: Download,
    left: Bytes,
    /// Its server is silent, or was since.
    may_fail: bool,
}

type Sweep = Pin<Box<dyn Future<Output = Answer<usize>>>>;

struct World {
    clock: Arc<ManualClock>,
    servers: Vec<Services>,
    sweeps: Vec<Option<Sweep>>,
    bench: Bench,
    bodies: Vec<Bytes>,
    readings: Vec<Reading>,
    written: u8,
    /// Since it last beat, enough time has passed to take it for dead.
    silent: [bool; SERVERS],
}

impl World {
    async fn new() -> Self {
        let host = Host::test();
        let Clock::Manual(clock) = host.clock.clone() else { panic!("a test's clock") };
        let engine = crate::testing::engine(host).await;
        let options = ServiceOptions { members: Members::Several, ..ServiceOptions::default() };
        let servers: Vec<_> = (0..SERVERS).map(|_| Services::new(engine.clone(), options.clone())).collect();
        for server in &servers {
            server.join().await.unwrap();
        }
        let context = Context::of_owner("acct", ApiVersion::NEWEST);
        let bench = Bench::of(engine.clone(), servers.clone(), context);
        bench.create_container("c").await;
        let (sweeps, bodies) = ((0..SERVERS).map(|_| None).collect(), vec![Bytes::new(); BLOBS]);
        let mut world = Self {
            clock,
            servers,
            sweeps,
            bench,
            bodies,
            readings: vec![],
            written: 0,
            silent: [false; SERVERS],
        };
        for blob in 0..BLOBS {
            world.put(blob).await;
        }
        world
    }

    async fn put(&mut self, blob: usize) {
        self.written = self.written.wrapping_add(1);
        self.bodies[blob] = vec![self.written; LENGTH].into();
        self.bench.put(&blob.to_string(), &self.bodies[blob]).await.unwrap();
    }

    async fn act(&mut self, act: Act) {
        match act {
            Act::Put { blob } => self.put(blob).await,
            Act::Open { server, blob } if self.readings.len() < 8 => {
                let download = self.bench.open_on(&self.servers[server], &blob.to_string()).await.unwrap();
                let left = self.bodies[blob].clone();
                let may_fail = self.silent[server];
                self.readings.push(Reading { server, download, left, may_fail });
            }
            Act::Open { .. } => {}
            Act::Read { which } if which < self.readings.len() => self.read(which).await,
            Act::Leave { which } if which < self.readings.len() => drop(self.readings.remove(which)),
            Act::Read { .. } | Act::Leave { .. } => {}
            Act::Beat { server } => self.beat(server).await,
            Act::Sweep { server, polls } => self.sweep(server, polls).await,
            Act::Silence { server } => {
                self.clock.advance(Duration::from_secs(31));
                self.silent[server] = true;
                self.readings
                    .iter_mut()
                    .filter(|one| one.server == server)
                    .for_each(|one| one.may_fail = true);
                for other in (0..SERVERS).filter(|other| *other != server) {
                    self.beat(other).await;
                }
            }
        }
    }

    async fn beat(&mut self, server: usize) {
        self.servers[server].beat().await.unwrap();
        self.silent[server] = false;
    }

    async fn read(&mut self, which: usize) {
        let Reading { download, left, may_fail, .. } = &mut self.readings[which];
        match download.next().await {
            Some(Ok(part)) => {
                assert!(left.starts_with(&part), "other bytes than those that it began with");
                *left = left.slice(part.len()..);
                return;
            }
            Some(Err(fault)) => assert!(*may_fail, "a download of a live server was cut: {fault:?}"),
            None => assert!(left.is_empty(), "{} bytes are missing", left.len()),
        }
        self.readings.remove(which);
    }

    async fn sweep(&mut self, server: usize, polls: usize) {
        for _ in 0..polls {
            let services = self.servers[server].clone();
            let fresh = || Box::pin(async move { upkeep::sweep(&services).await }) as Sweep;
            let sweep = self.sweeps[server].get_or_insert_with(fresh);
            if let Some(done) = sweep.as_mut().now_or_never() {
                // It may have lost the job meanwhile.
                let _ = done;
                self.sweeps[server] = None;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    async fn end(mut self) {
        while !self.readings.is_empty() {
            self.read(0).await;
        }
        self.sweeps.clear();
        let beating = async {
            loop {
                for server in &self.servers {
                    server.beat().await.unwrap();
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let sweeping = async {
            for _ in 0..100 {
                let mut found = 0;
                for server in &self.servers {
                    found += upkeep::sweep(server).await.unwrap();
                }
                if found == 0 {
                    return;
                }
            }
            panic!("the sweeper finds no end");
        };
        tokio::select! { () = sweeping => {}, () = beating => {} }
        let live = self.servers[0].engine_stats().1.live_bytes;
        assert_eq!(live, (BLOBS * LENGTH) as u64, "what nothing reads is given back");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn downloads_are_whole_whatever_the_order(acts in prop::collection::vec(act(), 1..120)) {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut world = World::new().await;
            for act in acts {
                world.act(act).await;
            }
            world.end().await;
        });
    }
}
