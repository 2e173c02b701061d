//! A query over the bytes of a blob: records are read as the bytes come, and results are handed out as they are made.
//! What is held at a time is bounded, whatever the blob's size.

use std::sync::Arc;

use lazuli_model::Timestamp;
use lazuli_model::query::Query;

use crate::Services;
use crate::download::Download;

mod delimited;
mod json;
mod output;
mod row;
mod run;
mod scan;
mod sink;

pub use delimited::Delimited;
pub use run::{Record, Running};
pub use scan::QueryError;

/// How records are written in the blob, or in the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    Delimited(Delimited),
    /// Documents, one behind the other, with this between them.
    Json {
        separator: Vec<u8>,
    },
}

impl Default for Format {
    fn default() -> Self {
        Self::Delimited(Delimited::default())
    }
}

/// Begins to ask a query about what is downloaded.
pub(crate) fn start(
    services: &Services,
    download: Download,
    query: Query,
    input: Format,
    output: Format,
    now: Timestamp,
) -> Running {
    let stopped = Arc::default();
    let scan = scan::Scan::new(query, input, output, now, Arc::clone(&stopped));
    Running::new(services.clone(), download, scan, stopped)
}

/// The whole result of a query about bytes that come in these pieces, and what went wrong.
pub fn ask(query: Query, input: Format, output: Format, pieces: &[&[u8]]) -> (Vec<u8>, Vec<QueryError>) {
    let mut scan = scan::Scan::new(query, input, output, Timestamp(0), Arc::default());
    let mut pieces = pieces.iter();
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    loop {
        let stop = scan.advance();
        out.extend(scan.take_output());
        errors.append(&mut scan.errors);
        match stop {
            scan::Stop::Done => return (out, errors),
            scan::Stop::Turn => {}
            scan::Stop::Input => match pieces.next() {
                Some(piece) => scan.feed(piece),
                None => scan.end(),
            },
        }
    }
}

#[cfg(test)]
mod tests;
