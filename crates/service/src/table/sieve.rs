//! A filter made ready to be asked about many entities where they lie, in one pass over each body.

use lazuli_engine::{EngineError, Key, Value};
use lazuli_model::odata::{Filter, ValueRef};
use lazuli_model::time::Timestamp;

use super::{PARTITION_KEY, ROW_KEY, TIMESTAMP, ordinal};
use crate::key;
use crate::record::corrupt;
use crate::record::entity::{BodyView, EntityView, Properties};

/// Names that a filter may look at before asking it allocates.
const FEW_NAMES: usize = 8;

/// For each name of the filter, where its value is found.
pub struct Sieve {
    filter: Filter,
    partition: Option<usize>,
    row: Option<usize>,
    timestamp: Option<usize>,
    properties: Vec<usize>,
}

impl Sieve {
    pub fn new(filter: Filter) -> Self {
        let [partition, row, timestamp] = [PARTITION_KEY, ROW_KEY, TIMESTAMP].map(|name| filter.slot(name));
        let of_system = |slot: &usize| [partition, row, timestamp].contains(&Some(*slot));
        let properties = (0..filter.names().len()).filter(|slot| !of_system(slot)).collect();
        Self { filter, partition, row, timestamp, properties }
    }

    /// Whether a stored row may pass. What cannot be told here passes: a body that lies elsewhere, and a row that is
    /// damaged, which whoever writes it out will report.
    pub fn may_pass(&self, key: &Key, value: &Value) -> bool {
        match EntityView::of(value) {
            Ok(EntityView { timestamp, body: BodyView::Inline(body) }) => {
                self.lets_pass(key, timestamp, body).unwrap_or(true)
            }
            _ => true,
        }
    }

    pub fn lets_pass(&self, key: &[u8], timestamp: Timestamp, body: &[u8]) -> Result<bool, EngineError> {
        let damaged = || corrupt("entity key", "not two strings");
        let (partition, row) =
            key.get(key::ENTITY_KEYS_AT..).and_then(ordinal::halves).ok_or_else(damaged)?;
        let text = |bytes| ordinal::decode(bytes).ok_or_else(damaged);
        // Made only where the filter asks for them.
        let partition = self.partition.map(|_| text(partition)).transpose()?;
        let row = self.row.map(|_| text(row)).transpose()?;
        let (mut few, mut many) = ([None; FEW_NAMES], Vec::new());
        let slots: &mut [Option<ValueRef<'_>>] = match few.get_mut(..self.filter.names().len()) {
            Some(few) => few,
            None => {
                many.resize(self.filter.names().len(), None);
                &mut many
            }
        };
        let system = [
            (self.partition, partition.as_deref().map(ValueRef::String)),
            (self.row, row.as_deref().map(ValueRef::String)),
            (self.timestamp, Some(ValueRef::DateTime(timestamp))),
        ];
        for (slot, value) in system {
            if let Some(slot) = slot.and_then(|slot| slots.get_mut(slot)) {
                *slot = value;
            }
        }
        let mut open = self.properties.len();
        let mut properties = Properties::of(body);
        while open > 0 {
            let Some(property) = properties.next().transpose()? else { break };
            let is_named = |slot: &&usize| {
                self.filter.names().get(**slot).is_some_and(|n| n.as_bytes() == property.name)
            };
            let named = self.properties.iter().find(is_named);
            if let Some(slot) = named.and_then(|slot| slots.get_mut(*slot)) {
                *slot = Some(property.value()?);
                open -= 1;
            }
        }
        Ok(self.filter.matches(slots))
    }
}
