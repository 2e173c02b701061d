//! An entity as it was read: its key and its body, still encoded.

use std::borrow::Cow;

use bytes::Bytes;
use lazuli_engine::{EngineError, Key, Reader};
use lazuli_model::time::Timestamp;

use super::row_filter::RowFilter;
use super::{entity_body, utf16_order};
use crate::fault::Answer;
use crate::store::key;
use crate::store::record::corrupt;
use crate::store::record::entity::{Properties, StoredBody, StoredEntity};

#[derive(Clone, Debug)]
pub struct Entity {
    key: Key,
    pub timestamp: Timestamp,
    body: Bytes,
}

impl Entity {
    pub(super) async fn load(reader: &Reader, key: Key, stored: StoredEntity) -> Answer<Self> {
        let body = match stored.body {
            StoredBody::Inline(body) => body,
            StoredBody::Segments { content, length } => entity_body::read(reader, content, length).await?,
        };
        Ok(Self { key, timestamp: stored.timestamp, body })
    }

    /// Partition key and row key.
    pub fn keys(&self) -> Result<(Cow<'_, str>, Cow<'_, str>), EngineError> {
        keys(&self.key)
    }

    pub fn properties(&self) -> Properties<'_> {
        Properties::of(&self.body)
    }

    pub fn size(&self) -> usize {
        self.key.len() + self.body.len()
    }

    pub(super) fn passes(&self, filter: &RowFilter) -> Result<bool, EngineError> {
        filter.lets_pass(&self.key, self.timestamp, &self.body)
    }
}

pub(super) fn keys(key: &Key) -> Result<(Cow<'_, str>, Cow<'_, str>), EngineError> {
    let keys = key.get(key::ENTITY_KEYS_AT..).and_then(utf16_order::split);
    keys.ok_or_else(|| corrupt("entity key", "not two strings"))
}
