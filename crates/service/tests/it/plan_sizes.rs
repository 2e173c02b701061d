//! Whatever is filed under a dead container, queue or table, and whatever a stage, a list or a line of snapshots
//! holds: every commit that sweeps or deletes it stays under the engine's caps, and nothing is left. The engine
//! refuses a commit over a cap, so an item that was passed over is a commit that was too large.

use bytes::Bytes;
use lazuli_engine::{Key, Plan, Value};
use lazuli_model::blob::{BlobType, ContentHeaders};
use lazuli_model::etag::ETag;
use lazuli_model::metadata::Metadata;
use lazuli_model::tags::Tags;
use lazuli_model::time::Timestamp;
use lazuli_service::Fault;
use lazuli_service::blob::{BlobRecord, DeleteSnapshots};
use lazuli_service::store::key::{self, ContentId, Generation};
use lazuli_service::store::record::Record;
use lazuli_service::store::record::block::{BlockRecord, StagedRecord};
use lazuli_service::store::record::content::{Content, DeadContent, ListedBlock, Piece, Segment, Shape};
use lazuli_service::store::record::dead_snapshots::DeadSnapshots;
use lazuli_service::store::record::entity::{StoredBody, StoredEntity};
use lazuli_service::store::record::queue::{MessageFields, Text};

use crate::testing::Servers;
use proptest::prelude::*;

use crate::support::Bench;

const DEAD: Generation = Generation([7; 12]);

/// How many of each there are, and how long their names and how many their pieces.
#[derive(Clone, Debug)]
struct Debris {
    blobs: u32,
    snapshots: u32,
    staged: u32,
    blocks: u32,
    entities: u32,
    messages: u32,
    /// Segments of a manifest, of so many blocks each.
    segments: u32,
    listed: u32,
    name: usize,
    pieces: usize,
}

fn debris() -> impl Strategy<Value = Debris> {
    let count = || prop_oneof![Just(0), 1u32..30, 900u32..1_400];
    (
        (count(), count(), count(), count(), count(), count()),
        (0u32..12, prop_oneof![0u32..4, 200u32..600]),
        prop_oneof![Just(1usize), 50usize..200, Just(1_024 * 3)],
        prop_oneof![Just(1usize), 2usize..17],
    )
        .prop_map(
            |((blobs, snapshots, staged, blocks, entities, messages), (segments, listed), name, pieces)| {
                Debris {
                    blobs,
                    snapshots,
                    staged,
                    blocks,
                    entities,
                    messages,
                    segments,
                    listed,
                    name,
                    pieces,
                }
            },
        )
}

/// Ids of contents, none twice.
struct Ids(u128);

impl Ids {
    fn content(&mut self, pieces: usize) -> Content {
        self.0 += 1 << 20;
        let first = u128::MAX - self.0;
        // Inline pieces: deleting one costs the plan a write, as releasing a chunk costs it bytes.
        let pieces: Vec<Piece> = (0..pieces as u128)
            .map(|at| Piece::Inline { id: ContentId(first - at), len: 1, seal: None })
            .collect();
        Content { id: ContentId(first), length: pieces.len() as u64, shape: Shape::Pieces(pieces) }
    }
}

fn name(number: u32, length: usize) -> String {
    format!("{number:0>length$}")
}

/// Keys of guarded records are the store's own, so they are typed here as the key table has them.
fn raw(tag: &[u8], rest: &[&[u8]]) -> Key {
    [tag, &DEAD.0, &rest.concat()].concat().into()
}

fn blob(content: Content) -> Value {
    let record = BlobRecord {
        kind: BlobType::Block,
        created: Timestamp(1),
        etag: ETag(1),
        last_modified: Timestamp(1),
        content,
        headers: ContentHeaders::default(),
        metadata: Metadata::from_stored(vec![("k".into(), "v".repeat(8_000))]),
        tags: Tags::default(),
        lease: None,
        tier: None,
        customer_key: None,
        encryption_scope: None,
        snapshots: 0,
        sequence_number: 0,
        sealed: false,
        extras: None,
    };
    record.encode()
}

