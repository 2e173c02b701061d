//! Copies of page and append blobs against a model: three names and their snapshots, each of which can be copied over each
//! name, written to, deleted, and swept in between. Neither side of a copy ever shows on the other, and nothing is left.

use lazuli_model::blob::{BlobType, CopyStatus};
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::Op;
use lazuli_model::time::Timestamp;
use lazuli_service::blob::*;
use proptest::prelude::*;

use crate::support::{Bench, at, copying};

const NAMES: [&str; 3] = ["a", "b", "c"];
const PAGES: usize = 60;
const PAGE: usize = 512;

#[derive(Clone, Debug)]
enum Step {
    /// Name, where, how much.
    Write(usize, usize, usize),
    Clear(usize, usize, usize),
    Snapshot(usize),
    DropSnapshot(usize, usize),
    /// From a name or one of its snapshots, to a name.
    Copy(usize, Option<usize>, usize),
    Delete(usize),
    Sweep,
}

fn step() -> impl Strategy<Value = Step> {
    let name = || 0..NAMES.len();
    prop_oneof![
        6 => (name(), 0..PAGES, 1..45usize).prop_map(|(name, from, length)| Step::Write(name, from, length)),
        2 => (name(), 0..PAGES, 1..PAGES).prop_map(|(name, from, length)| Step::Clear(name, from, length)),
        2 => name().prop_map(Step::Snapshot),
        2 => (name(), any::<usize>()).prop_map(|(name, which)| Step::DropSnapshot(name, which)),
        6 => (name(), any::<Option<usize>>(), name()).prop_map(|(from, which, to)| Step::Copy(from, which, to)),
        1 => name().prop_map(Step::Delete),
        3 => Just(Step::Sweep),
    ]
}

/// What a name should have.
#[derive(Clone, Default)]
struct Expected {
    bytes: Vec<u8>,
    blocks: u32,
    snapshots: Vec<(Timestamp, Vec<u8>, u32)>,
}

struct World {
    bench: Bench,
    kind: BlobType,
    names: [Option<Expected>; 3],
}

impl World {
    async fn make(&mut self, name: usize) {
        if self.names[name].is_some() {
            return;
        }
        let mut made = Expected::default();
        match self.kind {
            BlobType::Page => {
                self.bench.create_pages(NAMES[name], PAGES as u64).await;
                made.bytes = vec![0; PAGES * PAGE];
            }
            _ => drop(self.bench.create_append_blob(NAMES[name]).await.unwrap()),
        }
        self.names[name] = Some(made);
    }

    async fn act(&mut self, number: usize, step: Step) {
        let fill = (number % 250 + 1) as u8;
        match step {
            Step::Write(name, from, length) => {
                self.make(name).await;
                let Some(expected) = &mut self.names[name] else { return };
                if self.kind == BlobType::Append {
                    let block = vec![fill; length * PAGE];
                    let appended = self.bench.append(NAMES[name], &block).await.unwrap();
                    assert_eq!(appended.block.offset, expected.bytes.len() as u64);
                    expected.bytes.extend(block);
                    expected.blocks += 1;
                    assert_eq!(appended.block.blocks, expected.blocks);
                    return;
                }
                let length = length.min(PAGES - from);
                self.bench.put_pages(NAMES[name], from as u64, length as u64, fill).await.unwrap();
                expected.bytes[from * PAGE..(from + length) * PAGE].fill(fill);
            }
            Step::Clear(name, from, length) => {
                if self.kind == BlobType::Append || self.names[name].is_none() {
                    return;
                }
                let length = length.min(PAGES - from);
                self.bench.clear_pages(NAMES[name], from as u64, length as u64).await.unwrap();
                if let Some(expected) = &mut self.names[name] {
                    expected.bytes[from * PAGE..(from + length) * PAGE].fill(0);
                }
            }
            Step::Snapshot(name) => {
                let Some(expected) = &mut self.names[name] else { return };
                let moment = self.bench.snapshot(NAMES[name]).await.unwrap();
                expected.snapshots.push((moment, expected.bytes.clone(), expected.blocks));
            }
            Step::DropSnapshot(name, which) => {
                let Some(expected) = &mut self.names[name] else { return };
                if !expected.snapshots.is_empty() {
                    let (moment, ..) = expected.snapshots.remove(which % expected.snapshots.len());
                    self.bench.delete(NAMES[name], Some(moment), None).await.unwrap();
                }
            }
            Step::Copy(from, which, to) => {
                self.make(from).await;
                let Some(source) = self.names[from].clone() else { return };
                let snapshot = which.filter(|_| !source.snapshots.is_empty());
                let snapshot = snapshot.map(|which| source.snapshots[which % source.snapshots.len()].clone());
                let moment = snapshot.as_ref().map(|(moment, ..)| *moment);
                let before = self.bench.services.engine().extents().stats().live_bytes;
                let copied = self.bench.copy(Op::CopyBlob, NAMES[from], moment, NAMES[to]).await.unwrap();
                assert_eq!(copied.status, CopyStatus::Success);
                assert_eq!(self.bench.services.engine().extents().stats().live_bytes, before, "a byte moved");
                let target = self.names[to].get_or_insert_default();
                (target.bytes, target.blocks) = match snapshot {
                    Some((_, bytes, blocks)) => (bytes, blocks),
                    None => (source.bytes, source.blocks),
                };
            }
            Step::Delete(name) => {
                if self.names[name].take().is_some() {
                    let all = Some(DeleteSnapshots::Include);
                    self.bench.delete(NAMES[name], None, all).await.unwrap();
                }
            }
            Step::Sweep => self.bench.sweep().await,
        }
    }

