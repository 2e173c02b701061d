//! ETags grow: whoever asks after somebody was answered is told of no earlier moment, though the subject was deleted and made
//! again by other servers meanwhile.
//!
//! The order of history's operations does not show this, because the models know nothing of ETags.

use std::fmt::Debug;

use super::event::{Event, Moment};
use super::hint::{Hint, PARTS};

/// What is wrong, if something is.
pub fn check<C: Debug, A: Debug>(events: &[Event<C, A>]) -> Result<(), String> {
    (0..PARTS).try_for_each(|part| check_part(part, events))
}

struct Told<'a, C, A> {
    hint: Hint,
    answered: Moment,
    event: &'a Event<C, A>,
}

fn check_part<C: Debug, A: Debug>(part: usize, events: &[Event<C, A>]) -> Result<(), String> {
    let told = events.iter().filter_map(|event| {
        let (hint, (_, answered)) = (event.hints[part]?, event.answer.as_ref()?);
        Some(Told { hint, answered: *answered, event })
    });
    let mut by_call: Vec<Told<'_, C, A>> = told.collect();
    by_call.sort_by_key(|told| told.event.called);
    let mut by_answer: Vec<&Told<'_, C, A>> = by_call.iter().collect();
    by_answer.sort_by_key(|told| told.answered);
    let mut answered = by_answer.into_iter().peekable();
    let mut latest: Option<&Told<'_, C, A>> = None;
    for later in &by_call {
        while let Some(earlier) = answered.next_if(|earlier| earlier.answered < later.event.called) {
            if latest.is_none_or(|latest| latest.hint.moment() < earlier.hint.moment()) {
                latest = Some(earlier);
            }
        }
        let Some(earlier) = latest else { continue };
        let grows = match later.hint {
            Hint::Made(at) => at > earlier.hint.moment(),
            Hint::Seen(at) => at >= earlier.hint.moment(),
        };
        if !grows {
            return Err(format!("AN ETAG WENT BACK: {:?} came after {:?}", later.event, earlier.event));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
