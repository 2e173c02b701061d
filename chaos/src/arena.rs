//! A server that dies and comes back while its clients go on.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::watch;

use crate::Trial;
use crate::blow::Blow;
use crate::cluster::aim::Aim;
use crate::options::Options;
use crate::random::Random;
use crate::server::{Doors, Launch, Server};
use crate::wire::{Answer, Client, Lost, Request};

/// Nanoseconds since the arena was opened.
pub type Moment = u64;

/// Of a server.
#[derive(Clone, Copy, Debug)]
pub struct Death {
    /// It was certainly alive before that, and what was sent to it later was not done by it.
    pub killed: Moment,
    /// After that nothing takes effect that was sent to it: in a cluster the database may have had it.
    pub settled: Moment,
}

pub struct Arena {
    launch: Launch,
    server: Server,
    place: watch::Sender<Option<Vec<Doors>>>,
    start: Instant,
    /// The same, by the clock of the wall.
    began: SystemTime,
    pub deaths: Vec<Death>,
    /// What happens once, instead of servers being killed.
    blow: Option<Blow>,
    /// At what they are killed; without it, whatever they do.
    aim: Option<Arc<Aim>>,
}

impl Arena {
    pub fn open(options: &Options, case: &str) -> Trial<Self> {
        let mut launch = Launch::new(options, case)?;
        if options.servers > 1 {
            launch = launch.with_servers(options.servers);
        }
        let server = launch.start()?;
        let (place, _) = watch::channel(Some(server.all_doors()));
        Ok(Self {
            launch,
            server,
            place,
            start: Instant::now(),
            began: SystemTime::now(),
            deaths: Vec::new(),
            blow: options.fault.clone().map(Blow::new),
            aim: options.aim.clone(),
        })
    }

    pub fn doors(&self) -> Doors {
        self.server.doors()
    }

    /// `door`: the service that this client speaks to.
    pub fn guest(&self, door: fn(&Doors) -> SocketAddr) -> Guest {
        Guest {
            place: self.place.subscribe(),
            start: self.start,
            began: self.began,
            door,
            requests: 0,
            connections: HashMap::new(),
            refusals_are_certain: self.blow.is_some(),
        }
    }

    /// All of it; of a cluster one process, while the others go on.
    pub async fn kill(&mut self) -> Trial {
        self.server.must_run()?;
        if self.server.members() > 0 {
            let number = self.deaths.len() % self.server.members();
            if let Some(aim) = &self.aim {
                aim.wait(number + 1, self.deaths.len()).await?;
            }
            self.server.kill_member(number);
            if let Some(aim) = &self.aim {
                aim.let_go(number + 1);
            }
            self.place.send_replace(Some(self.server.all_doors()));
            let killed = moment(self.start);
            self.deaths.push(Death { killed, settled: killed + SETTLED.as_nanos() as Moment });
            self.launch.start_member(&mut self.server, number)?;
            self.place.send_replace(Some(self.server.all_doors()));
            return Ok(());
        }
        self.place.send_replace(None);
        self.server.kill_now();
        self.all_died();
        self.begin_again()
    }

    /// In order, as an operator does it.
    pub async fn restart(&mut self) -> Trial {
        self.server.must_run()?;
        self.place.send_replace(None);
        self.server.stop_now().await?;
        self.all_died();
        self.begin_again()
    }

    fn all_died(&mut self) {
        let now = moment(self.start);
        self.deaths.push(Death { killed: now, settled: now });
    }

    fn begin_again(&mut self) -> Trial {
        self.server = self.launch.start()?;
        self.place.send_replace(Some(self.server.all_doors()));
        Ok(())
    }

    /// Kills it after pauses of so many milliseconds.
    pub async fn kill_until(&mut self, end: Instant, random: &mut Random, pauses: (u64, u64)) -> Trial {
        if let Some(blow) = &mut self.blow {
            tokio::time::sleep(CALM).await;
            blow.strike();
            blow.struck().await?;
            tokio::time::sleep_until(end.into()).await;
            return self.server.must_run();
        }
        loop {
            let pause = Duration::from_millis(random.between(pauses.0, pauses.1));
            if Instant::now() + pause >= end {
                return Ok(());
            }
            tokio::time::sleep(pause).await;
            self.kill().await?;
        }
    }

