//! A query under way: takes bytes of the blob as it needs them, and hands out what it makes of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use super::scan::{QueryError, Scan, Stop};
use crate::Services;
use crate::budget::Share;
use crate::download::Download;
use crate::fault::Answer;

/// What a query may hold of its input without asking.
const FREE: usize = 512 * 1024;
/// Between two words about how far it has come.
const PROGRESS: u64 = 4 * 1024 * 1024;

/// What a query tells, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    Data(Bytes),
    Error(QueryError),
    Progress { scanned: u64, total: u64 },
    End { total: u64 },
}

pub struct Running {
    services: Services,
    download: Download,
    /// None once the last record was told.
    scan: Option<Box<Scan>>,
    scanned: u64,
    told: u64,
    total: u64,
    /// Memory for a long record.
    share: Option<Share>,
    has_data: bool,
    stopped: Arc<AtomicBool>,
}

/// The client has left: what a worker is doing for it ends soon.
impl Drop for Running {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

impl Running {
    pub(super) fn new(services: Services, download: Download, scan: Scan, stopped: Arc<AtomicBool>) -> Self {
        let total = download.length();
        Self {
            services,
            download,
            scan: Some(Box::new(scan)),
            scanned: 0,
            told: 0,
            total,
            share: None,
            has_data: false,
            stopped,
        }
    }

    /// What comes next; `None` behind the end.
    pub async fn next(&mut self) -> Option<Answer<Vec<Record>>> {
        let scan = self.scan.take()?;
        match self.turn(scan).await {
            Ok(records) => Some(Ok(records)),
            Err(fault) => Some(Err(fault)),
        }
    }

    /// Each turn of the loop reads some of the blob, or works for a slice.
    async fn turn(&mut self, mut scan: Box<Scan>) -> Answer<Vec<Record>> {
        loop {
            let work = scan.work();
            let advance = move || {
                let stop = scan.advance();
                (scan, stop)
            };
            let (advanced, stop) = self.services.ask(work, advance).await?;
            scan = advanced;
            if stop != Stop::Done && !self.may_hold(scan.held()) {
                scan.give_up("The server has no memory for so long a record.");
            }
            match stop {
                Stop::Input => match self.download.next().await {
                    Some(bytes) => {
                        let bytes = bytes?;
                        self.scanned += bytes.len() as u64;
                        scan.feed(&bytes);
                    }
                    None => scan.end(),
                },
                Stop::Turn | Stop::Done => {
                    let is_done = stop == Stop::Done;
                    let records = self.records(&mut scan, is_done);
                    if !is_done {
                        self.scan = Some(scan);
                    }
                    if is_done || !records.is_empty() {
                        return Ok(records);
                    }
                    match self.scan.take() {
                        Some(next) => scan = next,
                        None => return Ok(records),
                    }
                }
            }
        }
    }

    /// Results first, then what went wrong, then how far it has come (recorded).
    fn records(&mut self, scan: &mut Scan, is_done: bool) -> Vec<Record> {
        let mut records = Vec::new();
        let output = scan.take_output();
        if !output.is_empty() {
            records.push(Record::Data(self.services.outgoing().count_done(output.into(), None)));
        }
        // Clients cannot take an error before anything else: the Python client 12.30 fails on it.
        if !scan.errors.is_empty() && records.is_empty() && !std::mem::replace(&mut self.has_data, true) {
            records.push(Record::Data(Bytes::new()));
        }
        self.has_data |= !records.is_empty();
        records.extend(std::mem::take(&mut scan.errors).into_iter().map(Record::Error));
        if is_done || self.scanned - self.told >= PROGRESS {
            self.told = self.scanned;
            records.push(Record::Progress { scanned: self.scanned, total: self.total });
        }
        if is_done {
            records.push(Record::End { total: self.total });
        }
        records
    }

    fn may_hold(&mut self, bytes: usize) -> bool {
        if bytes <= FREE {
            self.share = None;
            return true;
        }
        let missing = bytes.saturating_sub(self.share.as_ref().map_or(0, Share::bytes));
        if missing == 0 {
            return true;
        }
        match (self.services.outgoing().for_work(missing), &mut self.share) {
            (None, _) => false,
            (Some(more), Some(share)) => {
                share.join(more);
                true
            }
            (more, share) => {
                *share = more;
                true
            }
        }
    }
}
