//! Query Entities: a set, or one entity by its keys.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::Fault;
use lazuli_service::outgoing::Page;
use lazuli_service::table::{GetEntity, QueryEntities};

use super::entity_json::{Set, Writer};
use super::format::Level;
use super::query_tables::{filter, top};
use super::select::Select;
use super::{address, continuation, json, sas_scope};
use crate::call::Call;
use crate::head::Head;
use crate::headers;
use crate::reply::Reply;

/// The most that a page says.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

pub async fn query_entities(call: Call) -> Result<Reply, Failure> {
    let table = address::table(&call.head.target)?;
    if address::has_further_segment(&call.head.target) {
        return Err(ErrorCode::NotImplemented.into());
    }
    sas_scope::check_table(&call.grant, &table)?;
    let level = Level::of(&call.head)?;
    let (select, endpoint) = (Select::of(&call.head)?, call.service_endpoint());
    let Page { bytes: most, share } = call.services.outgoing().page_of(PAGE_BYTES);
    let input = QueryEntities {
        table: table.clone(),
        filter: filter(&call.head)?,
        top: top(&call.head)?,
        from: from(&call.head)?,
        limits: sas_scope::limits(&call.grant),
        max_bytes: most,
    };
    let page = input.execute(&call.services, &call.context).await?;
    let writer = Writer { level, account: &call.context.account, table: &table, endpoint: &endpoint, select };
    let Set { body, written } = writer.set(&page.entities, most).await?;
    // What found no room begins the next page.
    let next = match page.entities.get(written) {
        Some(left) => {
            let (partition, row) = left.keys().map_err(Fault::from)?;
            Some((partition.into_owned(), row.into_owned()))
        }
        None => page.next,
    };
    let (partition, row) = next.unzip();
    Ok(json(call.row, level, body)
        .within(share)
        .maybe(headers::X_MS_CONTINUATION_NEXTPARTITIONKEY, partition.map(|key| continuation::encode(&key)))
        .maybe(headers::X_MS_CONTINUATION_NEXTROWKEY, row.map(|key| continuation::encode(&key))))
}

pub async fn get_entity(call: Call) -> Result<Reply, Failure> {
    let table = address::table(&call.head.target)?;
    sas_scope::check_table(&call.grant, &table)?;
    let level = Level::of(&call.head)?;
    let (select, endpoint) = (Select::of(&call.head)?, call.service_endpoint());
    let Some(keys) = address::keys(&call.head.target.object) else {
        let refusal = address::wrong_keys(&call.context.account, &table);
        return Err(address::unless_missing(&call, &table, refusal).await);
    };
    if !sas_scope::limits(&call.grant).contains(&keys.partition, &keys.row) {
        return Err(ErrorCode::ResourceNotFound.into());
    }
    let input = GetEntity { table: table.clone(), partition: keys.partition, row: keys.row };
    let entity = input.execute(&call.services, &call.context).await?;
    let writer = Writer { level, account: &call.context.account, table: &table, endpoint: &endpoint, select };
    let body = writer.one(&entity)?;
    Ok(json(call.row, level, body).stamped_entity(entity.timestamp))
}

fn from(head: &Head) -> Result<Option<(String, String)>, Failure> {
    let key = |name| head.query(name).map(|token| continuation::decode(name, token)).transpose();
    let (partition, row) = (key("NextPartitionKey")?, key("NextRowKey")?);
    Ok(partition.map(|partition| (partition, row.unwrap_or_default())))
}
