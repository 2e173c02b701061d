//! What all servers over one engine must agree on.

use super::{Record, stored};

/// User delegation keys are derived from it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DelegationSecret(pub [u8; 32]);

impl Record for DelegationSecret {
    const NAME: &'static str = "delegation secret";
    type Newest = stored::server::DelegationSecretV1;
}

/// Keys of what is encrypted under a scope are derived from it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ScopeSecret(pub [u8; 32]);

impl Record for ScopeSecret {
    const NAME: &'static str = "scope secret";
    type Newest = stored::server::ScopeSecretV1;
}

/// Since when every blob is in the index of tags, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagsIndexed(pub u64);

impl Record for TagsIndexed {
    const NAME: &'static str = "tags indexed";
    type Newest = stored::server::TagsIndexedV1;
}

/// Which shapes of records may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreFormat(pub u32);

impl Record for StoreFormat {
    const NAME: &'static str = "store format";
    type Newest = stored::server::StoreFormatV1;
}

/// How far tests have moved the clock, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset(pub u64);

impl Record for ClockOffset {
    const NAME: &'static str = "clock offset";
    type Newest = stored::server::ClockOffsetV1;
}
