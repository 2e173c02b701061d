//! Where a commit is held back, so that its server can be killed before it learns what became of it.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tokio::sync::watch;

/// How far the commit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Catch {
    /// The database has not got it, and never will.
    Sent,
    /// The database has just got it.
    Arrived,
    /// The database has done it.
    Answered,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    Set(Catch),
    /// A commit is on its way to where it is held.
    Sprung,
    Holding,
}

#[derive(Default)]
pub struct Trap {
    state: watch::Sender<State>,
    overtaken: AtomicUsize,
}

impl Trap {
    /// Returns while a commit is held there.
    pub async fn catch(&self, at: Catch) {
        self.state.send_replace(State::Set(at));
        let _ = self.state.subscribe().wait_for(|state| *state == State::Holding).await;
    }

    /// What is held goes nowhere: its connection is cut.
    pub fn let_go(&self) {
        self.state.send_replace(State::Open);
    }

    /// Whether this commit is to be held here: one of them is.
    pub fn springs(&self, at: Catch) -> bool {
        self.state.send_if_modified(|state| {
            let springs = *state == State::Set(at);
            if springs {
                *state = State::Sprung;
            }
            springs
        })
    }

    /// Until it is let go.
    pub async fn hold(&self) {
        self.state.send_if_modified(|state| {
            let begins = *state == State::Sprung;
            if begins {
                *state = State::Holding;
            }
            begins
        });
        let _ = self.state.subscribe().wait_for(|state| *state != State::Holding).await;
    }

    /// The database has answered what it had just got.
    pub fn answered(&self) {
        if *self.state.borrow() == State::Holding {
            self.overtaken.fetch_add(1, Relaxed);
        }
    }

    /// How often it had, before the server was dead.
    pub fn overtaken(&self) -> usize {
        self.overtaken.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_commit_is_held_until_it_is_let_go() {
        let trap = Trap::default();
        assert!(!trap.springs(Catch::Sent), "nobody waits for one");
        let commit = async {
            tokio::task::yield_now().await;
            assert!(!trap.springs(Catch::Answered), "it is to be held elsewhere");
            assert!(trap.springs(Catch::Sent) && !trap.springs(Catch::Sent));
            trap.hold().await;
        };
        let kill = async {
            trap.catch(Catch::Sent).await;
            trap.answered();
            trap.let_go();
        };
        tokio::join!(kill, commit);
        assert_eq!(trap.overtaken(), 1);
        assert!(!trap.springs(Catch::Sent));
    }
}
