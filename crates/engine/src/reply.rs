//! The answers of a group on their way back. One waiter is woken from the committer's thread and carries the
//! answers of all others: waking a task from outside its runtime costs several times what it costs from inside.

use crate::queue::Refusal;
use crate::txn::Commit;
use tokio::sync::oneshot;

pub(crate) type Verdict = Result<Commit, Refusal>;
pub(crate) type Reply = oneshot::Sender<Delivery>;
#[cfg(test)]
pub(crate) type Answer = oneshot::Receiver<Delivery>;

pub(crate) struct Delivery {
    verdict: Verdict,
    others: Others,
}

impl Delivery {
    /// Everybody else's answer first, then one's own.
    pub fn open(self) -> Verdict {
        let Self { verdict, others } = self;
        drop(others);
        verdict
    }
}

/// Delivered when dropped: whoever carries them may leave without having looked.
struct Others(Vec<(Reply, Verdict)>);

impl Drop for Others {
    fn drop(&mut self) {
        for (reply, verdict) in self.0.drain(..) {
            // Whoever no longer waits does not mind.
            let _ = reply.send(Delivery { verdict, others: Self(Vec::new()) });
        }
    }
}

/// Answers everybody, in order.
pub(crate) fn deliver(answers: impl IntoIterator<Item = (Reply, Verdict)>) {
    let mut answers = answers.into_iter();
    // One that is awaited, to carry the rest.
    while let Some((reply, verdict)) = answers.next() {
        if !reply.is_closed() {
            let others = Others(answers.collect());
            // Should it have been given up just now, the others are delivered by the drop.
            let _ = reply.send(Delivery { verdict, others });
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::txn::{Ticks, Version};

    fn group(of: u64) -> (Vec<(Reply, Verdict)>, Vec<Answer>) {
        let member = |at| {
            let (reply, answer) = oneshot::channel();
            let commit = Commit { version: Version(u128::from(at)), now: Ticks(0) };
            ((reply, Ok(commit)), answer)
        };
        (0..of).map(member).unzip()
    }

    async fn version(answer: Answer) -> u128 {
        answer.await.expect("answered").open().expect("committed").version.0
    }

    #[tokio::test]
    async fn each_gets_its_own_answer() {
        let (members, answers) = group(4);
        deliver(members);
        for (at, answer) in answers.into_iter().enumerate() {
            assert_eq!(version(answer).await, at as u128);
        }
    }

    #[tokio::test]
    async fn nobody_waits_for_a_carrier_that_left() {
        let (members, mut answers) = group(4);
        // One has left before, the carrier leaves with the answers in its hand.
        drop(answers.remove(0));
        deliver(members);
        drop(answers.remove(0));
        assert_eq!(version(answers.remove(0)).await, 2);
        assert_eq!(version(answers.remove(0)).await, 3);
    }
}
