//! One operation, as its client saw it.

use super::hint::Hints;
pub use crate::arena::Moment;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<C, A> {
    pub call: C,
    pub called: Moment,
    /// None: it was never answered. It took effect at some moment after the call, or never.
    pub answer: Option<(A, Moment)>,
    /// No effect came after this moment: the server that had been asked was dead.
    pub until: Moment,
    /// What its ETags say of when it took effect.
    pub hints: Hints,
}
