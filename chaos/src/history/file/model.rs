//! What the service promises for the files of one directory, written down from its documentation and from recorded
//! answers, not from our own code.

use super::call::{Answer, Call, NAMES, Version};
use crate::history::checker::Model;

/// What stands under each of the names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Directory([Option<Version>; NAMES]);

impl Model for Directory {
    type Call = Call;
    type Answer = Answer;

    fn step(self, call: Call, answer: Option<Answer>) -> Option<Self> {
        let (next, given) = self.serve(call);
        answer.is_none_or(|answer| answer == given).then_some(next)
    }

    fn is_inert(answer: &Answer) -> bool {
        *answer != Answer::Done
    }
}

impl Directory {
    pub fn serve(self, call: Call) -> (Self, Answer) {
        let at = |name: usize| self.0.get(name).copied().flatten();
        let with = |changes: &[(usize, Option<Version>)]| {
            let mut next = self;
            for (name, version) in changes {
                if let Some(slot) = next.0.get_mut(*name) {
                    *slot = *version;
                }
            }
            (next, Answer::Done)
        };
        match call {
            Call::Get(name) => (self, at(name).map_or(Answer::NotFound, Answer::Seen)),
            Call::Create(name) => with(&[(name, Some(0))]),
            Call::Write(name, new) if at(name).is_some() => with(&[(name, Some(new))]),
            Call::Delete(name) if at(name).is_some() => with(&[(name, None)]),
            Call::Rename { from, to, replaces: false } if at(from).is_some() && at(to).is_some() => {
                (self, Answer::AlreadyExists)
            }
            Call::Rename { from, to, .. } if at(from).is_some() => with(&[(from, None), (to, at(from))]),
            Call::Copy { from, to } if at(from).is_some() => with(&[(to, at(from))]),
            Call::Write(..) | Call::Delete(_) | Call::Rename { .. } | Call::Copy { .. } => {
                (self, Answer::NotFound)
            }
        }
    }
}
