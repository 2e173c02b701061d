//! What members are told, and what is noted before they are.

use super::DEADLINE;
use super::group::{Reason, Verdicts};
use super::member::{Member, version_of};
use super::queue::Written;
use super::shared::Shared;
use crate::error::{EngineError, Refusal};
use crate::txn::Commit;
use std::sync::atomic::Ordering::Relaxed;

impl Shared {
    /// The group was committed, but for those of its members that were refused.
    pub fn answer(&self, members: Vec<Member>, verdicts: Verdicts) {
        let mut written = Written::default();
        {
            let mut recent = self.recent.lock();
            for (member, refused) in members.iter().zip(&verdicts.refused) {
                if refused.is_none() {
                    let version = version_of(member.id);
                    recent.insert(member.id, Commit { version, now: verdicts.now });
                    let changes = member.writes.iter().chain(&member.private);
                    written.extend(
                        changes.map(|change| (change.key.clone(), change.value.as_ref().map(|_| version))),
                    );
                }
            }
        }
        // Wake the longest-waiting loser before replying to the winner.
        self.contention.wrote(written.keys());
        let lost = self.queue.done(&members, &written);
        for (member, refused) in members.into_iter().zip(verdicts.refused) {
            match refused {
                None => {
                    self.counters.transactions.fetch_add(1, Relaxed);
                    self.extents.committed(&member.publish, &member.release);
                    #[cfg(feature = "objects")]
                    if !member.release.is_empty() {
                        self.reclaim.want();
                    }
                    let commit = Commit { version: version_of(member.id), now: verdicts.now };
                    let _ = member.reply.send(Ok(commit));
                }
                Some(Reason::Lost(key)) => self.refuse(member, Refusal::Conflict(key)),
                Some(Reason::Late) => {
                    self.refuse(member, Refusal::Error(DEADLINE));
                }
            }
        }
        for (member, key) in lost {
            self.refuse(member, Refusal::Conflict(key));
        }
    }

    /// The member was not committed, and is not under way any more.
    pub fn refuse(&self, member: Member, refusal: Refusal) {
        #[cfg(feature = "objects")]
        let refusal = self.explained(refusal);
        if matches!(refusal, Refusal::Conflict(_)) {
            self.counters.refused.fetch_add(1, Relaxed);
        }
        self.extents.aborted(&member.publish);
        let _ = member.reply.send(Err(refusal));
    }

    /// A writer that was taken for dead does not publish what it wrote: to decide again would not help.
    #[cfg(feature = "objects")]
    fn explained(&self, refusal: Refusal) -> Refusal {
        match (refusal, &self.writer) {
            (Refusal::Conflict(key), Some(writer)) if key.starts_with(super::writer::WRITER_ROW) => {
                writer.doubt();
                Refusal::Error(EngineError::Unavailable("this server was taken for dead"))
            }
            (refusal, _) => refusal,
        }
    }

    /// The same for members of a group.
    pub fn refuse_under_way(&self, members: Vec<Member>, error: EngineError) {
        let lost = self.queue.done(&members, &Written::default());
        debug_assert!(lost.is_empty(), "nothing was written");
        for member in members {
            self.refuse(member, Refusal::Error(error.clone()));
        }
    }

    /// Not committed, and never will be by what was sent: they wait again, unless their callers have given them up.
    pub fn put_back(&self, members: Vec<Member>) {
        for member in self.queue.put_back(members) {
            self.refuse(member, Refusal::Error(DEADLINE));
        }
    }

    /// What became of them is not known. Their chunks are left alone: rows may name them, and otherwise they are orphans.
    pub fn leave_unknown(&self, members: Vec<Member>) {
        members.iter().for_each(|member| self.recent.lock().lose(member.id));
        self.queue.done(&members, &Written::default());
        for member in members {
            let _ = member.reply.send(Err(Refusal::Error(EngineError::Unknown)));
        }
    }
}
