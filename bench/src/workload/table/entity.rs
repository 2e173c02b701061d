//! The entity that all workloads store.

use bytes::Bytes;

use crate::workload::content::text;

/// What its properties other than the text take.
const SIZE: usize = 1024;
const OTHERS: usize = 80;
/// Every `Group` is found once among so many entities in a row, in no order.
pub const GROUPS: usize = 10_000;

/// Writes entities that are equally long, whatever their number.
pub struct Entities {
    text: String,
}

impl Entities {
    pub fn new() -> Self {
        Self { text: text(SIZE - OTHERS) }
    }

    /// `client` keeps the rows of clients apart that write into one partition.
    pub fn json(&self, partition: &str, client: usize, at: usize) -> Bytes {
        let (row, properties) = (row(client, at), properties(&self.text, at));
        format!("{{\"PartitionKey\":\"{partition}\",\"RowKey\":\"{row}\",{properties}}}").into()
    }

    /// Without the keys, which the address of the request names.
    pub fn properties(&self, at: usize) -> Bytes {
        format!("{{{}}}", properties(&self.text, at)).into()
    }
}

/// In the order of `at`.
pub fn row(client: usize, at: usize) -> String {
    format!("{client:02}-{at:09}")
}

/// The property `Group`, between `GROUPS` and twice as many.
pub fn group(at: usize) -> usize {
    GROUPS + at.wrapping_mul(7919) % GROUPS
}

/// `Group` and `Score` have as many digits for all.
fn properties(text: &str, at: usize) -> String {
    let (group, score) = (group(at), 1_000_000_000 + at);
    format!("\"Group\":{group},\"Score\":{score}.5,\"Active\":true,\"Text\":\"{text}\"")
}