    /// What happens once, beside whatever else goes on. Whether it did is told by `struck`.
    pub fn strike(&mut self) {
        if let Some(blow) = &mut self.blow {
            blow.strike();
        }
    }

    /// Returns when what was to happen once has happened.
    pub async fn struck(&mut self) -> Trial {
        match &mut self.blow {
            Some(blow) => blow.struck().await,
            None => Ok(()),
        }
    }

    pub async fn close(self) -> Trial {
        self.server.stop().await
    }

    /// The moment after which a request of this moment, if it was never answered, has no effect. In a cluster this is the end of
    /// the first server that died since, whichever the request was sent to: too early at the worst, so that a history is refused
    /// wrongly and never passed wrongly.
    pub fn end_of(deaths: &[Death], called: Moment) -> Moment {
        deaths.iter().find(|death| death.killed >= called).map_or(Moment::MAX, |death| death.settled)
    }
}

/// Before a fault.
const CALM: Duration = Duration::from_secs(4);
/// By then the database has committed or given up whatever a dead server had sent.
const SETTLED: Duration = Duration::from_secs(5);

fn moment(start: Instant) -> Moment {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(Moment::MAX)
}

/// One client's way to whichever server runs: to another one with each request, when there are several.
pub struct Guest {
    place: watch::Receiver<Option<Vec<Doors>>>,
    start: Instant,
    began: SystemTime,
    door: fn(&Doors) -> SocketAddr,
    requests: usize,
    connections: HashMap<SocketAddr, Client>,
    /// 503 says that it was not done, and is believed: histories stay short enough to be judged, and a lie shows in them.
    refusals_are_certain: bool,
}

impl Guest {
    pub fn now(&self) -> Moment {
        moment(self.start)
    }

    /// The moment at which a clock of the wall showed this.
    pub fn moment_of(&self, shown: SystemTime) -> Moment {
        let since = shown.duration_since(self.began).unwrap_or_default();
        u64::try_from(since.as_nanos()).unwrap_or(Moment::MAX)
    }

    /// Waits while there is no server; None when it took long, so that the caller can look at the time.
    pub async fn client(&mut self) -> Option<&mut Client> {
        let found = self.place.borrow_and_update().clone();
        let Some(all) = found else {
            // The next server has other ports.
            self.connections.clear();
            let _ = tokio::time::timeout(Duration::from_millis(100), self.place.changed()).await;
            return None;
        };
        let addresses: Vec<SocketAddr> = all.iter().map(self.door).collect();
        self.connections.retain(|known, _| addresses.contains(known));
        let address = *addresses.get(self.requests % addresses.len().max(1))?;
        self.requests += 1;
        Some(self.connections.entry(address).or_insert_with(|| Client::new(address)))
    }

    pub async fn send(&mut self, request: &Request) -> Sent {
        let Some(client) = self.client().await else { return Sent::Unsent };
        match client.send(request).await {
            Ok(answer) if answer.status == 503 && self.refusals_are_certain => Sent::Unsent,
            // Busy or broken: the service does not say whether it was done.
            Ok(answer) if answer.status >= 500 => Sent::Open,
            Ok(answer) => Sent::Told(answer),
            Err(Lost::Open) => Sent::Open,
            Err(Lost::Unsent) => {
                tokio::time::sleep(Duration::from_millis(5)).await;
                Sent::Unsent
            }
        }
    }
}

pub enum Sent {
    Told(Answer),
    /// It may have been done.
    Open,
    Unsent,
}

impl Sent {
    pub fn answer(self) -> Option<Answer> {
        match self {
            Self::Told(answer) => Some(answer),
            Self::Open | Self::Unsent => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One may be killed before what another had sent is settled: that is no end of what is sent since.
    #[test]
    fn what_was_sent_to_a_server_ends_when_its_own_death_is_settled() {
        let deaths = [Death { killed: 10, settled: 60 }, Death { killed: 55, settled: 105 }];
        assert_eq!(
            [5, 10, 11, 50, 55, 56].map(|called| Arena::end_of(&deaths, called)),
            [60, 60, 105, 105, 105, Moment::MAX]
        );
    }
}
