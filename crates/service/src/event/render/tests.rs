//! The examples of the reference "Azure Blob Storage as an Event Grid source", field by field: what is in ours and not in
//! theirs, or the other way round, is named here.

use std::collections::BTreeSet;

use lazuli_model::blob::BlobType;
use lazuli_model::etag::ETag;
use serde_json::Value;
use uuid::Uuid;

use super::*;

const CREATED: &str = r#"{
  "topic": "/subscriptions/{subscription-id}/resourceGroups/Storage/providers/Microsoft.Storage/storageAccounts/my-storage-account",
  "subject": "/blobServices/default/containers/test-container/blobs/new-file.txt",
  "eventType": "Microsoft.Storage.BlobCreated",
  "eventTime": "2017-06-26T18:41:00.9584103Z",
  "id": "831e1650-001e-001b-66ab-eeb76e069631",
  "data": {
    "api": "PutBlockList",
    "clientRequestId": "6d79dbfb-0e37-4fc4-981f-442c9ca65760",
    "requestId": "831e1650-001e-001b-66ab-eeb76e000000",
    "eTag": "0x8D4BCC2E4835CD0",
    "contentType": "text/plain",
    "contentLength": 524288,
    "blobType": "BlockBlob",
    "accessTier": "Default",
    "url": "https://my-storage-account.blob.core.windows.net/test-container/new-file.txt",
    "sequencer": "00000000000004420000000000028963",
    "storageDiagnostics": { "batchId": "831e1650-001e-001b-66ab-eeb76e069631" }
  },
  "dataVersion": "",
  "metadataVersion": "1"
}"#;

const DELETED: &str = r#"{
  "source": "/subscriptions/{subscription-id}/resourceGroups/Storage/providers/Microsoft.Storage/storageAccounts/my-storage-account",
  "subject": "/blobServices/default/containers/test-container/blobs/new-file.txt",
  "type": "Microsoft.Storage.BlobDeleted",
  "time": "2017-06-26T18:41:00.9584103Z",
  "id": "831e1650-001e-001b-66ab-eeb76e069631",
  "data": {
    "api": "DeleteBlob",
    "requestId": "831e1650-001e-001b-66ab-eeb76e000000",
    "contentType": "text/plain",
    "blobType": "BlockBlob",
    "url": "https://my-storage-account.blob.core.windows.net/test-container/new-file.txt",
    "sequencer": "0000000000000281000000000002F5CA",
    "storageDiagnostics": { "batchId": "831e1650-001e-001b-66ab-eeb76e069631" }
  },
  "specversion": "1.0"
}"#;

fn event(kind: EventType) -> EventRow {
    let uuid = |text: &str| text.parse::<Uuid>().expect("a uuid");
    let is_created = kind == EventType::BlobCreated;
    EventRow {
        id: uuid("831e1650-001e-001b-66ab-eeb76e069631"),
        kind,
        raised: Timestamp::parse_iso("2017-06-26T18:41:00.9584103Z").expect("a time"),
        account: "my-storage-account".into(),
        container: "test-container".into(),
        blob: "new-file.txt".into(),
        api: if is_created { "PutBlockList" } else { "DeleteBlob" }.into(),
        request_id: uuid("831e1650-001e-001b-66ab-eeb76e000000"),
        client_request_id: is_created.then(|| "6d79dbfb-0e37-4fc4-981f-442c9ca65760".into()),
        endpoint: "https://my-storage-account.blob.core.windows.net".into(),
        etag: ETag(0x8D4_BCC2_E483_5CD0),
        content_type: Some("text/plain".into()),
        content_length: 524_288,
        blob_type: BlobType::Block,
        tier: None,
        sequence: 0x442,
        tries: 0,
    }
}

/// Every value under its path.
fn flat(path: &str, value: &Value, into: &mut BTreeSet<(String, String)>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| flat(&format!("{path}/{name}"), value, into));
        }
        other => drop(into.insert((path.to_owned(), other.to_string()))),
    }
}

fn differences(ours: &str, theirs: &str) -> BTreeSet<String> {
    let [mut left, mut right] = [BTreeSet::new(), BTreeSet::new()];
    flat("", &serde_json::from_str(ours).expect("JSON"), &mut left);
    flat("", &serde_json::from_str(theirs).expect("JSON"), &mut right);
    left.symmetric_difference(&right).map(|(path, _)| path.clone()).collect()
}

#[test]
fn events_are_those_of_the_published_examples() {
    let created = render(&event(EventType::BlobCreated), EventSchema::EventGrid);
    let expected = ["/data/sequencer", "/topic"].map(str::to_owned);
    assert_eq!(differences(&created, CREATED), BTreeSet::from(expected), "{created}");
    let deleted = render(&event(EventType::BlobDeleted), EventSchema::CloudEvents);
    let expected = ["/data/sequencer", "/source"].map(str::to_owned);
    assert_eq!(differences(&deleted, DELETED), BTreeSet::from(expected), "{deleted}");
    let read: Value = serde_json::from_str(&created).expect("JSON");
    let topic = read["topic"].as_str().expect("a text");
    assert!(topic.ends_with("/providers/Microsoft.Storage/storageAccounts/my-storage-account"), "{topic}");
    assert_eq!(read["data"]["sequencer"].as_str().map(str::len), Some(32));
}

#[test]
fn sequencers_compare_as_texts() {
    let text = |sequence| {
        let row = EventRow { sequence, ..event(EventType::BlobCreated) };
        let read: Value = serde_json::from_str(&render(&row, EventSchema::EventGrid)).expect("JSON");
        read["data"]["sequencer"].as_str().expect("a text").to_owned()
    };
    for (earlier, later) in [(0, 1), (9, 10), (0xff, 0x100), (u64::MAX - 1, u64::MAX)] {
        assert!(text(earlier) < text(later));
    }
}

#[test]
fn a_name_of_any_length_fits_into_a_message() {
    let long = EventRow {
        blob: "\u{1F4F7}".repeat(1024),
        endpoint: "e".repeat(1024),
        client_request_id: Some("\u{1}".repeat(1024)),
        content_type: Some("\u{1}".repeat(1024)),
        ..event(EventType::BlobCreated)
    };
    for schema in [EventSchema::EventGrid, EventSchema::CloudEvents] {
        assert!(render(&long, schema).len().div_ceil(3) * 4 <= 64 * 1024);
    }
}
