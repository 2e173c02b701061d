//! A refusal as its answer: status, `x-ms-error-code`, and the body that the service of the request speaks.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Resource, Row, Service};
use lazuli_model::time::Timestamp;
use lazuli_model::version::{ApiVersion, Feature};
use uuid::Uuid;

use crate::headers;
use crate::reply::Reply;
use crate::table::Level;
use crate::xml::{self, Writer};

/// What the rendering of a refusal has to know about the request.
pub(crate) struct Asked<'a> {
    pub service: Service,
    pub resource: Resource,
    pub is_head: bool,
    pub version: ApiVersion,
    /// What a table's client asked to be told about types: errors name the level too (recorded).
    pub level: Level,
    pub row: Option<&'a Row>,
    pub request_id: Uuid,
    pub now: Timestamp,
}

/// Fills in what a refusal looks like; headers that the reply already has stay.
pub(crate) fn render(mut reply: Reply, failure: &Failure, asked: &Asked<'_>) -> Reply {
    reply.status = failure.status();
    let names_code = asked.version.has(Feature::ErrorCodeHeader);
    if asked.is_head || reply.status == 304 {
        return if names_code { reply.header(headers::X_MS_ERROR_CODE, failure.code.name()) } else { reply };
    }
    let (body, content_type, has_code) = match (asked.service, is_data(asked.resource)) {
        (Service::Table, true) => table_json(failure, asked),
        (Service::Table, false) => (table_xml(failure, asked), "application/xml", true),
        (Service::Dfs, _) => (dfs_json(failure, asked), "application/json; charset=utf-8", true),
        (Service::Blob | Service::Queue | Service::File, _) => (xml(failure, asked), "application/xml", true),
    };
    reply = reply.header(headers::CONTENT_TYPE, content_type).bytes(body.into());
    if asked.service == Service::Table && is_data(asked.resource) {
        reply = reply.header(headers::X_CONTENT_TYPE_OPTIONS, "nosniff");
        if !crate::table::is_early(failure, asked.row.map(|row| row.op)) {
            reply = reply.header(headers::CACHE_CONTROL, "no-cache");
        }
    }
    if has_code && names_code { reply.header(headers::X_MS_ERROR_CODE, failure.code.name()) } else { reply }
}

/// Text, then which request and when: what a user quotes to whoever runs the server.
fn message(failure: &Failure, asked: &Asked<'_>) -> String {
    format!("{}\nRequestId:{}\nTime:{}", failure.message(), asked.request_id, asked.now.iso7())
}

fn xml(failure: &Failure, asked: &Asked<'_>) -> String {
    let mut writer = asked.row.map_or_else(Writer::new, Writer::of);
    writer.open("Error");
    writer.element("Code", failure.code.name());
    writer.element("Message", &message(failure, asked));
    for (name, value) in &failure.details {
        writer.element(name, value);
    }
    writer.close("Error");
    writer.finish()
}

/// Tables speak JSON about their data, XML about themselves.
fn is_data(resource: Resource) -> bool {
    matches!(
        resource,
        Resource::Tables | Resource::Table | Resource::EntitySet | Resource::Entity | Resource::Batch
    )
}

/// Only refusals of the credentials name the code in a header (recorded).
fn table_json(failure: &Failure, asked: &Asked<'_>) -> (String, &'static str, bool) {
    let value = serde_json::json!({
        "odata.error": {
            "code": failure.code.name(),
            "message": { "lang": "en-US", "value": message(failure, asked) },
        }
    });
    let is_authentication =
        matches!(failure.code, ErrorCode::NoAuthenticationInformation | ErrorCode::AuthenticationFailed);
    let content_type = if is_authentication { "application/json" } else { asked.level.content_type() };
    (value.to_string(), content_type, is_authentication)
}

/// Without a byte order mark, unlike all other XML.
fn table_xml(failure: &Failure, asked: &Asked<'_>) -> String {
    let (code, message) = (failure.code.name(), message(failure, asked));
    format!(
        "{}<m:error xmlns:m=\"http://schemas.microsoft.com/ado/2007/08/dataservices/metadata\">\
         <m:code>{code}</m:code><m:message xml:lang=\"en-US\">{}</m:message></m:error>",
        xml::DECLARATION,
        xml::escape(&message)
    )
}

fn dfs_json(failure: &Failure, asked: &Asked<'_>) -> String {
    let mut error = serde_json::json!({ "code": failure.code.name(), "message": message(failure, asked) });
    if !failure.details.is_empty() {
        let details: serde_json::Map<String, serde_json::Value> =
            failure.details.iter().map(|(name, value)| ((*name).to_owned(), value.clone().into())).collect();
        error["detail"] = details.into();
    }
    serde_json::json!({ "error": error }).to_string()
}

#[cfg(test)]
mod tests;
