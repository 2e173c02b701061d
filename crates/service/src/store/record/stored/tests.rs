//! The bytes of every shape, as directories have them.

mod copy_job;
mod files;

use lazuli_model::access::{AccessPolicy, PublicAccess};
use lazuli_model::admission::lease::{Lease, LeaseDuration, LeaseId};
use lazuli_model::blob::{
    BlobType, ContentHeaders, ContentMd5, CopyState, CopyStatus, CustomerKeyHash, ExplicitTier,
    ImmutabilityMode, ImmutabilityPolicy, RehydratePriority, Rehydration, SoftDeletion, Tier,
};
use lazuli_model::etag::ETag;
use lazuli_model::event::EventType;
use lazuli_model::metadata::Metadata;
use lazuli_model::service_properties::{
    CorsRule, Logging, Metrics, ProtocolSettings, RetentionPolicy, ServiceProperties, StaticWebsite,
};
use lazuli_model::tags::Tags;
use lazuli_model::time::Timestamp;

use super::block::BlockV1;
use super::content::{ListedBlockV1, PieceV1, SegmentV1};
use super::*;
use crate::store::key::{ContentId, Generation};
use crate::store::record::Record;
use crate::store::record::blob::{BlobExtras, BlobRecord};
use crate::store::record::block::{BlockRecord, StagedRecord};
use crate::store::record::container::ContainerRecord;
use crate::store::record::content::{self, Content, DeadContent, Holders, ListedBlock, Piece, Segment};
use crate::store::record::dead_snapshots::DeadSnapshots;
use crate::store::record::deleted_container::DeletedContainer;
use crate::store::record::event::EventRow;
use crate::store::record::kept_snapshots::{KeptSnapshots, KeptTogether};
use crate::store::record::queue::{MessageFields, QueueRecord, Text};
use crate::store::record::table::TableRecord;
use crate::store::seal::{KeyName, Seal};

/// A value is written as it was by the build that first wrote its shape, and read as what it was.
#[track_caller]
fn assert_bytes<R: Record + PartialEq + std::fmt::Debug>(record: &R, expected: &str) {
    let encoded = record.encode();
    let hex: String = encoded.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, expected, "{}", R::NAME);
    assert_eq!(&R::decode(&encoded).expect("read"), record, "{}", R::NAME);
}

fn lease() -> Option<Lease> {
    Some(Lease {
        id: LeaseId(uuid::Uuid::from_u128(0x11)),
        duration: LeaseDuration::Fixed { seconds: 60 },
        expires: Some(Timestamp(7)),
        breaks: None,
    })
}

fn metadata() -> Metadata {
    Metadata::from_stored(vec![("a".to_owned(), "b".to_owned())])
}

fn policies() -> Vec<AccessPolicy> {
    let start = Some(Timestamp(1));
    vec![AccessPolicy { id: "i".into(), start, expiry: None, permission: Some("r".into()) }]
}

fn content() -> Content {
    let pieces = vec![
        Piece::Chunk { id: 7, len: 30, seal: None },
        Piece::Inline { id: ContentId(9), len: 3, seal: None },
    ];
    Content { id: ContentId(9), length: 33, shape: content::Shape::Pieces(pieces) }
}

