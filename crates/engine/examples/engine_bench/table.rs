//! Latencies, and the lines they are printed on.

use std::time::Duration;

#[derive(Default)]
pub struct Samples(Vec<Duration>);

impl Samples {
    pub fn push(&mut self, sample: Duration) {
        self.0.push(sample);
    }

    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn percentile(&mut self, percent: f64) -> Duration {
        self.0.sort_unstable();
        let at = (self.0.len() as f64 * percent / 100.0) as usize;
        self.0.get(at.min(self.0.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

/// Time that this thread was running: unlike the clock, it does not count what other programs took.
pub fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

pub fn head(title: &str) {
    println!("\n{title}");
}

/// One line: what, how many a second, p50 and p99, and a remark.
pub fn line(what: &str, per_second: f64, samples: &mut Samples, remark: &str) {
    let (p50, p99) = (samples.percentile(50.0), samples.percentile(99.0));
    println!("  {what:<44} {per_second:>10.0} /s   p50 {:>9}   p99 {:>9}   {remark}", text(p50), text(p99));
}

fn text(duration: Duration) -> String {
    let micros = duration.as_nanos() as f64 / 1_000.0;
    if micros < 1_000.0 { format!("{micros:.1} us") } else { format!("{:.2} ms", micros / 1_000.0) }
}

/// A cheap stream of numbers that looks random and repeats.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^= word >> 31;
        ((u128::from(word) * u128::from(bound)) >> 64) as u64
    }
}
