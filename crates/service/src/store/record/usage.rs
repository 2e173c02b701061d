//! How much a share holds, in parts: each file is counted in one of them.

use super::{Record, stored};

/// Some of the files of a share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsagePart {
    /// The lengths of these files together.
    pub used: u64,
    /// So much they may come to, whatever the other parts do.
    pub allowed: u64,
}

impl Record for UsagePart {
    const NAME: &'static str = "part of a share's usage";
    type Newest = stored::usage::UsagePartV1;
}

/// What the parts are allowed together, or more than that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageAllowed {
    pub bytes: u64,
}

impl Record for UsageAllowed {
    const NAME: &'static str = "what the parts of a share's usage are allowed";
    type Newest = stored::usage::UsageAllowedV1;
}
