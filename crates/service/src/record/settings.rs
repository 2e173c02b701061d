//! What all servers over one engine must agree on.

use serde::{Deserialize, Serialize};

use super::Record;

/// User delegation keys are derived from it.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelegationSecret(pub [u8; 32]);

impl Record for DelegationSecret {
    const SHAPE: u8 = 1;
    const NAME: &'static str = "delegation secret";
}

/// How far tests have moved the clock, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset(pub u64);

impl Record for ClockOffset {
    const SHAPE: u8 = 1;
    const NAME: &'static str = "clock offset";
}
