use super::*;
use crate::local::store::Snapshot;
use crate::txn::{Plan, Scan};
use crate::{Engine, EngineError, Host, Options};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

const DELETED: usize = 20_000;
const LONG: Duration = Duration::from_secs(20);

fn key(number: usize) -> Key {
    Key::from(format!("b/{number:06}"))
}

async fn commit(engine: &Engine, change: impl Fn(&mut Plan<()>) + Send + Sync) {
    let change = &change;
    let plan = |_| async move {
        let mut plan = Plan::new(());
        change(&mut plan);
        Ok::<_, EngineError>(plan)
    };
    engine.run(None, plan).await.expect("commits");
}

/// How many of the deleted keys lie where a walk over all of them would read.
fn read_by_a_walk(engine: &Engine, reverse: bool) -> usize {
    let published = engine.published();
    let Snapshot::Embedded(snapshot) = &*published else { panic!("not on disk") };
    let mut count = 0;
    let mut rest = Some(KeyRange::prefix(&b"b/"[..]));
    while let Some(range) = rest
        && let Some(stretch) = snapshot.spaces.voids.stretch(range, snapshot.seq, reverse)
    {
        count += (0..DELETED).filter(|&number| stretch.range.contains(&key(number))).count();
        rest = stretch.rest;
    }
    count
}

async fn found(engine: &Engine, reverse: bool) -> Vec<Key> {
    let reader = engine.reader().await.expect("reads");
    let scan = Scan { reverse, ..Scan::of(KeyRange::prefix(&b"b/"[..])) };
    reader.scan(scan).await.expect("scans").items.into_iter().map(|(key, _)| key).collect()
}

