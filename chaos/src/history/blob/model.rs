//! What the service promises for one blob, written down from its documentation and from recorded answers, not from
//! our own code. Leases here never end by themselves, so that time does not matter.

use super::call::{Answer, Call, Condition, Holder, Lease, Refusal, Version};
use crate::history::checker::Model;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Blob {
    #[default]
    Absent,
    Present(Version, Held),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Held {
    Free,
    By(Holder),
    /// Broken, and the id is remembered.
    Broken(Holder),
}

impl Model for Blob {
    type Call = Call;
    type Answer = Answer;

    fn step(self, call: Call, answer: Option<Answer>) -> Option<Self> {
        let (next, given) = self.serve(call);
        match answer {
            None => Some(next),
            Some(answer) if answer == given || self.also(call, answer) => Some(next),
            Some(_) => None,
        }
    }

    fn is_inert(answer: &Answer) -> bool {
        *answer != Answer::Done
    }
}

impl Blob {
    /// Where the service's own answer is not known, two are right: If-Match on a blob that is not there, for
    /// operations that need one.
    fn also(self, call: Call, answer: Answer) -> bool {
        let conditional = matches!(call, Call::Delete { condition: Condition::IfMatch(_), .. });
        self == Self::Absent && conditional && answer == Answer::Refused(Refusal::ConditionNotMet)
    }

    pub fn serve(self, call: Call) -> (Self, Answer) {
        let refused = |refusal| (self, Answer::Refused(refusal));
        match (call, self) {
            (Call::Put { new, condition, lease }, _) => match self.admit(condition, lease, true) {
                Ok(held) => (Self::Present(new, held), Answer::Done),
                Err(refusal) => refused(refusal),
            },
            (_, Self::Absent) => refused(Refusal::BlobNotFound),
            (Call::Get, Self::Present(version, held)) => (self, Answer::Seen(version, held.shown())),
            (Call::Delete { condition, lease }, _) => match self.admit(condition, lease, false) {
                Ok(_) => (Self::Absent, Answer::Done),
                Err(refusal) => refused(refusal),
            },
            (Call::Acquire(who), Self::Present(version, held)) => match held {
                Held::By(other) if other != who => refused(Refusal::LeaseAlreadyPresent),
                _ => (Self::Present(version, Held::By(who)), Answer::Done),
            },
            (Call::Break, Self::Present(version, held)) => match held {
                Held::Free => refused(Refusal::LeaseNotPresentWithLeaseOperation),
                Held::By(who) | Held::Broken(who) => {
                    (Self::Present(version, Held::Broken(who)), Answer::Done)
                }
            },
            (Call::Release(who), Self::Present(version, held)) => match held {
                Held::By(holder) | Held::Broken(holder) if holder == who => {
                    (Self::Present(version, Held::Free), Answer::Done)
                }
                _ => refused(Refusal::LeaseIdMismatchWithLeaseOperation),
            },
        }
    }

    /// The lease first, then the condition. What is left of the lease after a write that is admitted.
    fn admit(self, condition: Condition, lease: Option<Holder>, creates: bool) -> Result<Held, Refusal> {
        let Self::Present(version, held) = self else {
            return match (lease, condition) {
                (None, Condition::None | Condition::IfAbsent) => Ok(Held::Free),
                (None, Condition::IfMatch(_)) => Err(Refusal::ConditionNotMet),
                (Some(_), _) => Err(Refusal::LeaseNotPresentWithBlobOperation),
            };
        };
        let after = match (held, lease) {
            (Held::Free, None) | (Held::Broken(_), None) => Held::Free,
            (Held::Free, Some(_)) => return Err(Refusal::LeaseNotPresentWithBlobOperation),
            (Held::By(_), None) => return Err(Refusal::LeaseIdMissing),
            (Held::By(holder), Some(who)) if holder == who => held,
            (Held::By(_), Some(_)) => return Err(Refusal::LeaseIdMismatchWithBlobOperation),
            (Held::Broken(_), Some(_)) => return Err(Refusal::LeaseLost),
        };
        match condition {
            Condition::None => Ok(after),
            Condition::IfMatch(wanted) if wanted == version => Ok(after),
            Condition::IfMatch(_) => Err(Refusal::ConditionNotMet),
            // The holder's write is not stopped by the wildcard.
            Condition::IfAbsent if creates && lease.is_none() => Err(Refusal::BlobAlreadyExists),
            Condition::IfAbsent => Ok(after),
        }
    }
}

impl Held {
    fn shown(self) -> Lease {
        match self {
            Self::Free => Lease::Available,
            Self::By(_) => Lease::Leased,
            Self::Broken(_) => Lease::Broken,
        }
    }
}
