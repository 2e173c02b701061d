//! What the service promises for one append blob, written down from its documentation.

use super::call::{Answer, Blocks, Call, Refusal};
use crate::history::checker::Model;

/// None: there is no such blob.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AppendBlob(Option<Blocks>);

impl Model for AppendBlob {
    type Call = Call;
    type Answer = Answer;

    fn step(self, call: Call, answer: Option<Answer>) -> Option<Self> {
        let (next, given) = self.serve(call);
        answer.is_none_or(|answer| answer == given || self.also(call, answer)).then_some(next)
    }

    fn is_inert(answer: &Answer) -> bool {
        !matches!(answer, Answer::Done | Answer::Appended(_))
    }
}

impl AppendBlob {
    /// Where the service's own answer is not known, two are right: a condition on a blob that is not there.
    fn also(self, call: Call, answer: Answer) -> bool {
        let conditional = matches!(call, Call::Append { at: Some(_), .. });
        let unmet = answer == Answer::Refused(Refusal::AppendPositionConditionNotMet);
        self.0.is_none() && conditional && unmet
    }

    fn serve(self, call: Call) -> (Self, Answer) {
        let refused = |refusal| (self, Answer::Refused(refusal));
        match (call, self.0) {
            (Call::Create { if_absent: true }, Some(_)) => refused(Refusal::BlobAlreadyExists),
            (Call::Create { .. }, _) => (Self(Some(Blocks::default())), Answer::Done),
            (_, None) => refused(Refusal::BlobNotFound),
            (Call::Read, Some(blocks)) => (self, Answer::Seen(blocks)),
            (Call::Append { at: Some(wanted), .. }, Some(blocks)) if wanted != blocks.count => {
                refused(Refusal::AppendPositionConditionNotMet)
            }
            (Call::Append { new, .. }, Some(blocks)) => {
                (Self(Some(blocks.with(new))), Answer::Appended(blocks.count))
            }
            (Call::Delete, Some(_)) => (Self(None), Answer::Done),
        }
    }
}