async fn until_few_are_read(engine: &Engine) {
    let end = Instant::now() + LONG;
    let few = WORTH * SAMPLE as usize;
    loop {
        let read = [false, true].map(|reverse| read_by_a_walk(engine, reverse));
        if read.iter().all(|read| *read <= few) {
            return;
        }
        assert!(Instant::now() < end, "a list of two reads {read:?} deleted keys");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn open(dir: &Path) -> Engine {
    Engine::open(dir, Options::default(), Host::real()).expect("opens")
}

#[tokio::test]
async fn a_walk_does_not_read_what_was_deleted_long_ago() {
    let home = tempfile::tempdir().expect("a directory");
    let engine = open(home.path());
    let live = [Key::from("b/"), Key::from("b/z")];
    commit(&engine, |plan| live.iter().for_each(|key| plan.put(key.clone(), "live"))).await;
    for from in (0..DELETED).step_by(1_000) {
        commit(&engine, |plan| (from..from + 1_000).for_each(|number| plan.put(key(number), "dead"))).await;
    }
    for from in (0..DELETED).step_by(1_000) {
        commit(&engine, |plan| (from..from + 1_000).for_each(|number| plan.delete(key(number)))).await;
    }
    let before = engine.reader().await.expect("reads");
    until_few_are_read(&engine).await;
    assert_eq!(found(&engine, false).await, live);

    // What is put among them is there at once; a reader that began before does not see it.
    let middle = key(DELETED / 2);
    commit(&engine, |plan| plan.put(middle.clone(), "again")).await;
    for reverse in [false, true] {
        let mut expected = vec![live[0].clone(), middle.clone(), live[1].clone()];
        if reverse {
            expected.reverse();
        }
        assert_eq!(found(&engine, reverse).await, expected);
    }
    let seen = before.scan(Scan::of(KeyRange::prefix(&b"b/"[..]))).await.expect("scans").items.len();
    assert_eq!(seen, live.len());
    drop(before);
    commit(&engine, |plan| plan.delete(middle.clone())).await;

    engine.close().await.expect("closes");
    drop(engine);
    let engine = open(home.path());
    until_few_are_read(&engine).await;
    assert_eq!(found(&engine, true).await, [live[1].clone(), live[0].clone()]);
}

#[derive(Clone, Debug)]
enum Event {
    Commit(Vec<(u8, bool)>),
    /// Walks a range in the snapshot of so many commits ago, and tells what it found after so many more; what is told
    /// may also be judged at once and remembered later.
    Walk {
        ago: u8,
        judged: bool,
        from: u8,
        to: u8,
        reverse: bool,
    },
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => prop::collection::vec((0..60u8, any::<bool>()), 1..12).prop_map(Event::Commit),
        1 => (0..60u8, 0..40u8).prop_map(|(from, len)| {
            Event::Commit((from..from.saturating_add(len).min(60)).map(|key| (key, false)).collect())
        }),
        3 => (0..3u8, any::<bool>(), 0..60u8, 0..61u8, any::<bool>())
            .prop_map(|(ago, judged, from, to, reverse)| Event::Walk { ago, judged, from, to, reverse }),
    ]
}

fn small(number: u8) -> Key {
    Key::from(vec![b'k', number])
}

/// A gap, and what it was judged, if at once.
type Told = (KeyRange, Option<Judged>);

/// The live keys of a range, read stretch by stretch; and the gaps between them.
fn walk(
    voids: &Voids,
    live: &BTreeSet<Key>,
    range: KeyRange,
    seq: u64,
    reverse: bool,
) -> (BTreeSet<Key>, Vec<KeyRange>) {
    let (mut read, mut gaps) = (BTreeSet::new(), Vec::new());
    let mut rest = Some(range);
    while let Some(range) = rest
        && let Some(stretch) = voids.stretch(range, seq, reverse)
    {
        let mut start = stretch.range.start.clone();
        for key in live.range::<Key, _>(bounds(&stretch.range)) {
            read.insert(key.clone());
            gaps.push(KeyRange { start, end: Some(key.clone()) });
            start = successor(key);
        }
        gaps.push(KeyRange { start, end: stretch.range.end.clone() });
        rest = stretch.rest;
    }
    (read, gaps)
}

/// Commits and walks go on beside it.
#[test]
fn a_gap_with_few_samples_is_judged_without_the_write_lock() {
    let voids = Voids::default();
    let deletes: Vec<_> = (0..SAMPLE as u8).map(|number| (1, Write::Delete(small(number)))).collect();
    voids.written(&deletes, 1..=1);
    assert!(voids.sample_in(&KeyRange::prefix(&b"k"[..])).is_some(), "one sample");
    let reading = voids.state.read();
    std::thread::scope(|scope| {
        let (done, judged) = std::sync::mpsc::channel();
        let gap = KeyRange::new(small(0), small(60));
        let voids = &voids;
        scope.spawn(move || done.send(voids.found_empty(gap, 1)));
        let judged = judged.recv_timeout(LONG);
        drop(reading);
        assert_eq!(judged, Ok(true));
    });
}

#[test]
fn a_gap_with_samples_is_remembered_unless_a_put_came() {
    let deletes: Vec<_> = (0..60).map(|number| (1, Write::Delete(small(number)))).collect();
    let gap = || KeyRange::new(small(0), small(60));
    let voids = Voids::default();
    voids.written(&deletes, 1..=1);
    assert!(voids.found_empty(gap(), 1));
    assert!(voids.stretch(gap(), 1, false).is_none(), "nothing is left to walk");

    let voids = Voids::default();
    voids.written(&deletes, 1..=1);
    voids.written(&[(2, Write::Put(small(7), Key::new()))], 2..=2);
    assert!(!voids.found_empty(gap(), 1));
    assert!(voids.stretch(gap(), 2, false).is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_walk_misses_a_live_key(events in prop::collection::vec(event(), 1..60), late in 0..3usize) {
        let voids = Voids::default();
        // What is alive after each commit.
        let mut history = vec![BTreeSet::new()];
        let mut told: VecDeque<(u64, Vec<Told>)> = VecDeque::new();
        for event in events {
            match event {
                Event::Commit(writes) => {
                    let seq = history.len() as u64;
                    let mut live = history.last().expect("a state").clone();
                    let writes: BTreeMap<u8, bool> = writes.into_iter().collect();
                    let mut group = Vec::new();
                    for (number, put) in writes {
                        let key = small(number);
                        if put {
                            live.insert(key.clone());
                            group.push((seq, Write::Put(key, Key::new())));
                        } else {
                            live.remove(&key);
                            group.push((seq, Write::Delete(key)));
                        }
                    }
                    voids.written(&group, seq..=seq);
                    history.push(live);
                }
                Event::Walk { ago, judged, from, to, reverse } => {
                    let seq = (history.len() - 1).saturating_sub(usize::from(ago));
                    let range = KeyRange::new(small(from), small(to.max(from)));
                    let (read, gaps) = walk(&voids, &history[seq], range.clone(), seq as u64, reverse);
                    let alive: BTreeSet<Key> =
                        history[seq].iter().filter(|key| range.contains(key)).cloned().collect();
                    prop_assert_eq!(read, alive);
                    let judge = |gap: KeyRange| {
                        let state = voids.state.read();
                        let end = gap.end.as_ref().filter(|end| judged && gap.start < **end);
                        let judged = end.map(|end| state.judge(&gap.start, end, seq as u64));
                        (gap, judged)
                    };
                    told.push_back((seq as u64, gaps.into_iter().map(judge).collect()));
                }
            }
            while told.len() > late {
                let (seq, gaps) = told.pop_front().expect("not empty");
                for (gap, judged) in gaps {
                    match (judged, &gap.end) {
                        (Some(Judged::Worth { puts }), Some(end)) => {
                            voids.state.write().remember(gap.start, end.clone(), seq, puts);
                        }
                        (Some(_), _) => {}
                        (None, _) => {
                            voids.found_empty(gap, seq);
                        }
                    }
                }
            }
        }
    }
}
