//! Insert Entity.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::time::Timestamp;
use lazuli_service::table::{EntityChange, EntityGroupTransaction};

use super::entity_change::{self, Unread};
use super::entity_json::Writer;
use super::format::{Level, Preference};
use super::{BODY_LIMIT, address, data, json, sas_scope};
use crate::call::Call;
use crate::headers;
use crate::multipart;
use crate::reply::Reply;

pub async fn insert_entity(mut call: Call) -> Result<Reply, Failure> {
    let table = address::table(&call.head.target)?;
    sas_scope::check_table(&call.grant, &table)?;
    let (level, prefer) = (Level::of(&call.head)?, Preference::of(&call.head));
    let endpoint = call.service_endpoint();
    let change = change(&mut call, &table).await?;
    let inserted =
        Inserted { table: &table, account: &call.context.account, endpoint: &endpoint, level, prefer };
    let input = EntityGroupTransaction { table: table.clone(), changes: vec![change] };
    let timestamps = input.execute(&call.services, &call.context).await.map_err(|refused| refused.fault)?;
    match (&input.changes[..], &timestamps[..]) {
        ([change], [timestamp]) => Ok(inserted.reply(change, *timestamp)),
        _ => Err(ErrorCode::InternalError.into()),
    }
}

/// The change of a request for one entity.
pub async fn change(call: &mut Call, table: &str) -> Result<EntityChange, Failure> {
    // A batch that was sent to a table.
    if call.head.header(headers::CONTENT_TYPE).is_some_and(multipart::is_multipart) {
        return Err(ErrorCode::MediaTypeNotSupported.into());
    }
    let body = std::mem::replace(&mut call.body, lazuli_service::Body::empty());
    let document = body.collect(BODY_LIMIT, &call.services).await?;
    match entity_change::read(&call.services, call.row, &call.head, table, document).await {
        Ok(change) => {
            sas_scope::check_keys(&call.grant, &change.partition, &change.row)?;
            Ok(change)
        }
        Err(Unread::Now(failure)) => Err(failure),
        Err(Unread::IfTableExists(failure)) => Err(address::unless_missing(call, table, failure).await),
    }
}

/// The answer to an insert, on its own or in a batch.
pub struct Inserted<'a> {
    pub table: &'a str,
    pub account: &'a str,
    pub endpoint: &'a str,
    pub level: Level,
    pub prefer: Preference,
}

impl Inserted<'_> {
    pub fn reply(&self, change: &EntityChange, timestamp: Timestamp) -> Reply {
        let Self { table, account, endpoint, level, prefer } = *self;
        let row = change.op.row();
        let location = format!("{endpoint}{}", address::entity(table, &change.partition, &change.row));
        let reply = match prefer.wants_content() {
            true => {
                let writer = Writer { level, account, table, endpoint, select: None };
                json(row, level, writer.echo(&change.partition, &change.row, timestamp, &change.properties))
            }
            false => data(row).otherwise(row).header(headers::DATASERVICEID, location.as_str()),
        };
        prefer.applied(reply.header(headers::LOCATION, location).stamped_entity(timestamp))
    }
}
