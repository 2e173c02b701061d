//! Events are raised by the commit of the change that they tell of.

use lazuli_model::etag::ETag;
use lazuli_model::event::{self, EventType};

use super::outbox;
use crate::event::{Cause, api};
use crate::store::blob::BlobPlace;
use crate::store::record::Record as _;
use crate::store::record::blob::BlobRecord;
use crate::store::record::event::EventRow;
use crate::store::unit::{Changes as _, Unit};

/// What an event repeats of a text that a client chose.
const LONGEST_TEXT: usize = 1024;

impl Unit {
    /// The name has a new content, all of it.
    pub(in crate::store) fn raise_created(&mut self, place: &BlobPlace, record: &BlobRecord) {
        self.raise(EventType::BlobCreated, place, record, record.etag);
    }

    /// The name stands for no blob any more. `record` is what stood there.
    pub(in crate::store) fn raise_deleted(&mut self, place: &BlobPlace, record: &BlobRecord) {
        // Behind the event of the blob. The next blob of the name is dated later: the commit of a writer that read before this
        // deletion is refused.
        let at = ETag(self.now().0.max(record.etag.0 + 1));
        self.raise(EventType::BlobDeleted, place, record, at);
    }

    fn raise(&mut self, kind: EventType, place: &BlobPlace, record: &BlobRecord, at: ETag) {
        if !self.has_events() || event::is_quiet(&place.container) {
            return;
        }
        let subject = event::subject(&place.container, &place.name);
        let wanting = self.features().events.iter().filter(|subscription| subscription.wants(kind, &subject));
        let wanting: Vec<_> = wanting.cloned().collect();
        if wanting.is_empty() {
            return;
        }
        let row = self.row(kind, place, record, at);
        for subscription in wanting {
            let key = outbox::key(&subscription, row.raised, row.id);
            self.put(key, row.encode());
        }
        self.note_raised();
    }

    fn row(&self, kind: EventType, place: &BlobPlace, record: &BlobRecord, at: ETag) -> EventRow {
        let cause = self.cause();
        let usual = match kind {
            EventType::BlobCreated => "PutBlob",
            EventType::BlobDeleted => "DeleteBlob",
        };
        let now = self.now();
        let id = crate::fresh_uuid();
        EventRow {
            id,
            kind,
            raised: now,
            account: self.account().to_owned(),
            container: place.container.clone(),
            blob: place.name.clone(),
            api: cause.and_then(|cause| api(cause.op)).unwrap_or(usual).to_owned(),
            request_id: cause.map_or(id, |cause| cause.request_id),
            client_request_id: cause.and_then(|cause| cause.client_request_id.as_deref()).map(shortened),
            endpoint: cause.map(|Cause { endpoint, .. }| shortened(endpoint)).unwrap_or_default(),
            etag: record.etag,
            content_type: record.headers.content_type.as_deref().map(shortened),
            content_length: record.length(),
            blob_type: record.kind,
            tier: record.tier.map(|explicit| explicit.tier),
            sequence: at.0,
            tries: 0,
        }
    }
}

/// A message of a queue has room for 64 KiB.
fn shortened(text: &str) -> String {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(shortened("short"), "short");
        let long = "ä".repeat(LONGEST_TEXT);
        assert_eq!(shortened(&long).len(), LONGEST_TEXT);
        let odd = format!("x{long}");
        assert_eq!(shortened(&odd).len(), LONGEST_TEXT - 1);
    }
}
