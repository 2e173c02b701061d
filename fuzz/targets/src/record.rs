//! Stored values: what is read must be written the same, and what cannot be read is an error.

use bytes::Bytes;
use lazuli_model::service_properties::ServiceProperties;
use lazuli_service::store::record::Record;
use lazuli_service::store::record::blob::BlobRecord;
use lazuli_service::store::record::block::{BlockRecord, StagedRecord};
use lazuli_service::store::record::container::ContainerRecord;
use lazuli_service::store::record::content::{Content, DeadContent, Holders, Segment};
use lazuli_service::store::record::dead_snapshots::DeadSnapshots;
use lazuli_service::store::record::entity::{Properties, StoredBody, StoredEntity, put_property};
use lazuli_service::store::record::event::EventRow;
use lazuli_service::store::record::queue::{MessageFields, QueueRecord};
use lazuli_service::store::record::server::{Intent, JobRow, ServerRow};
use lazuli_service::store::record::settings::{ClockOffset, DelegationSecret, TagsIndexed};
use lazuli_service::store::record::table::TableRecord;

pub fn run(data: &[u8]) {
    one::<BlobRecord>(data);
    one::<BlockRecord>(data);
    one::<StagedRecord>(data);
    one::<ContainerRecord>(data);
    one::<Content>(data);
    one::<DeadContent>(data);
    one::<DeadSnapshots>(data);
    one::<Holders>(data);
    one::<Segment>(data);
    one::<ServiceProperties>(data);
    one::<EventRow>(data);
    one::<QueueRecord>(data);
    one::<MessageFields>(data);
    one::<TableRecord>(data);
    one::<ServerRow>(data);
    one::<JobRow>(data);
    one::<Intent>(data);
    one::<DelegationSecret>(data);
    one::<ClockOffset>(data);
    one::<TagsIndexed>(data);
    entity(data);
}

/// Each as every shape that it ever had, whatever the first byte says: all shapes are reached from one input.
fn one<R: Record>(data: &[u8]) {
    let fields = data.get(1..).unwrap_or_default();
    for shape in 1..=R::newest_shape() {
        let value = [&[shape], fields].concat();
        let Ok(record) = R::decode(&value) else { continue };
        let encoded = record.encode();
        assert_eq!(encoded.first(), Some(&R::newest_shape()), "{} is written as an old shape", R::NAME);
        let again = R::decode(&encoded).unwrap_or_else(|error| panic!("{}: {error}", R::NAME));
        assert!(again.encode() == encoded, "{} changes when it is read and written", R::NAME);
    }
}

fn entity(data: &[u8]) {
    let _ = StoredEntity::decode(&Bytes::copy_from_slice(data));
    let value = [&[1], data].concat();
    let Ok(entity) = StoredEntity::decode(&Bytes::from(value)) else { return };
    assert_eq!(StoredEntity::decode(&entity.encode()).unwrap(), entity);
    let StoredBody::Inline(body) = &entity.body else { return };
    for property in Properties::of(body) {
        let Ok(property) = property else { break };
        let (Ok(name), Ok(value)) = (property.name(), property.value()) else { continue };
        let mut copy = Vec::new();
        put_property(&mut copy, name, &value);
        let read = Properties::of(&copy).next().unwrap().unwrap();
        assert_eq!(read.name().unwrap(), name);
        // Not the bytes: a length may be written longer than need be, and any byte but zero is true.
        assert_eq!(format!("{:?}", read.value().unwrap()), format!("{value:?}"));
    }
}