impl Debris {
    fn rows(&self) -> Vec<(Key, Value)> {
        let mut ids = Ids(0);
        let mut rows = vec![(key::dead_generation(DEAD), Value::new())];
        for number in 0..self.blobs {
            rows.push((raw(b"b", &[name(number, self.name).as_bytes()]), blob(ids.content(self.pieces))));
        }
        for number in 0..self.snapshots {
            let of = name(number % 3, self.name);
            rows.push((
                raw(b"s", &[of.as_bytes(), &[0], &u64::from(number).to_be_bytes()]),
                blob(ids.content(self.pieces)),
            ));
            rows.push((key::dead_snapshots(DEAD, &of), DeadSnapshots { from: 0, up_to: u64::MAX }.encode()));
        }
        for number in 0..self.staged {
            let stage = ContentId(u128::from(number) + 1);
            let created = Timestamp(1);
            let staged = StagedRecord {
                stage,
                id_length: 64,
                created,
                touched: created,
                lease: None,
                customer_key: None,
                encryption_scope: None,
            };
            rows.push((raw(b"h", &[name(number, self.name).as_bytes()]), staged.encode()));
            if number == 0 {
                for block in 0..self.blocks {
                    let content = ids.content(self.pieces * 80);
                    let record = BlockRecord { content, staged_at: Timestamp(1) };
                    rows.push((key::block(stage, name(block, 64).as_bytes()), record.encode()));
                }
            }
        }
        for number in 0..self.entities {
            let body = StoredBody::Segments { content: ids.content(0).id, length: 1 };
            let entity = StoredEntity { timestamp: Timestamp(1), body };
            // The longest keys that the service takes.
            let length = self.name.min(512);
            rows.push((
                raw(b"y", &[name(number, length).as_bytes(), &[0], name(number, length).as_bytes()]),
                entity.encode(),
            ));
        }
        for number in 0..self.messages {
            let text = Text::Apart(ids.content(0).id);
            let fields =
                MessageFields { inserted: 1, expires: None, visible: 1, receipt: 1, dequeue_count: 0, text };
            rows.push((raw(b"k", &[&u128::from(number).to_be_bytes()]), fields.encode()));
            rows.push((
                raw(b"v", &[&1u64.to_be_bytes(), &1u64.to_be_bytes(), &u128::from(number).to_be_bytes()]),
                Bytes::from_static(&[0; 8]),
            ));
        }
        let list = ContentId(u128::MAX);
        for number in 0..self.segments {
            let again = ids.content(4);
            let blocks: Vec<ListedBlock> = (0..self.listed)
                .map(|at| {
                    let content = if at % 5 == 0 { again.clone() } else { ids.content(4) };
                    ListedBlock { name: name(at, 8).into_bytes(), content }
                })
                .collect();
            rows.push((
                key::segment(list, u64::from(number) + 1, number),
                Segment { start: 0, blocks }.encode(),
            ));
        }
        rows.push((key::dead_content(list), DeadContent::Manifest.encode()));
        rows
    }
}

async fn write(services: &Servers, rows: Vec<(Key, Value)>) {
    for some in rows.chunks(8) {
        let put = |_| async move {
            let mut plan = Plan::new(());
            some.iter().for_each(|(key, value)| plan.put(key.clone(), value.clone()));
            Ok::<_, Fault>(plan)
        };
        services.engine().run(None, put).await.unwrap();
    }
}

async fn sweep(debris: Debris) {
    let bench = Bench::new().await;
    write(&bench.services, debris.rows()).await;
    bench.sweep().await;
    assert_eq!(bench.services.passed_over(), 0, "a commit was too large");
    assert_eq!(bench.keys().await, vec!["cacct\\x00c".to_owned()], "keys left behind");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn sweeping_commits_stay_under_the_caps(debris in debris()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(sweep(debris));
    }

    /// Delete Blob is one commit, however many snapshots there are and however long the name.
    #[test]
    fn deleting_commits_stay_under_the_caps(snapshots in 0usize..600, length in 1usize..1_024, only: bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::new().await;
            let name = "€".repeat(length);
            bench.put(&name, b"base").await.unwrap();
            for _ in 0..snapshots {
                bench.snapshot(&name).await.unwrap();
            }
            let what = if only { DeleteSnapshots::Only } else { DeleteSnapshots::Include };
            bench.delete(&name, None, Some(what)).await.unwrap();
            if only {
                bench.delete(&name, None, None).await.unwrap();
            }
            bench.sweep().await;
            assert_eq!(bench.services.passed_over(), 0);
            assert_eq!(bench.keys().await, vec!["cacct\\x00c".to_owned()], "keys left behind");
        });
    }
}
