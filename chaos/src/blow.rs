//! What happens to a cluster once, while clients go on.

use tokio::task::{JoinHandle, spawn_blocking};

use crate::Trial;
use crate::options::Fault;

pub struct Blow {
    fault: Fault,
    under_way: Option<JoinHandle<Trial>>,
}

impl Blow {
    pub fn new(fault: Fault) -> Self {
        Self { fault, under_way: None }
    }

    pub fn strike(&mut self) {
        let Fault(fault) = self.fault.clone();
        self.under_way = Some(spawn_blocking(move || fault()));
    }

    /// Returns when the fault has struck. A case whose fault failed, or that ended before it, would otherwise pass although the
    /// cluster was left in peace.
    pub async fn struck(&mut self) -> Trial {
        match self.under_way.take() {
            Some(fault) => fault.await.map_err(|error| format!("the fault: {error}"))?,
            None => Err("it was over before the fault".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn blow(outcome: Trial) -> Blow {
        Blow::new(Fault(Arc::new(move || outcome.clone())))
    }

    #[tokio::test]
    async fn a_fault_that_failed_or_never_came_is_told() {
        let mut done = blow(Ok(()));
        done.strike();
        assert_eq!(done.struck().await, Ok(()));
        let mut failed = blow(Err("no leader".to_owned()));
        failed.strike();
        assert_eq!(failed.struck().await, Err("no leader".to_owned()));
        assert!(blow(Ok(())).struck().await.is_err(), "it never came to it");
    }
}
