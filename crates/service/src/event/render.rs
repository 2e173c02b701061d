//! An event as its consumers read it, in either schema.

use lazuli_model::blob::Tier;
use lazuli_model::event::{EventSchema, EventType, subject};
use lazuli_model::time::Timestamp;
use serde::Serialize;

use super::EventRow;

#[derive(Serialize)]
struct EventGridEvent<'a> {
    topic: String,
    subject: String,
    #[serde(rename = "eventType")]
    event_type: &'static str,
    #[serde(rename = "eventTime")]
    event_time: String,
    id: String,
    data: Data<'a>,
    #[serde(rename = "dataVersion")]
    data_version: &'static str,
    #[serde(rename = "metadataVersion")]
    metadata_version: &'static str,
}

#[derive(Serialize)]
struct CloudEvent<'a> {
    source: String,
    subject: String,
    #[serde(rename = "type")]
    kind: &'static str,
    time: String,
    id: String,
    data: Data<'a>,
    specversion: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    api: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_request_id: Option<&'a str>,
    request_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    e_tag: Option<String>,
    content_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_length: Option<u64>,
    blob_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    access_tier: Option<&'static str>,
    url: String,
    sequencer: String,
    storage_diagnostics: Diagnostics,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Diagnostics {
    batch_id: String,
}

/// What a blob is read as that was given no type.
const PLAIN: &str = "application/octet-stream";

/// Where events of an account come from. There is no subscription and no resource group; consumers read the account's
/// name out of this path.
pub fn source(account: &str) -> String {
    format!(
        "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/lazuli/providers/\
         Microsoft.Storage/storageAccounts/{account}"
    )
}

/// One event, as a JSON object.
pub(crate) fn render(event: &EventRow, schema: EventSchema) -> String {
    let source = source(&event.account);
    let (subject, kind) = (subject(&event.container, &event.blob), event.kind.as_str());
    let (time, id, data) = (Timestamp(event.raised.0).iso7(), event.id.to_string(), data(event));
    let written = match schema {
        EventSchema::EventGrid => serde_json::to_string(&EventGridEvent {
            topic: source,
            subject,
            event_type: kind,
            event_time: time,
            id,
            data,
            data_version: "",
            metadata_version: "1",
        }),
        EventSchema::CloudEvents => {
            serde_json::to_string(&CloudEvent { source, subject, kind, time, id, data, specversion: "1.0" })
        }
    };
    // Texts and numbers can always be written.
    written.unwrap_or_default()
}

fn data(event: &EventRow) -> Data<'_> {
    let is_there = event.kind == EventType::BlobCreated;
    Data {
        api: &event.api,
        client_request_id: event.client_request_id.as_deref(),
        request_id: event.request_id.to_string(),
        e_tag: is_there.then(|| event.etag.to_string()),
        content_type: event.content_type.as_deref().unwrap_or(PLAIN),
        content_length: is_there.then_some(event.content_length),
        blob_type: event.blob_type.as_str(),
        access_tier: is_there.then(|| event.tier.map_or("Default", Tier::as_str)),
        // As the service writes it: the name as it is, not as a request would have it (recorded).
        url: format!("{}/{}/{}", event.endpoint, event.container, event.blob),
        sequencer: format!("{:032X}", event.sequence),
        storage_diagnostics: Diagnostics { batch_id: event.id.to_string() },
    }
}

#[cfg(test)]
mod tests;
