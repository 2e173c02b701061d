//! Clients of SMB are told to give up what they keep, on behalf of operations over REST.

use lazuli_engine::EngineError;

use super::opens;
use crate::fault::{Answer, Fault};
use crate::store::desk::WantedBreaks;
use crate::store::unit::Unit;
use crate::{Context, Services};

impl Services {
    /// A commit of nothing but breaks. True when they have to be waited for.
    pub(in crate::store) async fn break_now(
        &self,
        context: &Context,
        wanted: &[WantedBreaks],
    ) -> Answer<bool> {
        let mut waits = false;
        for wanted in wanted {
            waits |= self
                .commit_plainly(context, |mut unit: Unit| async move {
                    let mut rows = unit.open_rows(wanted.node).await?;
                    let applied = rows.apply(&wanted.breaks, unit.now());
                    if let Some(handle) = applied.disconnected {
                        let share = unit.share_in(&wanted.account, &wanted.share, None).await?;
                        opens::close_in(&mut unit, &share, wanted.node.1, handle).await?;
                        return Ok::<_, Fault>(false);
                    }
                    rows.write(&mut unit);
                    Ok(applied.waits)
                })
                .await?;
        }
        Ok(waits)
    }
}

impl Unit {
    /// What clients are told to give up by this very commit.
    pub(in crate::store) async fn break_along(&self) -> Result<(), EngineError> {
        let along = std::mem::take(&mut self.notes().along);
        for wanted in along {
            let mut unit = self.clone();
            let mut rows = unit.open_rows(wanted.node).await.map_err(fault)?;
            if let Some(handle) = rows.apply(&wanted.breaks, unit.now()).disconnected {
                rows.give_up(handle);
            }
            rows.write(&mut unit);
        }
        Ok(())
    }
}

/// Reading rows fails by the engine alone.
fn fault(fault: Fault) -> EngineError {
    EngineError::Corrupt(lazuli_engine::Corrupt(fault.0.cause.unwrap_or_default()))
}
