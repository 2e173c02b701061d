//! How many messages a queue holds that have not expired, without a counter that every Put would have to write: they
//! are counted where they stand. The count of a long queue is kept for some seconds.

use std::time::{Duration, Instant};

use lazuli_engine::{Key, Looks, Reader, Scan};
use tokio::sync::Mutex;

use super::hand::read_slot;
use crate::fault::Answer;
use crate::key::{self, Generation};
use crate::store;

/// Up to here the count is exact whenever it is asked for.
const EXACT: u64 = 10_000;
const KEPT: Duration = Duration::from_secs(5);
/// Others on this lane have their turn after so many rows.
const LOOKS: Looks = Looks { rows: 1_024, bytes: 256 * 1024 };

/// The last count of a long queue, and when it was taken. Requests that ask at a time share one.
#[derive(Default)]
pub struct Count(Mutex<Option<(Instant, u64)>>);

impl Count {
    pub async fn of(&self, reader: &Reader, messages: Generation) -> Answer<u64> {
        let mut kept = self.0.lock().await;
        if let Some((at, count)) = *kept
            && at.elapsed() < KEPT
        {
            return Ok(count);
        }
        let count = count(reader, messages).await?;
        *kept = (count > EXACT).then(|| (Instant::now(), count));
        Ok(count)
    }
}

async fn count(reader: &Reader, messages: Generation) -> Answer<u64> {
    let now = store::now(reader);
    let mut range = key::all_visible(messages);
    let mut count = 0;
    loop {
        let scan = Scan { limit: usize::MAX, keys_only: true, ..Scan::of(range.clone()) };
        let lives = |key: &Key, value: &lazuli_engine::Value| {
            let is_alive = read_slot(key, value).is_some_and(|(_, expires)| expires > now.0);
            count += u64::from(is_alive);
            false
        };
        match reader.look(scan, LOOKS, lives).await?.next {
            Some(next) => range.start = next,
            None => return Ok(count),
        }
        tokio::task::yield_now().await;
    }
}
