//! An entity as it was read: its key and its body, still encoded.

use std::borrow::Cow;

use bytes::Bytes;
use lazuli_engine::{EngineError, Key, Reader};
use lazuli_model::odata::{Filter, ValueRef};
use lazuli_model::time::Timestamp;

use super::{PARTITION_KEY, ROW_KEY, TIMESTAMP, ordinal, segments};
use crate::fault::Answer;
use crate::key;
use crate::record::corrupt;
use crate::record::entity::{Properties, StoredBody, StoredEntity};

/// Of a filter, up to here asking it allocates nothing.
const FEW_NAMES: usize = 8;

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
            StoredBody::Segments { content, length } => segments::read(reader, content, length).await?,
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

    /// Asks a filter, in one pass over the body as it lies.
    pub(super) fn matches(&self, filter: &Filter) -> Result<bool, EngineError> {
        let (partition, row) = self.keys()?;
        let (mut few, mut many) = ([None; FEW_NAMES], Vec::new());
        let slots: &mut [Option<ValueRef<'_>>] = match few.get_mut(..filter.names().len()) {
            Some(few) => few,
            None => {
                many.resize(filter.names().len(), None);
                &mut many
            }
        };
        let mut open = 0;
        for (slot, name) in slots.iter_mut().zip(filter.names()) {
            *slot = match name.as_str() {
                PARTITION_KEY => Some(ValueRef::String(&partition)),
                ROW_KEY => Some(ValueRef::String(&row)),
                TIMESTAMP => Some(ValueRef::DateTime(self.timestamp)),
                _ => {
                    open += 1;
                    None
                }
            };
        }
        let mut properties = self.properties();
        while open > 0 {
            let Some(property) = properties.next().transpose()? else { break };
            let named = filter.names().iter().position(|name| name.as_bytes() == property.name);
            if let Some(slot) = named.and_then(|at| slots.get_mut(at)) {
                *slot = Some(property.value()?);
                open -= 1;
            }
        }
        Ok(filter.matches(slots))
    }
}

pub(super) fn keys(key: &Key) -> Result<(Cow<'_, str>, Cow<'_, str>), EngineError> {
    let keys = key.get(key::ENTITY_KEYS_AT..).and_then(ordinal::split);
    keys.ok_or_else(|| corrupt("entity key", "not two strings"))
}
