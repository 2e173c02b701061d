//! Create Table.

use lazuli_model::error::Failure;
use lazuli_service::table::CreateTable;

use super::format::{Level, Preference};
use super::{BODY_LIMIT, data, json, read_entity};
use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

pub async fn create_table(call: Call) -> Result<Reply, Failure> {
    let (level, prefer) = (Level::of(&call.head)?, Preference::of(&call.head));
    let endpoint = call.service_endpoint();
    let document = call.body.collect(BODY_LIMIT, &call.services).await?;
    let table = read_entity::table_name(&document)?;
    let location = format!("{endpoint}Tables('{table}')");
    let body = element(&table, level, &endpoint, &call.context.account);
    CreateTable { table }.execute(&call.services, &call.context).await?;
    let reply = match prefer.wants_content() {
        true => json(call.row, level, body),
        false => data(call.row).otherwise(call.row).header(headers::DATASERVICEID, location.as_str()),
    };
    Ok(prefer.applied(reply.header(headers::LOCATION, location)))
}

/// One table on its own.
pub fn element(table: &str, level: Level, endpoint: &str, account: &str) -> String {
    let table_json = entry(table, level, endpoint, account);
    match level {
        Level::NoMetadata => format!("{{{table_json}}}"),
        Level::Minimal | Level::Full => {
            format!("{{\"odata.metadata\":\"{endpoint}$metadata#Tables/@Element\",{table_json}}}")
        }
    }
}

/// The members of one table. Names are letters and digits: nothing in them is to be escaped; what is not a
/// name was refused before.
pub fn entry(table: &str, level: Level, endpoint: &str, account: &str) -> String {
    let name = serde_json::Value::from(table);
    match level {
        Level::NoMetadata | Level::Minimal => format!("\"TableName\":{name}"),
        Level::Full => format!(
            "\"odata.type\":\"{account}.Tables\",\"odata.id\":\"{endpoint}Tables('{table}')\",\
             \"odata.editLink\":\"Tables('{table}')\",\"TableName\":{name}"
        ),
    }
}