#[test]
fn a_blob() {
    let blob = BlobRecord {
        kind: BlobType::Page,
        created: Timestamp(1),
        etag: ETag(2),
        last_modified: Timestamp(3),
        content: content(),
        headers: ContentHeaders {
            content_type: Some("t".into()),
            content_encoding: Some("e".into()),
            content_language: Some("l".into()),
            content_disposition: Some("d".into()),
            cache_control: Some("c".into()),
            content_md5: ContentMd5::Given(vec![1, 2]),
        },
        metadata: metadata(),
        tags: Tags::from_stored(vec![("k".into(), "v".into())]),
        lease: lease(),
        tier: Some(ExplicitTier { tier: Tier::Archive, changed: Timestamp(300) }),
        customer_key: Some(CustomerKeyHash([5; 32])),
        encryption_scope: Some("s".into()),
        snapshots: 4,
        sequence_number: 6,
        sealed: true,
        extras: None,
    };
    let key = "05".repeat(32);
    let fields = format!(
        "010102030921010200071e01090301017401016501016c01016401016302020102010161016201016b01760111013c\
         0107000103ac0201{key}010173040601"
    );
    assert_bytes(&blob, &format!("02{fields}00"));
    // The first shape knew nothing of what few blobs have.
    let first: Vec<u8> = (0..fields.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&fields[at..at + 2], 16).expect("hex"))
        .collect();
    assert_eq!(BlobRecord::decode(&[&[1], &first[..]].concat()).expect("read"), blob);

    let mut copied = blob;
    *copied.extras_mut() = BlobExtras {
        copy: Some(CopyState {
            id: uuid::Uuid::from_u128(0x12),
            source: "u".into(),
            status: CopyStatus::Aborted,
            copied: 1,
            total: 2,
            completed: Some(Timestamp(3)),
            description: Some("w".into()),
            destination_snapshot: None,
        }),
        incremental_copy: true,
        rehydration: Some(Rehydration {
            to: Tier::Cool,
            priority: RehydratePriority::High,
            due: Timestamp(4),
        }),
        expires: Some(Timestamp(5)),
        last_accessed: Some(Timestamp(6)),
        immutability: Some(ImmutabilityPolicy { until: Timestamp(7), mode: ImmutabilityMode::Locked }),
        legal_hold: true,
        version: Some(Timestamp(8)),
        deletion: Some(SoftDeletion { deleted: Timestamp(9), until: Timestamp(10) }),
    };
    let extras = "0112017502010201030101770001010101040105010601070101010801090a";
    assert_bytes(&copied, &format!("02{fields}01{extras}"));
}

/// An MD5 takes the bytes that an `Option` of a digest takes, which it was once.
#[test]
fn an_md5() {
    for digest in [None, Some([7; 16])] {
        let plain = Content::empty();
        let headers = ContentHeaders { content_md5: digest.into(), ..ContentHeaders::default() };
        let stored = postcard::to_stdvec(&digest).expect("written");
        let written = write(&blob::BlobV2::from(&BlobRecord {
            kind: BlobType::Block,
            created: Timestamp(0),
            etag: ETag(0),
            last_modified: Timestamp(0),
            content: plain,
            headers,
            metadata: Metadata::default(),
            tags: Tags::default(),
            lease: None,
            tier: None,
            customer_key: None,
            encryption_scope: None,
            snapshots: 0,
            sequence_number: 0,
            sealed: false,
            extras: None,
        }));
        // Shape, type, three moments, content, five headers.
        assert!(written[1 + 1 + 3 + 3 + 5..].starts_with(&stored));
    }
}

#[test]
fn a_container() {
    let container = ContainerRecord {
        generation: Generation([3; 12]),
        created: Timestamp(1),
        etag: ETag(2),
        last_modified: Timestamp(3),
        metadata: metadata(),
        public_access: PublicAccess::Container,
        policies: policies(),
        lease: lease(),
        default_encryption_scope: Some("s".into()),
        deny_encryption_scope_override: true,
    };
    assert_bytes(
        &container,
        "010303030303030303030303030102030101610162020101690101000101720111013c01070001017301",
    );
    let deletion = SoftDeletion { deleted: Timestamp(5), until: Timestamp(300) };
    assert_bytes(
        &DeletedContainer { container, deletion },
        "010303030303030303030303030102030101610162020101690101000101720111013c0107000101730105ac02",
    );
}

