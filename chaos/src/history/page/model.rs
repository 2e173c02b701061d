//! What the service promises for one page blob, written down from its documentation.

use super::call::{Action, Answer, Call, Condition, PAGES, Pages, Refusal, Version};
use crate::history::checker::Model;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PageBlob {
    #[default]
    Absent,
    Present {
        pages: [Version; PAGES],
        sequence: u64,
        /// The request that changed it last, whose ETag it has.
        changed: Version,
    },
}

impl Model for PageBlob {
    type Call = Call;
    type Answer = Answer;

    fn step(self, call: Call, answer: Option<Answer>) -> Option<Self> {
        let (next, given) = self.serve(call);
        answer.is_none_or(|answer| answer == given || self.also(call, answer)).then_some(next)
    }

    fn is_inert(answer: &Answer) -> bool {
        *answer != Answer::Done
    }
}

impl PageBlob {
    /// Where the service's own answer is not known, two are right: a condition on a blob that is not there.
    fn also(self, call: Call, answer: Answer) -> bool {
        let conditional = match call {
            Call::Write { condition, .. } | Call::Clear { condition, .. } => condition != Condition::None,
            _ => false,
        };
        self == Self::Absent && conditional && answer == Answer::Refused(Refusal::ConditionNotMet)
    }

    fn serve(self, call: Call) -> (Self, Answer) {
        let refused = |refusal| (self, Answer::Refused(refusal));
        if let Call::Create { new, if_absent } = call {
            return match self {
                Self::Present { .. } if if_absent => refused(Refusal::BlobAlreadyExists),
                _ => (Self::Present { pages: [0; PAGES], sequence: 0, changed: new }, Answer::Done),
            };
        }
        let Self::Present { pages, sequence, changed } = self else {
            return refused(Refusal::BlobNotFound);
        };
        match call {
            Call::Read => (self, Answer::Seen(pages, sequence)),
            Call::Write { new, pages: at, condition } => self.set(condition, |blob| Self::Present {
                pages: put(blob, at, new),
                sequence,
                changed: new,
            }),
            Call::Clear { new, pages: at, condition } => {
                self.set(condition, |blob| Self::Present { pages: put(blob, at, 0), sequence, changed: new })
            }
            Call::Sequence { new, action } => {
                let sequence = match action {
                    Action::Increment => sequence + 1,
                    Action::Max(least) => sequence.max(least),
                };
                (Self::Present { pages, sequence, changed: new }, Answer::Done)
            }
            Call::Delete => (Self::Absent, Answer::Done),
            Call::Create { .. } => (Self::Present { pages, sequence, changed }, Answer::Done),
        }
    }

    fn set(self, condition: Condition, next: impl FnOnce([Version; PAGES]) -> Self) -> (Self, Answer) {
        let Self::Present { pages, sequence, changed } = self else {
            return (self, Answer::Refused(Refusal::BlobNotFound));
        };
        let refusal = match condition {
            Condition::IfMatch(wanted) if wanted != changed => Some(Refusal::ConditionNotMet),
            Condition::SequenceBelow(limit) if sequence >= limit => {
                Some(Refusal::SequenceNumberConditionNotMet)
            }
            Condition::SequenceIs(wanted) if wanted != sequence => {
                Some(Refusal::SequenceNumberConditionNotMet)
            }
            _ => None,
        };
        match refusal {
            Some(refusal) => (self, Answer::Refused(refusal)),
            None => (next(pages), Answer::Done),
        }
    }
}

fn put(mut blob: [Version; PAGES], at: Pages, version: Version) -> [Version; PAGES] {
    for page in &mut blob[at.first..=at.last] {
        *page = version;
    }
    blob
}