    async fn check(&self) {
        for (name, expected) in NAMES.into_iter().zip(&self.names) {
            let Some(expected) = expected else { continue };
            assert!(self.bench.get(name, None).await.unwrap() == expected.bytes, "the bytes of {name}");
            let found = self.bench.properties(name).await.unwrap();
            assert_eq!((found.kind, found.committed_blocks()), (self.kind, expected.blocks), "{name}");
            for (moment, bytes, _) in &expected.snapshots {
                let found = self.bench.get(name, Some(*moment)).await.unwrap();
                assert!(found == *bytes, "the bytes of a snapshot of {name}");
            }
        }
    }

    async fn run(kind: BlobType, steps: Vec<Step>) {
        let mut world = Self { bench: Bench::new().await, kind, names: [None, None, None] };
        for (number, step) in (1..).zip(steps) {
            world.act(number, step).await;
            world.check().await;
        }
        for name in 0..NAMES.len() {
            world.act(0, Step::Delete(name)).await;
        }
        world.bench.sweep().await;
        assert_eq!(world.bench.services.engine().extents().stats().live_bytes, 0, "chunks left behind");
        let left = world.bench.keys().await;
        assert!(left.iter().all(|key| key.starts_with(['c', 'o'])), "keys left behind: {left:?}");
        assert_eq!(world.bench.services.passed_over(), 0);
    }
}

fn block_on(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(work);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn copies_of_pages_go_on_alone(steps in prop::collection::vec(step(), 1..40)) {
        block_on(World::run(BlobType::Page, steps));
    }

    #[test]
    fn copies_of_appended_blocks_go_on_alone(steps in prop::collection::vec(step(), 1..40)) {
        block_on(World::run(BlobType::Append, steps));
    }
}

/// A copy over a blob of another type is refused, and Copy Blob From URL takes block blobs only; Put Blob From URL makes a
/// block blob of every source.
#[tokio::test]
async fn a_blob_keeps_its_type() {
    let bench = Bench::new().await;
    bench.put("block", b"block").await.unwrap();
    bench.create_append_blob("append").await.unwrap();
    bench.append("append", b"append").await.unwrap();
    bench.create_pages("page", 2).await;
    bench.put_pages("page", 0, 1, 7).await.unwrap();
    let all = ["block", "append", "page"];
    for from in all {
        for to in all.into_iter().filter(|to| *to != from) {
            let refused = bench.copy(Op::CopyBlob, from, None, to).await.unwrap_err().0.code;
            assert_eq!(refused, ErrorCode::InvalidBlobType, "{from} over {to}");
        }
        if from != "block" {
            let refused = bench.copy(Op::CopyBlobFromUrl, from, None, "new").await.unwrap_err().0.code;
            assert_eq!(refused, ErrorCode::InvalidSourceBlobType, "{from}");
        }
        bench.copy(Op::PutBlobFromUrl, from, None, "put").await.unwrap();
        assert_eq!(bench.properties("put").await.unwrap().kind, BlobType::Block);
        assert_eq!(bench.get("put", None).await.unwrap(), bench.get(from, None).await.unwrap());
    }
}

