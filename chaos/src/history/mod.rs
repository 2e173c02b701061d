//! Histories: what many clients asked and were told, and whether one order of it all explains every answer.

pub mod append;
mod bad;
pub mod blob;
mod checker;
mod event;
pub mod file;
mod growth;
mod hint;
pub mod page;
mod record;
pub mod table;
mod tamper;

use std::fmt::Debug;

use crate::Trial;
use crate::options::Options;
use checker::{Model, Verdict};
use event::Event;

pub use record::{Actor, run};

/// The refusals that a history may hold: names as x-ms-error-code has them, each with its status.
macro_rules! refusals {
    ($( $name:ident $status:literal, )*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Refusal { $( $name, )* }

        impl Refusal {
            pub fn read(status: u16, code: &str) -> Option<Self> {
                match (status, code) {
                    $( ($status, stringify!($name)) => Some(Self::$name), )*
                    _ => None,
                }
            }
        }
    };
}

use refusals;

pub async fn judge_the_judge(_options: &Options) -> Trial<String> {
    let (mut impossible, mut possible) = (0, 0);
    let judged =
        [blob::bad::run()?, page::bad::run()?, append::bad::run()?, table::bad::run()?, file::bad::run()?];
    for judged in judged {
        impossible += judged.0;
        possible += judged.1;
    }
    Ok(format!("{impossible} impossible histories rejected, {possible} possible ones accepted"))
}

/// `what`: whose history it is. One that is not possible, or of which that could not be told, is kept in a file.
fn judge<M: Model>(options: &Options, what: &str, events: &[Event<M::Call, M::Answer>]) -> Trial
where
    Event<M::Call, M::Answer>: Debug,
{
    let reason = match (growth::check(events), checker::check::<M>(events)) {
        (Ok(()), Verdict::Linearizable) => return Ok(()),
        (Err(back), Verdict::Linearizable) => back,
        (_, Verdict::Undecided(place)) => format!("undecided, too many orders to try: {place}"),
        (_, Verdict::Impossible(place)) => format!("NOT LINEARIZABLE: {place}"),
    };
    let file = options.work.join(format!("chaos-history-{}.txt", what.replace(' ', "-")));
    let text: String = events.iter().map(|event| format!("{event:?}\n")).collect();
    let _ = std::fs::write(&file, text);
    Err(format!("{what}: {reason}; the history is in {}", file.display()))
}
