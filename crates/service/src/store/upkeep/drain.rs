//! Waiting for the readers that may have seen as alive what the sweeper found dead.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use lazuli_engine::Reader;

use super::{Work, servers};
use crate::Services;
use crate::fault::Answer;
use crate::store::key::{ContentId, Incarnation};
use crate::store::members::{self, Members};

/// How often the sweeper looks whether the readers have decided what they read.
const GLANCE: Duration = Duration::from_millis(50);
/// How long it waits for that. Servers that are silent for longer than this are declared dead meanwhile.
const PATIENCE: Duration = Duration::from_secs(40);

/// The servers at the snapshot in which the sweeper found what is dead, each with the epoch that it had published.
pub struct Readership(Option<Vec<(Incarnation, u64)>>);

/// What is still being read of what was dead then.
pub enum Reading<'a> {
    Here(&'a Services),
    Anywhere(HashSet<ContentId>),
}

impl Readership {
    pub async fn at(services: &Services, reader: &Reader) -> Answer<Self> {
        if services.members() == Members::Alone {
            return Ok(Self(None));
        }
        let servers = members::list(reader).await?;
        Ok(Self(Some(servers.into_iter().map(|(server, row)| (server, row.epoch)).collect())))
    }

    /// Waits until each of them has said what its readers of that time read, or is dead. `None` when one did not for long:
    /// a download is undecided only while it looks up its record, so this wait is short.
    pub async fn decided<'a>(&self, work: &'a Work) -> Answer<Option<Reading<'a>>> {
        let end = Instant::now() + PATIENCE;
        // What was listed before this epoch ended is what the readers of it may have seen alive.
        let epoch = self.0.is_none().then(|| work.readers().next_epoch());
        loop {
            let reading = match (epoch, &self.0) {
                (Some(epoch), _) => work.readers().is_decided(epoch).then_some(Reading::Here(work)),
                (None, servers) => decided_by(work, servers.as_deref().unwrap_or_default()).await?,
            };
            if reading.is_some() {
                return Ok(reading);
            }
            if Instant::now() >= end || work.engine().is_stopped().is_some() || work.is_lost() {
                return Ok(None);
            }
            tokio::time::sleep(GLANCE).await;
        }
    }
}

/// A reader that saw the content alive entered before the sweeper's snapshot. Its server had then published `epoch`, and
/// had perhaps begun the next one; the one after that begins when the next is published, which the snapshot does not
/// show. So it is in `epoch` or the one behind it, or an older one. A server that joined later reads later snapshots.
async fn decided_by(work: &Work, servers: &[(Incarnation, u64)]) -> Answer<Option<Reading<'static>>> {
    let now = members::list(&work.engine().reader().await?).await?;
    let (mut reading, mut some_expired, mut all_decided) = (HashSet::new(), false, true);
    for (server, row) in now {
        let Some((_, epoch)) = servers.iter().find(|(waited, _)| *waited == server) else { continue };
        all_decided &= row.drained > epoch + 1;
        some_expired |= members::is_expired(work.engine(), &row);
        reading.extend(row.reading);
    }
    if some_expired && !all_decided {
        servers::declare_dead(work).await?;
    }
    Ok(all_decided.then_some(Reading::Anywhere(reading)))
}

impl Reading<'_> {
    pub fn has(&self, content: ContentId) -> bool {
        match self {
            Self::Here(services) => services.readers().is_read(content),
            Self::Anywhere(contents) => contents.contains(&content),
        }
    }
}
