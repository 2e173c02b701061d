//! Query Tables.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::odata::Filter;
use lazuli_service::table::{PAGE_MAX, QueryTables, find_table};

use super::format::Level;
use super::{address, continuation, create_table, json};
use crate::call::Call;
use crate::head::Head;
use crate::headers;
use crate::reply::Reply;

pub async fn query_tables(call: Call) -> Result<Reply, Failure> {
    let level = Level::of(&call.head)?;
    let input = QueryTables {
        filter: filter(&call.head)?,
        top: top(&call.head)?,
        from: call
            .head
            .query("NextTableName")
            .map(|token| continuation::decode("NextTableName", token))
            .transpose()?,
    };
    let page = input.execute(&call.services, &call.context).await?;
    let endpoint = call.service_endpoint();
    let entries = page.tables.iter();
    let entries = entries
        .map(|table| format!("{{{}}}", create_table::entry(table, level, &endpoint, &call.context.account)));
    let entries: Vec<String> = entries.collect();
    let metadata = match level {
        Level::NoMetadata => String::new(),
        Level::Minimal | Level::Full => format!("\"odata.metadata\":\"{endpoint}$metadata#Tables\","),
    };
    let body = format!("{{{metadata}\"value\":[{}]}}", entries.join(","));
    let next = page.next.map(|table| continuation::encode(&table));
    Ok(json(call.row, level, body).maybe(headers::X_MS_CONTINUATION_NEXTTABLENAME, next))
}

/// One table by its name.
pub async fn get_table(call: Call) -> Result<Reply, Failure> {
    let level = Level::of(&call.head)?;
    let name = name(&call)?;
    let found = find_table(&call.services, &call.context, &name).await?;
    let table = found.ok_or(ErrorCode::ResourceNotFound)?;
    let body = create_table::element(&table, level, &call.service_endpoint(), &call.context.account);
    Ok(json(call.row, level, body))
}

/// `Tables('name')`
pub fn name(call: &Call) -> Result<String, Failure> {
    let object = &call.head.target.object;
    let object = object.strip_prefix("TableName=").unwrap_or(object);
    match address::quoted(object) {
        Some((name, "")) => Ok(name),
        _ => Err(address::wrong_keys(&call.context.account, "Tables")),
    }
}

/// What every query may carry; options of OData that the service does not have are refused.
pub fn filter(head: &Head) -> Result<Option<Filter>, Failure> {
    let unknown = ["$orderby", "$skip", "$inlinecount", "$count", "$expand", "$skiptoken"];
    if unknown.iter().any(|name| head.query.get(name).is_some()) {
        return Err(ErrorCode::NotImplemented.into());
    }
    head.query("$filter").filter(|text| !text.trim().is_empty()).map(Filter::parse).transpose()
}

/// The size of a page.
pub fn top(head: &Head) -> Result<usize, Failure> {
    let Some(text) = head.query("$top") else { return Ok(PAGE_MAX) };
    let top: Option<usize> = text.trim().parse().ok();
    top.filter(|top| *top <= PAGE_MAX).ok_or_else(|| ErrorCode::InvalidInput.into())
}