/// The sequence number comes along; the seal comes only when it is asked for.
#[tokio::test]
async fn what_the_type_of_a_copy_takes_along() {
    let bench = Bench::new().await;
    let input = PutPageBlob {
        at: at("page"),
        preconditions: Default::default(),
        properties: BlobProperties::default(),
        length: 512,
        sequence_number: 42,
    };
    input.execute(&bench.services, &bench.context).await.unwrap();
    bench.copy(Op::CopyBlob, "page", None, "copy").await.unwrap();
    assert_eq!(bench.properties("copy").await.unwrap().sequence_number, 42);

    bench.create_append_blob("log").await.unwrap();
    bench.append("log", b"line").await.unwrap();
    let source = |name: &str| {
        CopySource::Own(OwnSource {
            account: bench.context.account.clone(),
            at: at(name),
            state: BlobState::Base,
            preconditions: Default::default(),
            customer_key: None,
        })
    };
    let op = lazuli_model::operation::WritingOp::of(Op::CopyBlob).unwrap();
    for seals in [true, false] {
        let mut copy = copying(source("log"), "sealed");
        copy.given.seals = seals;
        copy.execute(&bench.services, &bench.context, op).await.unwrap();
        assert_eq!(bench.properties("sealed").await.unwrap().sealed, seals);
        let appended = bench.append("sealed", b"more").await;
        assert_eq!(appended.is_err(), seals);
    }
    assert_eq!(bench.get("sealed", None).await.unwrap(), b"linemore");
    assert_eq!(bench.get("log", None).await.unwrap(), b"line");
    let mut copy = copying(source("page"), "other");
    copy.given.seals = true;
    let refused = copy.execute(&bench.services, &bench.context, op).await.unwrap_err().0.code;
    assert_eq!(refused, ErrorCode::InvalidBlobType);
}

/// One snapshot after the other, each of which the copy keeps whatever becomes of the source's.
#[tokio::test]
async fn incremental_copies_hold_what_changed() {
    let bench = Bench::new().await;
    bench.create_pages("disk", PAGES as u64).await;
    let copy = async |moment: Option<Timestamp>, from: &str, to: &str| {
        let input = IncrementalCopyBlob {
            at: at(to),
            preconditions: Default::default(),
            source: OwnSource {
                account: bench.context.account.clone(),
                at: at(from),
                state: moment.into(),
                preconditions: Default::default(),
                customer_key: None,
            },
            shown_source: format!("http://h/{from}?snapshot=x"),
        };
        input.execute(&bench.services, &bench.context).await.map_err(|fault| fault.0.code)
    };
    let live = || bench.services.engine().extents().stats().live_bytes;
    let mut taken = Vec::new();
    for number in 1..=6u8 {
        // Every other write is long enough for chunks.
        let pages = if number % 2 == 0 { 40 } else { 2 };
        bench.put_pages("disk", u64::from(number), pages, number).await.unwrap();
        let moment = bench.snapshot("disk").await.unwrap();
        let before = live();
        copy(Some(moment), "disk", "backup").await.unwrap();
        assert_eq!(live(), before, "no byte moves");
        let base = bench.properties("backup").await.unwrap();
        assert_eq!(base.snapshots, u32::from(number));
        let own = base.extras().copy.as_ref().and_then(|copy| copy.destination_snapshot).unwrap();
        taken.push((moment, own, bench.get("disk", None).await.unwrap()));
        assert_eq!(
            bench.get("backup", None).await.unwrap_err().0.code,
            ErrorCode::OperationNotAllowedOnIncrementalCopyBlob
        );
        for (earlier, ..) in &taken {
            let refused = copy(Some(*earlier), "disk", "backup").await.unwrap_err();
            assert_eq!(refused, ErrorCode::IncrementalCopyOfEarlierSnapshotNotAllowed);
        }
        bench.sweep().await;
    }
    assert_eq!(
        copy(None, "disk", "backup").await.unwrap_err(),
        ErrorCode::IncrementalCopySourceMustBeSnapshot
    );
    // What another snapshot changed is told as between snapshots of one blob.
    let (_, first, _) = taken[0];
    let (_, last, _) = taken[5];
    let told = bench.ranges("backup", Some(last), Some(first)).await.unwrap();
    assert_eq!(told, [(2, 46, false)]);
    // A blob that shares the layers is not the one that was copied, nor is one that was made anew.
    bench.copy(Op::CopyBlob, "disk", None, "twin").await.unwrap();
    let twin = bench.snapshot("twin").await.unwrap();
    assert_eq!(copy(Some(twin), "twin", "backup").await.unwrap_err(), ErrorCode::IncrementalCopyBlobMismatch);
    bench.delete("disk", None, Some(DeleteSnapshots::Include)).await.unwrap();
    bench.sweep().await;
    bench.create_pages("disk", PAGES as u64).await;
    let anew = bench.snapshot("disk").await.unwrap();
    assert_eq!(copy(Some(anew), "disk", "backup").await.unwrap_err(), ErrorCode::BlobOverwritten);
    for (_, own, bytes) in &taken {
        assert!(bench.get("backup", Some(*own)).await.unwrap() == *bytes);
    }
    for (_, own, _) in taken.drain(..3) {
        bench.delete("backup", Some(own), None).await.unwrap();
        bench.sweep().await;
    }
    for (_, own, bytes) in &taken {
        assert!(bench.get("backup", Some(*own)).await.unwrap() == *bytes);
    }
    for name in ["backup", "twin", "disk"] {
        bench.delete(name, None, Some(DeleteSnapshots::Include)).await.unwrap();
    }
    bench.sweep().await;
    assert_eq!(live(), 0, "chunks left behind");
    let left = bench.keys().await;
    assert!(left.iter().all(|key| key.starts_with(['c', 'o'])), "keys left behind: {left:?}");
}