#[test]
fn contents_and_blocks() {
    assert_bytes(&BlockRecord { content: content(), staged_at: Timestamp(8) }, "020921010200071e01090308");
    let mut staged = StagedRecord {
        stage: ContentId(5),
        id_length: 6,
        created: Timestamp(7),
        touched: Timestamp(7),
        lease: lease(),
        customer_key: None,
        encryption_scope: None,
    };
    assert_bytes(&staged, "020506070111013c010700000007");
    let first = [1, 5, 6, 7, 1, 0x11, 1, 0x3c, 1, 7, 0];
    assert_eq!(StagedRecord::decode(&first).expect("read"), staged, "the first shape");
    staged.customer_key = Some(CustomerKeyHash([5; 32]));
    staged.touched = Timestamp(300);
    assert_bytes(&staged, &format!("020506070111013c01070001{}00ac02", "05".repeat(32)));
    let manifest =
        Content { id: ContentId(1), length: 2, shape: content::Shape::Manifest { blocks: 3, named: true } };
    let blocks = vec![
        ListedBlock { name: vec![1, 2], content: content() },
        ListedBlock { name: vec![], content: manifest },
    ];
    assert_bytes(&Segment { start: 4, blocks }, "0204020201020921010200071e010903000102020301");
    assert_bytes(&Content::empty(), "01000000");
    assert_bytes(&Holders(300), "01ac02");
    assert_bytes(&DeadContent::Pieces(vec![Piece::Chunk { id: 1, len: 2, seal: None }]), "010001000102");
    let seal = Some(Seal { key: KeyName(3), salt: 4 });
    assert_bytes(&DeadContent::Pieces(vec![Piece::Chunk { id: 1, len: 2, seal }]), "0100010201020304");
    let inline = Piece::Inline { id: ContentId(1), len: 2, seal };
    assert_bytes(&DeadContent::Pieces(vec![inline]), "0100010301020304");
    assert_bytes(&DeadContent::Manifest, "0101");
    assert_bytes(&DeadContent::Segments, "0102");
    assert_bytes(&DeadContent::Stage, "0103");
    assert_bytes(&DeadContent::Absorb, "0104");
    assert_bytes(&DeadSnapshots { from: 7, up_to: 300 }, "02ac0207");
    assert_eq!(DeadSnapshots::decode(&[1, 0xac, 2]).expect("read"), DeadSnapshots { from: 0, up_to: 300 });
    let deletion = SoftDeletion { deleted: Timestamp(5), until: Timestamp(300) };
    let kept = KeptTogether { from: 1, up_to: 300, deletion, count: 7 };
    assert_bytes(&KeptSnapshots(vec![kept]), "010101ac0205ac0207");
}

#[test]
fn events() {
    let event = EventRow {
        id: uuid::Uuid::from_u128(1),
        kind: EventType::BlobDeleted,
        raised: Timestamp(2),
        account: "a".into(),
        container: "c".into(),
        blob: "b".into(),
        api: "d".into(),
        request_id: uuid::Uuid::from_u128(3),
        client_request_id: Some("i".into()),
        endpoint: "e".into(),
        etag: ETag(4),
        content_type: None,
        content_length: 5,
        blob_type: BlobType::Append,
        tier: Some(Tier::Cool),
        sequence: 6,
        tries: 7,
    };
    assert_bytes(&event, "01010102016101630162016403010169016504000502010106 07".replace(' ', "").as_str());
}

#[test]
fn queues_and_tables() {
    let queue = QueueRecord {
        messages: Generation([3; 12]),
        created: Timestamp(1),
        metadata: metadata(),
        policies: policies(),
    };
    assert_bytes(&queue, "01030303030303030303030303010101610162010169010100010172");
    let message = MessageFields {
        inserted: 1,
        expires: Some(2),
        visible: 3,
        receipt: 4,
        dequeue_count: 5,
        text: Text::Inline("t".into()),
    };
    assert_bytes(&message, "01010102030405000174");
    let apart = MessageFields { expires: None, text: Text::Apart(ContentId(6)), ..message };
    assert_bytes(&apart, "0101000304050106");
    let table = TableRecord {
        name: "T".into(),
        generation: Generation([3; 12]),
        created: Timestamp(1),
        policies: policies(),
    };
    assert_bytes(&table, "01015403030303030303030303030301010169010100010172");
}

