//! One change of one entity, read from a request or from a part of a batch.

use bytes::Bytes;
use lazuli_model::admission::table::EntityMatch;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Op, Row};
use lazuli_service::Services;
use lazuli_service::table::{EntityChange, check_key_length};

use super::address::{self, Keys};
use super::read_entity::{self, SentEntity};
use crate::head::Head;
use crate::headers;

/// Why a change cannot be read. Some refusals stand back when the table is missing.
pub enum Unread {
    Now(Failure),
    IfTableExists(Failure),
}

impl From<Failure> for Unread {
    fn from(failure: Failure) -> Self {
        Self::Now(failure)
    }
}

pub async fn read(
    services: &Services,
    row: &Row,
    head: &Head,
    table: &str,
    document: Bytes,
) -> Result<EntityChange, Unread> {
    let op = row.op;
    if op == Op::InsertEntity {
        let sent = entity(services, document).await?;
        let (Some(partition), Some(row)) = (sent.partition, sent.row) else {
            return Err(Unread::IfTableExists(ErrorCode::PropertiesNeedValue.into()));
        };
        check_length(&partition, &row)?;
        return Ok(EntityChange { op, partition, row, if_match: None, properties: sent.properties });
    }
    let Some(Keys { partition, row }) = address::keys(&head.target.object) else {
        return Err(Unread::IfTableExists(address::wrong_keys(&head.target.account, table)));
    };
    check_length(&partition, &row)?;
    // An empty If-Match is no ETag, and not the same as none.
    let if_match = head.raw_header(headers::IF_MATCH).map(EntityMatch::parse).transpose()?;
    let sent = match op {
        Op::DeleteEntity => SentEntity::default(),
        _ => entity(services, document).await?,
    };
    let differs = |sent: &Option<String>, addressed: &str| sent.as_ref().is_some_and(|key| key != addressed);
    if differs(&sent.partition, &partition) || differs(&sent.row, &row) {
        let message = "The keys of the entity are not those of its address.";
        return Err(Failure::new(ErrorCode::InvalidInput).with_message(message).into());
    }
    Ok(EntityChange { op, partition, row, if_match, properties: sent.properties })
}

/// A large document is read by a worker: reading it takes as long as a hundred small requests.
async fn entity(services: &Services, document: Bytes) -> Result<SentEntity, Failure> {
    services.compute(document.len(), move || read_entity::read(&document)).await?
}

/// Before anything is compared with them, or looked up by them.
fn check_length(partition: &str, row: &str) -> Result<(), Failure> {
    check_key_length(partition)?;
    check_key_length(row)
}
