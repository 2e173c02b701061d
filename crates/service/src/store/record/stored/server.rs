//! What the servers over one engine tell each other, and what they must agree on.

use serde::{Deserialize, Serialize};

use super::{Shape, first_shape};
use crate::store::formats::Formats;
use crate::store::key::{ContentId, Incarnation};
use crate::store::record::server::{Intent, JobRow, ServerRow};
use crate::store::record::settings::{ClockOffset, DelegationSecret, ScopeSecret, StoreFormat, TagsIndexed};

#[derive(Serialize, Deserialize)]
pub struct ServerV1 {
    epoch: u64,
    drained: u64,
    reading: Vec<ContentId>,
    beat: u64,
    accounts: u64,
}

/// It told nothing of formats: servers of that time read the first one.
#[derive(Serialize, Deserialize)]
pub struct ServerV2 {
    epoch: u64,
    drained: u64,
    reading: Vec<ContentId>,
    beat: u64,
    settings: u64,
    lowest_format: u32,
    highest_format: u32,
}

impl Shape for ServerV2 {
    const NUMBER: u8 = 2;
    type Before = ServerV1;

    fn step(before: ServerV1) -> Self {
        let ServerV1 { epoch, drained, reading, beat, accounts: settings } = before;
        Self { epoch, drained, reading, beat, settings, lowest_format: 1, highest_format: 1 }
    }
}

#[derive(Serialize, Deserialize)]
pub struct JobV1 {
    owner: Incarnation,
    epoch: u64,
    until: u64,
}

#[derive(Serialize, Deserialize)]
pub struct IntentV1 {
    owner: Incarnation,
}

#[derive(Serialize, Deserialize)]
pub struct DelegationSecretV1([u8; 32]);

#[derive(Serialize, Deserialize)]
pub struct ScopeSecretV1([u8; 32]);

#[derive(Serialize, Deserialize)]
pub struct ClockOffsetV1(u64);

#[derive(Serialize, Deserialize)]
pub struct TagsIndexedV1(u64);

#[derive(Serialize, Deserialize)]
pub struct StoreFormatV1(u32);

first_shape!(
    ServerV1,
    JobV1,
    IntentV1,
    DelegationSecretV1,
    ScopeSecretV1,
    ClockOffsetV1,
    TagsIndexedV1,
    StoreFormatV1
);

impl From<&ServerRow> for ServerV2 {
    fn from(row: &ServerRow) -> Self {
        let ServerRow { epoch, drained, reading, beat, settings, formats } = row.clone();
        let Formats { lowest, highest } = formats;
        Self { epoch, drained, reading, beat, settings, lowest_format: lowest, highest_format: highest }
    }
}

impl From<ServerV2> for ServerRow {
    fn from(stored: ServerV2) -> Self {
        let ServerV2 { epoch, drained, reading, beat, settings, lowest_format, highest_format } = stored;
        let formats = Formats { lowest: lowest_format, highest: highest_format };
        Self { epoch, drained, reading, beat, settings, formats }
    }
}

impl From<&StoreFormat> for StoreFormatV1 {
    fn from(format: &StoreFormat) -> Self {
        Self(format.0)
    }
}

impl From<StoreFormatV1> for StoreFormat {
    fn from(stored: StoreFormatV1) -> Self {
        Self(stored.0)
    }
}

impl From<&JobRow> for JobV1 {
    fn from(row: &JobRow) -> Self {
        let JobRow { owner, epoch, until } = *row;
        Self { owner, epoch, until }
    }
}

impl From<JobV1> for JobRow {
    fn from(stored: JobV1) -> Self {
        let JobV1 { owner, epoch, until } = stored;
        Self { owner, epoch, until }
    }
}

impl From<&Intent> for IntentV1 {
    fn from(intent: &Intent) -> Self {
        Self { owner: intent.owner }
    }
}

impl From<IntentV1> for Intent {
    fn from(stored: IntentV1) -> Self {
        Self { owner: stored.owner }
    }
}

impl From<&DelegationSecret> for DelegationSecretV1 {
    fn from(secret: &DelegationSecret) -> Self {
        Self(secret.0)
    }
}

impl From<DelegationSecretV1> for DelegationSecret {
    fn from(stored: DelegationSecretV1) -> Self {
        Self(stored.0)
    }
}

impl From<&ScopeSecret> for ScopeSecretV1 {
    fn from(secret: &ScopeSecret) -> Self {
        Self(secret.0)
    }
}

impl From<ScopeSecretV1> for ScopeSecret {
    fn from(stored: ScopeSecretV1) -> Self {
        Self(stored.0)
    }
}

impl From<&ClockOffset> for ClockOffsetV1 {
    fn from(offset: &ClockOffset) -> Self {
        Self(offset.0)
    }
}

impl From<ClockOffsetV1> for ClockOffset {
    fn from(stored: ClockOffsetV1) -> Self {
        Self(stored.0)
    }
}

impl From<&TagsIndexed> for TagsIndexedV1 {
    fn from(since: &TagsIndexed) -> Self {
        Self(since.0)
    }
}

impl From<TagsIndexedV1> for TagsIndexed {
    fn from(stored: TagsIndexedV1) -> Self {
        Self(stored.0)
    }
}
