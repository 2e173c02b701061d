//! How many messages a queue holds that have not expired, without a counter that every Put would have to write: they
//! are counted where they stand. The count of a long queue is kept for some seconds.

use std::time::{Duration, Instant};

use lazuli_engine::{Key, Looks, Scan, Value};
use tokio::sync::Mutex;

use super::queue_cache::read_slot;
use crate::Services;
use crate::fault::Answer;
use crate::store;
use crate::store::key::{self, Generation};

/// Up to here the count is exact whenever it is asked for.
const EXACT: u64 = 10_000;
const KEPT: Duration = Duration::from_secs(5);
/// Others on this lane have their turn after so many rows.
const LOOKS: Looks = Looks { rows: 1_024, bytes: 256 * 1024 };
/// More than the count that is exact takes.
const LOOKS_AT_ONE_SNAPSHOT: usize = 100;

/// The last count of a long queue, and when it was taken. Requests that ask at a time share one.
#[derive(Default)]
pub struct Count(Mutex<Option<(Instant, u64)>>);

impl Count {
    pub async fn of(&self, services: &Services, messages: Generation) -> Answer<u64> {
        let mut kept = self.0.lock().await;
        if let Some((at, count)) = *kept
            && at.elapsed() < KEPT
        {
            return Ok(count);
        }
        let count = count(services, messages).await?;
        *kept = (count > EXACT).then(|| (Instant::now(), count));
        Ok(count)
    }
}

async fn count(services: &Services, messages: Generation) -> Answer<u64> {
    let mut reader = services.engine().reader().await?;
    let now = store::now(&reader);
    let mut range = key::all_visible(messages);
    let (mut count, mut looks) = (0, 0);
    loop {
        let scan = Scan { limit: usize::MAX, keys_only: true, ..Scan::of(range.clone()) };
        let lives = |key: &Key, value: &Value| {
            let is_alive = read_slot(key, value).is_some_and(|(_, expires)| expires > now.0);
            count += u64::from(is_alive);
            false
        };
        match reader.scan_filtered(scan, LOOKS, lives).await?.next {
            Some(next) => range.start = next,
            None => return Ok(count),
        }
        tokio::task::yield_now().await;
        looks += 1;
        // No snapshot is held for long: a long count is as exact as the seconds for which it is kept.
        if looks % LOOKS_AT_ONE_SNAPSHOT == 0 {
            reader = services.engine().reader().await?;
        }
    }
}

#[cfg(test)]
mod tests {
    use lazuli_engine::{Engine, Host, Plan};

    use super::*;
    use crate::ServiceOptions;
    use crate::fault::Fault;
    use crate::store::queue::queue_cache::{NEVER, slot_key};
    use crate::store::record::queue::Slot;

    async fn put(services: &Services, messages: Generation, ids: std::ops::Range<u64>, expires: u64) {
        for start in ids.clone().step_by(1_000) {
            let write = |_| async move {
                let mut plan = Plan::new(());
                for id in start..ids.end.min(start + 1_000) {
                    let slot = Slot { visible: id, receipt: 0, id: u128::from(id) };
                    plan.put(slot_key(messages, slot), expires.to_be_bytes().to_vec());
                }
                Ok::<_, Fault>(plan)
            };
            services.engine().run(None, write).await.expect("written");
        }
    }

    #[tokio::test]
    async fn exact_to_ten_thousand_and_kept_beyond() {
        let services = Services::new(Engine::memory(Host::test()), ServiceOptions::default());
        let (messages, other) = (Generation::new(1, 0), Generation::new(2, 0));
        let now = services.now().0;
        let count = Count::default();
        put(&services, messages, 0..9_999, NEVER).await;
        put(&services, messages, 20_000..20_500, now).await;
        put(&services, other, 0..10, NEVER).await;
        assert_eq!(
            count.of(&services, messages).await.expect("counted"),
            9_999,
            "without those that expired"
        );
        put(&services, messages, 9_999..EXACT, now + 1).await;
        assert_eq!(count.of(&services, messages).await.expect("counted"), EXACT);
        services.engine().advance_clock(Duration::from_secs(1));
        assert_eq!(count.of(&services, messages).await.expect("counted"), EXACT - 1, "one expired");
        put(&services, messages, 30_000..150_000, NEVER).await;
        let long = count.of(&services, messages).await.expect("counted");
        assert_eq!(long, EXACT - 1 + 120_000);
        put(&services, messages, 200_000..200_001, NEVER).await;
        assert_eq!(count.of(&services, messages).await.expect("kept"), long);
    }
}
