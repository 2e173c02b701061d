//! The only doors to the world outside: clock, random numbers, disk. Tests replace each of them.

mod clock;
pub mod disk;
mod random;

pub(crate) use clock::ticks as clock_ticks;
pub use clock::{Clock, ManualClock};
pub use random::Random;

/// What an engine is given to reach the world with.
#[derive(Clone, Debug)]
pub struct Host {
    pub clock: Clock,
    pub random: Random,
    pub disk: disk::Disk,
}

impl Host {
    /// The machine's own clock, random source and disk.
    pub fn real() -> Self {
        Self { clock: Clock::Real, random: Random::from_os(), disk: disk::Disk::Real }
    }

    /// A clock that stands still until it is moved, and random numbers that repeat from run to run.
    pub fn test() -> Self {
        Self { clock: Clock::manual(), random: Random::seeded(0x4c61_7a75_6c69), disk: disk::Disk::Real }
    }
}
