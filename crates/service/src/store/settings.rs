//! What all servers over one engine agree on, kept in the engine.

use std::time::Duration;

use lazuli_engine::{Plan, Ticks};

use crate::Services;
use crate::fault::{Answer, Fault};
use crate::store::key;
use crate::store::members::{FOLLOW, Members};
use crate::store::record::Record;
use crate::store::record::settings::{ClockOffset, DelegationSecret};

impl Services {
    /// The secret that user delegation keys are derived from. The first server to ask makes it of `fresh`.
    pub async fn delegation_secret(&self, fresh: [u8; 32]) -> Answer<[u8; 32]> {
        let fresh = DelegationSecret(fresh);
        let secret = self
            .engine()
            .run(self.deadline(), |reader| async move {
                if let Some(entry) = reader.get(key::delegation_secret()).await? {
                    return Ok(Plan::new(DelegationSecret::decode(&entry.value)?));
                }
                let mut plan = Plan::new(fresh);
                plan.put(key::delegation_secret(), fresh.encode());
                Ok::<_, Fault>(plan)
            })
            .await?;
        Ok(secret.0)
    }

    /// Moves the clock forward, for tests: for all servers, and for those that start later.
    pub async fn advance_clock(&self, by: Duration) -> Answer<()> {
        let ticks = u64::try_from(by.as_nanos() / 100).unwrap_or(u64::MAX);
        let offset = self
            .engine()
            .run(self.deadline(), |reader| async move {
                let before = match reader.get(key::clock_offset()).await? {
                    Some(entry) => ClockOffset::decode(&entry.value)?.0,
                    None => 0,
                };
                let offset = ClockOffset(before.saturating_add(ticks));
                let mut plan = Plan::new(offset);
                plan.put(key::clock_offset(), offset.encode());
                Ok::<_, Fault>(plan)
            })
            .await?;
        self.engine().move_clock_to(Ticks(offset.0));
        if self.members() == Members::Several {
            // The others look often. Who moved the clock may ask one of them next.
            tokio::time::sleep(FOLLOW * 3).await;
        }
        Ok(())
    }

    /// The clock is where tests moved it before this server started. To be awaited before the first request.
    pub async fn resume_clock(&self) -> Answer<()> {
        if let Some(offset) = self.clock_offset().await? {
            self.engine().resume_clock(offset);
        }
        Ok(())
    }

    /// Follows a clock that another server moved.
    pub(crate) async fn follow_clock(&self) -> Answer<()> {
        if let Some(offset) = self.clock_offset().await? {
            self.engine().move_clock_to(offset);
        }
        Ok(())
    }

    async fn clock_offset(&self) -> Answer<Option<Ticks>> {
        if !self.options().test_clock {
            return Ok(None);
        }
        match self.engine().reader().await?.get_untracked(key::clock_offset()).await? {
            Some(entry) => Ok(Some(Ticks(ClockOffset::decode(&entry.value)?.0))),
            None => Ok(None),
        }
    }
}
