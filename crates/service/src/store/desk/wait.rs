//! Waiting for others: until they have given up what they keep of a file, or have unlocked a range of it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::{Desk, Node, WantedBreaks};
use crate::{Context, Services};

/// How long an operation over REST waits for clients of SMB, if its own client does not ask for less.
const PATIENCE: Duration = Duration::from_secs(30);
/// After so long, a task that waits looks again: neither what other servers do nor the passing of time wakes it.
pub const PAUSE: Duration = Duration::from_millis(100);

/// A place among the tasks that wait for a node. It is taken before what is waited for is looked at.
pub(crate) struct Waiting<'a> {
    desk: &'a Desk,
    node: Node,
    changed: Arc<Notify>,
}

impl Desk {
    pub fn wait(&self, node: Node) -> Waiting<'_> {
        let mut state = self.0.lock();
        let (count, changed) = state.waiting.entry(node).or_default();
        *count += 1;
        Waiting { desk: self, node, changed: Arc::clone(changed) }
    }

    pub(super) fn wake(&self, node: Node) {
        if let Some((_, changed)) = self.0.lock().waiting.get(&node) {
            changed.notify_waiters();
        }
    }
}

impl Waiting<'_> {
    /// What is waited for, to be made before looking: it remembers a change from then on.
    pub fn change(&self) -> tokio::sync::futures::Notified<'_> {
        self.changed.notified()
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.desk.0.lock();
        if let Some((count, _)) = state.waiting.get_mut(&self.node) {
            *count -= 1;
            if *count == 0 {
                state.waiting.remove(&self.node);
            }
        }
    }
}

/// How long a request waits whose client asks for so much.
fn longest(asked: Option<Duration>) -> Duration {
    asked.map_or(PATIENCE, |asked| asked.min(PATIENCE))
}

impl Services {
    /// Has clients told what they are to give up, and waits for a while. False when the request has waited long enough.
    pub(in crate::store) async fn wait_for_breaks(
        &self,
        context: &Context,
        wanted: &[WantedBreaks],
        patience: &mut Option<Instant>,
    ) -> bool {
        let deadline = *patience.get_or_insert_with(|| Instant::now() + longest(context.patience));
        let Some(first) = wanted.first() else { return false };
        if Instant::now() >= deadline {
            return false;
        }
        let waiting = self.opens().wait(first.node);
        let changed = waiting.change();
        let told = self.break_now(context, wanted).await;
        match told {
            Err(fault) => {
                tracing::warn!(cause = ?fault.0.cause, "a break was not written");
                false
            }
            // Nothing is left to wait for.
            Ok(false) => true,
            Ok(true) => {
                let until = deadline.min(Instant::now() + PAUSE);
                let _ = tokio::time::timeout_at(until, changed).await;
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_may_ask_for_less_and_not_for_more() {
        let second = Duration::from_secs(1);
        assert_eq!(longest(None), PATIENCE);
        assert_eq!(longest(Some(second)), second);
        assert_eq!(longest(Some(PATIENCE + second)), PATIENCE);
    }
}