/// Copies of copies, each of them appended to, stand on each other only so high.
#[tokio::test]
async fn copies_of_copies_stay_shallow() {
    let bench = Bench::new().await;
    bench.create_append_blob("0").await.unwrap();
    let mut expected = Vec::new();
    let mut moved = 0;
    let live = || bench.services.engine().extents().stats().live_bytes;
    for number in 0..20u8 {
        bench.append(&number.to_string(), &[number; 30_000]).await.unwrap();
        expected.extend([number; 30_000]);
        let to = (number + 1).to_string();
        let before = live();
        bench.copy(Op::CopyBlob, &number.to_string(), None, &to).await.unwrap();
        assert!(bench.get(&to, None).await.unwrap() == expected, "{to}");
        assert_eq!(bench.properties(&to).await.unwrap().committed_blocks(), u32::from(number) + 1);
        moved += u32::from(live() > before);
        // A copy that was not appended to is copied again without going higher.
        for _ in 0..12 {
            bench.copy(Op::CopyBlob, &to, None, "again").await.unwrap();
            bench.copy(Op::CopyBlob, "again", None, &to).await.unwrap();
        }
        assert!(bench.get(&to, None).await.unwrap() == expected, "{to}");
    }
    assert_eq!(moved, 2, "the bytes of the highest are copied, and no others");
    for number in 0..=20 {
        bench.delete(&number.to_string(), None, None).await.unwrap();
        bench.sweep().await;
    }
    bench.delete("again", None, None).await.unwrap();
    bench.sweep().await;
    let left = bench.keys().await;
    assert!(left.iter().all(|key| key.starts_with(['c', 'o'])), "keys left behind: {left:?}");
}

/// To copy a page blob again and again adds no layer to it.
#[tokio::test]
async fn a_source_that_is_copied_often_stays_shallow() {
    let bench = Bench::new().await;
    bench.create_pages("page", 4).await;
    bench.put_pages("page", 1, 1, 9).await.unwrap();
    bench.copy(Op::CopyBlob, "page", None, "first").await.unwrap();
    let once = bench.properties("page").await.unwrap().content.id;
    for number in 0..50 {
        bench.copy(Op::CopyBlob, "page", None, &format!("copy{number}")).await.unwrap();
    }
    assert_eq!(bench.properties("page").await.unwrap().content.id, once);
    bench.put_pages("page", 2, 1, 8).await.unwrap();
    let first = bench.get("first", None).await.unwrap();
    assert_eq!(first, bench.get("copy49", None).await.unwrap());
    assert_ne!(first, bench.get("page", None).await.unwrap());
}
