//! Long work in slices. A lane serves many connections with one thread (decision 0013): what takes longer than a slice
//! gives way to the others in between.

/// About the bytes that are looked at or written in a fraction of a millisecond.
pub const SLICE: usize = 256 * 1024;

/// The work of one request since it last gave way.
#[derive(Debug, Default)]
pub struct Pace {
    spent: usize,
}

impl Pace {
    /// Counts work that was done, in bytes; gives way when it was a slice.
    pub async fn spend(&mut self, work: usize) {
        self.spent += work;
        if self.spent >= SLICE {
            self.give_way().await;
        }
    }

    pub async fn give_way(&mut self) {
        self.spent = 0;
        tokio::task::yield_now().await;
    }
}
