//! What the service promises for the entities of one partition, written down from its documentation.

use super::call::{Answer, Call, Change, KEYS, Kind, Match, Refusal, Version};
use crate::history::checker::Model;

/// The version of each entity; 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Partition([Version; KEYS]);

impl Model for Partition {
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

impl Partition {
    fn serve(self, call: Call) -> (Self, Answer) {
        match call {
            Call::Get(key) => (self, Answer::Seen(self.0[key])),
            Call::Query => (self, Answer::SeenAll(self.0)),
            Call::Change(change) => match self.change(change) {
                Ok(next) => (next, Answer::Done),
                Err(refusal) => (self, Answer::Refused(0, refusal)),
            },
            Call::Group(changes) => {
                let mut next = self;
                for (index, change) in changes.into_iter().flatten().enumerate() {
                    match next.change(change) {
                        Ok(changed) => next = changed,
                        // All or nothing.
                        Err(refusal) => return (self, Answer::Refused(index, refusal)),
                    }
                }
                (next, Answer::Done)
            }
        }
    }

    fn change(mut self, change: Change) -> Result<Self, Refusal> {
        let version = &mut self.0[change.key];
        let matches = |wanted| match wanted {
            _ if *version == 0 => Err(Refusal::ResourceNotFound),
            Match::Version(wanted) if wanted != *version => Err(Refusal::UpdateConditionNotSatisfied),
            Match::Any | Match::Version(_) => Ok(()),
        };
        *version = match change.kind {
            Kind::Insert(_) if *version != 0 => return Err(Refusal::EntityAlreadyExists),
            Kind::Insert(new) | Kind::Upsert(new) => new,
            Kind::Update(new, wanted) => matches(wanted).map(|()| new)?,
            Kind::Delete(wanted) => matches(wanted).map(|()| 0)?,
        };
        Ok(self)
    }
}
