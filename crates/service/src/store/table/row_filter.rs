//! A filter made ready to be asked about many entities where they lie, in one pass over each body.

use std::collections::HashMap;

use lazuli_engine::{EngineError, Key, Value};
use lazuli_model::odata::{Filter, ValueRef};
use lazuli_model::time::Timestamp;

use super::utf16_order;
use crate::store::key;
use crate::store::record::corrupt;
use crate::store::record::entity::{self, BodyView, EntityView};
use crate::table::{PARTITION_KEY, ROW_KEY, TIMESTAMP};

/// Names that a filter may look at before asking it allocates.
const FEW_NAMES: usize = 8;

/// For each name of the filter, where its value is found.
pub struct RowFilter {
    filter: Filter,
    partition: Option<usize>,
    row: Option<usize>,
    timestamp: Option<usize>,
    properties: Properties,
}

/// The slots of the names that are properties.
struct Properties {
    count: usize,
    named: Named,
}

enum Named {
    /// Compared one after another.
    Few(Vec<(Box<[u8]>, usize)>),
    Many(HashMap<Box<[u8]>, usize>),
}

impl Properties {
    fn of(names: impl Iterator<Item = (Box<[u8]>, usize)>) -> Self {
        let few: Vec<_> = names.collect();
        let count = few.len();
        let named = if count > FEW_NAMES { Named::Many(few.into_iter().collect()) } else { Named::Few(few) };
        Self { count, named }
    }

    fn slot(&self, name: &[u8]) -> Option<usize> {
        match &self.named {
            Named::Few(few) => few.iter().find(|(known, _)| **known == *name).map(|(_, slot)| *slot),
            Named::Many(many) => many.get(name).copied(),
        }
    }
}

impl RowFilter {
    pub fn new(filter: Filter) -> Self {
        let [partition, row, timestamp] = [PARTITION_KEY, ROW_KEY, TIMESTAMP].map(|name| filter.slot(name));
        let of_system = |slot: &usize| [partition, row, timestamp].contains(&Some(*slot));
        let names = filter.names().iter().enumerate().filter(|(slot, _)| !of_system(slot));
        let properties = Properties::of(names.map(|(slot, name)| (name.as_bytes().into(), slot)));
        Self { filter, partition, row, timestamp, properties }
    }

    /// The most steps that asking about one row takes, beside looking through its body.
    pub fn cost(&self) -> usize {
        self.filter.cost()
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
            key.get(key::ENTITY_KEYS_AT..).and_then(utf16_order::halves).ok_or_else(damaged)?;
        let text = |bytes| utf16_order::decode(bytes).ok_or_else(damaged);
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
        let mut open = self.properties.count;
        let mut properties = entity::Properties::of(body);
        while open > 0 {
            let Some(property) = properties.next().transpose()? else { break };
            let named = self.properties.slot(property.name);
            if let Some(slot) = named.and_then(|slot| slots.get_mut(slot)) {
                *slot = Some(property.value()?);
                open -= 1;
            }
        }
        Ok(self.filter.matches(slots))
    }
}