#[test]
fn service_properties() {
    let retention = RetentionPolicy { enabled: true, days: Some(7), allow_permanent_delete: Some(false) };
    let properties = ServiceProperties {
        logging: Logging {
            version: "2.0".into(),
            read: true,
            write: false,
            delete: true,
            retention: retention.clone(),
        },
        hour_metrics: Metrics {
            version: "1.0".into(),
            enabled: true,
            include_apis: Some(true),
            retention: retention.clone(),
        },
        minute_metrics: Metrics::default(),
        cors: vec![CorsRule {
            allowed_methods: vec!["GET".into()],
            allowed_origins: vec!["*".into()],
            allowed_headers: vec!["h".into()],
            exposed_headers: vec!["x".into()],
            max_age_seconds: 200,
        }],
        delete_retention: retention,
        static_website: StaticWebsite {
            enabled: true,
            index_document: Some("i".into()),
            error_document_404_path: Some("4".into()),
            default_index_document_path: None,
        },
        default_service_version: Some("v".into()),
        protocols: ProtocolSettings {
            smb_multichannel: true,
            smb_versions: Some("3".into()),
            smb_authentication_methods: None,
            smb_kerberos_ticket_encryption: None,
            smb_channel_encryption: Some("c".into()),
            smb_encryption_required: Some(true),
            nfs_encryption_required: None,
        },
    };
    const SECOND: &str = "010101330000010163010100";
    let first = "03322e30010001010107010003312e30010101010107010003312e30000000000001010347455401012a010168010178c8\
         0101010701000101016901013400010176";
    assert_bytes(&properties, &format!("02{first}{SECOND}"));
    // What was written before files had settings of their own.
    let first = format!("01{first}");
    let bytes: Vec<u8> =
        (0..first.len()).step_by(2).map(|at| u8::from_str_radix(&first[at..at + 2], 16).unwrap()).collect();
    let before = ServiceProperties { protocols: ProtocolSettings::default(), ..properties };
    assert_eq!(ServiceProperties::decode(&bytes).expect("read"), before);
}

#[test]
fn a_value_of_an_older_shape_is_read_step_by_step() {
    let pieces = || vec![PieceV1::Chunk { id: 7, len: 30 }, PieceV1::Inline { id: ContentId(9), len: 3 }];
    let content = Content { id: ContentId(7), ..content() };
    let block = write(&BlockV1 { size: 33, pieces: pieces(), staged_at: 5 });
    let expected = BlockRecord { content: content.clone(), staged_at: Timestamp(5) };
    assert_eq!(BlockRecord::decode(&block).expect("read"), expected);

    let listed = |pieces, size| ListedBlockV1 { name: vec![1], size, pieces, borrowed: true };
    let segment = write(&SegmentV1 { start: 4, blocks: vec![listed(pieces(), 33), listed(vec![], 0)] });
    let block = |content| ListedBlock { name: vec![1], content };
    let expected = Segment { start: 4, blocks: vec![block(content), block(Content::empty())] };
    assert_eq!(Segment::decode(&segment).expect("read"), expected);
}

#[test]
fn a_shape_of_the_future_is_refused() {
    fn refused<R: Record>() {
        for number in [0, R::newest_shape() + 1, u8::MAX] {
            let why = R::decode(&[number, 0, 0, 0]).err().expect("refused").to_string();
            assert!(why.contains(&format!("{}: unknown shape {number}", R::NAME)), "{why}");
        }
        assert!(R::decode(&[]).is_err());
    }
    refused::<BlobRecord>();
    refused::<Segment>();
    refused::<QueueRecord>();
}
