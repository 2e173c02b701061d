//! The answers of a group on their way back. They leave the committer's thread together, for a task of each runtime
//! that waiters live in: waking a task from outside its runtime costs several times what it costs from inside.
//!
//! No waiter's answer may depend on another waiter: one may be held by a task that waits for the other.

use crate::error::Refusal;
use crate::txn::Commit;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

pub(crate) type Verdict = Result<Commit, Refusal>;
pub(crate) type VerdictReceiver = oneshot::Receiver<Verdict>;

pub(crate) struct Reply {
    to: oneshot::Sender<Verdict>,
    /// Where the waiter lives; a thread may wait as well.
    runtime: Option<Handle>,
}

impl Reply {
    pub fn channel() -> (Self, VerdictReceiver) {
        let (to, answer) = oneshot::channel();
        (Self { to, runtime: Handle::try_current().ok() }, answer)
    }
}

/// Delivered when dropped: the task may never come to run.
struct Answers(Vec<(Reply, Verdict)>);

impl Drop for Answers {
    fn drop(&mut self) {
        for (reply, verdict) in self.0.drain(..) {
            // A waiter that is gone needs no answer.
            let _ = reply.to.send(verdict);
        }
    }
}

/// Answers every waiter. A thread that waits is answered from here: the runtime may be waiting for that very thread.
pub(crate) fn deliver(answers: impl IntoIterator<Item = (Reply, Verdict)>) {
    let mut left: Vec<_> = answers.into_iter().collect();
    drop(Answers(left.extract_if(.., |(reply, _)| reply.runtime.is_none()).collect()));
    while let Some(runtime) = left.first().and_then(|(reply, _)| reply.runtime.clone()) {
        let lives_there = |(reply, _): &mut (Reply, Verdict)| {
            reply.runtime.as_ref().is_some_and(|its| its.id() == runtime.id())
        };
        let answers = Answers(left.extract_if(.., lives_there).collect());
        // One alone is woken as cheaply from here.
        if answers.0.len() > 1 {
            runtime.spawn(async move { drop(answers) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::txn::{Ticks, Version};

    fn group(of: u64) -> (Vec<(Reply, Verdict)>, Vec<VerdictReceiver>) {
        let member = |at| {
            let (reply, answer) = Reply::channel();
            let commit = Commit { version: Version(u128::from(at)), now: Ticks(0) };
            ((reply, Ok(commit)), answer)
        };
        (0..of).map(member).unzip()
    }

    async fn version(answer: VerdictReceiver) -> u128 {
        answer.await.expect("answered").expect("committed").version.0
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
    async fn no_waiter_waits_for_another() {
        let (members, mut answers) = group(4);
        // One has left before, another is there and does not look.
        drop(answers.remove(0));
        let _held = answers.remove(0);
        deliver(members);
        assert_eq!(version(answers.remove(0)).await, 2);
        assert_eq!(version(answers.remove(0)).await, 3);
    }

    #[test]
    fn a_thread_does_not_wait_for_a_runtime() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (thread, answer) = group(1);
        let (mut members, _answers) = {
            let _inside = runtime.enter();
            group(3)
        };
        members.extend(thread);
        // No thread drives the runtime.
        deliver(members);
        assert!(answer.into_iter().all(|mut answer| answer.try_recv().is_ok()));
    }

    #[test]
    fn no_runtime_waits_for_another() {
        let runtime = || tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (stands_still, runs) = (runtime(), runtime());
        let inside = |runtime: &tokio::runtime::Runtime| {
            let _inside = runtime.enter();
            group(3)
        };
        let (mut members, _answers) = inside(&stands_still);
        let (more, answers) = inside(&runs);
        members.extend(more);
        deliver(members);
        runs.block_on(async {
            for (at, answer) in answers.into_iter().enumerate() {
                assert_eq!(version(answer).await, at as u128);
            }
        });
    }

    #[test]
    fn a_runtime_that_has_ended_keeps_no_answer_back() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (members, answers) = {
            let _inside = runtime.enter();
            group(3)
        };
        drop(runtime);
        deliver(members);
        for answer in answers {
            assert!(answer.blocking_recv().expect("answered").is_ok());
        }
    }
}
