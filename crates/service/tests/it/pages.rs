//! Page blobs against a model: vectors of pages, each with the moment of its last change.

use bytes::Bytes;
use lazuli_model::admission::Preconditions;
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;
use lazuli_service::blob::*;
use lazuli_service::{Answer, Body};
use proptest::prelude::*;

use crate::support::{Bench, at, drain};

const PAGE: u64 = 512;

impl Bench {
    pub async fn create_pages(&self, name: &str, pages: u64) {
        let input = PutPageBlob {
            at: at(name),
            preconditions: Preconditions::default(),
            properties: BlobProperties::default(),
            length: pages * PAGE,
            sequence_number: 0,
        };
        input.execute(&self.services, &self.context).await.unwrap();
    }

    pub async fn put_pages(&self, name: &str, from: u64, pages: u64, fill: u8) -> Answer<PageStored> {
        let input = PutPage {
            at: at(name),
            preconditions: Preconditions::default(),
            range: from * PAGE..(from + pages) * PAGE,
            digests: Digests::default(),
            body: Body::from(Bytes::from(vec![fill; (pages * PAGE) as usize])),
            customer_key: None,
        };
        input.execute(&self.services, &self.context).await
    }

    pub async fn clear_pages(&self, name: &str, from: u64, pages: u64) -> Answer<()> {
        let range = from * PAGE..(from + pages) * PAGE;
        let input =
            ClearPages { at: at(name), preconditions: Preconditions::default(), range, customer_key: None };
        input.execute(&self.services, &self.context).await.map(drop)
    }

    pub async fn resize(&self, name: &str, pages: u64) {
        let input = SetBlobProperties {
            at: at(name),
            preconditions: Preconditions::default(),
            headers: None,
            length: Some(pages * PAGE),
            sequence_number: None,
        };
        input.execute(&self.services, &self.context).await.unwrap();
    }

    /// First page, end and whether cleared, of each range.
    pub async fn ranges(
        &self,
        name: &str,
        snapshot: Option<Timestamp>,
        previous: Option<Timestamp>,
    ) -> Answer<Vec<(u64, u64, bool)>> {
        let mut found = Vec::new();
        let mut from = 0;
        loop {
            let input = GetPageRanges {
                at: at(name),
                snapshot,
                previous,
                preconditions: Preconditions::default(),
                range: None,
                from,
                limit: 3,
            };
            let (page, ..) = input.execute(&self.services, &self.context).await?;
            found.extend(
                page.ranges.iter().map(|range| (range.start / PAGE, range.end / PAGE, range.cleared)),
            );
            match page.next {
                Some(next) => from = next,
                None => return Ok(found),
            }
        }
    }
}

/// A page: its byte, none where nothing was written, and when it was last changed.
type Page = (Option<u8>, usize);

fn bytes(pages: &[Page]) -> Vec<u8> {
    pages.iter().flat_map(|(fill, _)| [fill.unwrap_or(0); PAGE as usize]).collect()
}

fn written(pages: &[Page]) -> Vec<(u64, u64, bool)> {
    runs(pages.iter().map(|(fill, _)| fill.map(|_| false)))
}

fn changed(pages: &[Page], since: usize) -> Vec<(u64, u64, bool)> {
    runs(pages.iter().map(|(fill, at)| (*at > since).then_some(fill.is_none())))
}

fn runs(pages: impl Iterator<Item = Option<bool>>) -> Vec<(u64, u64, bool)> {
    let mut runs: Vec<(u64, u64, bool)> = Vec::new();
    for (number, kind) in (0..).zip(pages) {
        let Some(cleared) = kind else { continue };
        match runs.last_mut() {
            Some((_, end, last)) if *end == number && *last == cleared => *end += 1,
            _ => runs.push((number, number + 1, cleared)),
        }
    }
    runs
}

#[derive(Clone, Debug)]
enum Step {
    Write(u64, u64),
    Clear(u64, u64),
    Resize(u64),
    Snapshot,
    DropSnapshot(usize),
    Recreate,
    Sweep,
}

const MOST: u64 = 100;

fn step() -> impl Strategy<Value = Step> {
    // Up to 40 pages are inline and in chunks.
    prop_oneof![
        6 => (0..MOST, 1..40u64).prop_map(|(from, pages)| Step::Write(from, pages)),
        3 => (0..MOST, 1..60u64).prop_map(|(from, pages)| Step::Clear(from, pages)),
        1 => (1..MOST).prop_map(Step::Resize),
        2 => Just(Step::Snapshot),
        2 => any::<usize>().prop_map(Step::DropSnapshot),
        1 => Just(Step::Recreate),
        2 => Just(Step::Sweep),
    ]
}

struct World {
    bench: Bench,
    pages: Vec<Page>,
    /// Moment, pages then, step.
    snapshots: Vec<(Timestamp, Vec<Page>, usize)>,
    /// The step at which the blob was made: no diff reaches over it.
    made: usize,
}

impl World {
    async fn act(&mut self, number: usize, step: Step) {
        let length = self.pages.len() as u64;
        let within = |from: u64, pages: u64| (from % length, pages.min(length - from % length));
        match step {
            Step::Write(from, pages) => {
                let (from, pages) = within(from, pages);
                let fill = (number % 250 + 1) as u8;
                self.bench.put_pages("b", from, pages, fill).await.unwrap();
                self.pages[from as usize..(from + pages) as usize].fill((Some(fill), number));
            }
            Step::Clear(from, pages) => {
                let (from, pages) = within(from, pages);
                self.bench.clear_pages("b", from, pages).await.unwrap();
                self.pages[from as usize..(from + pages) as usize].fill((None, number));
            }
            Step::Resize(pages) => {
                self.bench.resize("b", pages).await;
                self.pages.resize(pages as usize, (None, number));
            }
            Step::Snapshot => {
                let moment = self.bench.snapshot("b").await.unwrap();
                self.snapshots.push((moment, self.pages.clone(), number));
            }
            Step::DropSnapshot(which) if !self.snapshots.is_empty() => {
                let (moment, ..) = self.snapshots.remove(which % self.snapshots.len());
                self.bench.delete("b", Some(moment), None).await.unwrap();
            }
            Step::DropSnapshot(_) => {}
            Step::Recreate => {
                self.bench.create_pages("b", MOST).await;
                self.pages = vec![(None, number); MOST as usize];
                self.made = number;
            }
            Step::Sweep => self.bench.sweep().await,
        }
    }

    async fn check(&self) {
        assert!(self.bench.get("b", None).await.unwrap() == bytes(&self.pages), "the blob's bytes");
        assert_eq!(self.bench.ranges("b", None, None).await.unwrap(), written(&self.pages));
        for (moment, pages, number) in &self.snapshots {
            assert!(self.bench.get("b", Some(*moment)).await.unwrap() == bytes(pages), "a snapshot's bytes");
            assert_eq!(self.bench.ranges("b", Some(*moment), None).await.unwrap(), written(pages));
            let since = self.bench.ranges("b", None, Some(*moment)).await;
            if *number < self.made {
                assert_eq!(since.unwrap_err().0.code, ErrorCode::BlobOverwritten);
            } else {
                // What is cleared again may be told or not: it reads the same.
                let told = since.unwrap();
                let changed = changed(&self.pages, *number);
                let data = |runs: &[(u64, u64, bool)]| {
                    runs.iter().filter(|(.., cleared)| !cleared).copied().collect::<Vec<_>>()
                };
                assert_eq!(data(&told), data(&changed));
                for (start, end, _) in told.iter().filter(|(.., cleared)| *cleared) {
                    let pages = &self.pages[*start as usize..*end as usize];
                    assert!(pages.iter().all(|(fill, at)| fill.is_none() && at > number), "{told:?}");
                }
                // What was there before and is gone must be told.
                for (page, (fill, at)) in (0..).zip(&self.pages) {
                    let was = pages.get(page as usize).is_some_and(|(fill, _)| fill.is_some());
                    if fill.is_none() && at > number && was {
                        assert!(
                            told.iter()
                                .any(|(start, end, cleared)| *cleared && (*start..*end).contains(&page))
                        );
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn pages_are_what_was_written_last(steps in prop::collection::vec(step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::new().await;
            bench.create_pages("b", MOST).await;
            let pages = vec![(None, 0); MOST as usize];
            let mut world = World { bench, pages, snapshots: Vec::new(), made: 0 };
            for (number, step) in (1..).zip(steps) {
                world.act(number, step).await;
                world.check().await;
            }
            world.bench.delete("b", None, Some(DeleteSnapshots::Include)).await.unwrap();
            world.bench.sweep().await;
            assert_eq!(world.bench.services.engine().extents().stats().live_bytes, 0, "chunks left behind");
            let left = world.bench.keys().await;
            assert!(left.iter().all(|key| key.starts_with(['c', 'o'])), "keys left behind: {left:?}");
        });
    }
}

/// Small writes over much of the blob cut it up; a clear of all of it is one small commit whatever lies in it.
#[tokio::test]
async fn a_clear_of_many_pages_is_a_new_layer() {
    let bench = Bench::new().await;
    let pages = 5_000;
    bench.create_pages("b", pages).await;
    for page in (0..pages).step_by(2) {
        bench.put_pages("b", page, 1, 7).await.unwrap();
    }
    assert_eq!(bench.ranges("b", None, None).await.unwrap().len(), 2_500);
    bench.clear_pages("b", 1, pages - 2).await.unwrap();
    bench.put_pages("b", 100, 2, 9).await.unwrap();
    for _ in 0..2 {
        assert_eq!(bench.ranges("b", None, None).await.unwrap(), [(0, 1, false), (100, 102, false)]);
        let bytes = bench.get("b", None).await.unwrap();
        assert!(bytes.iter().filter(|byte| **byte == 9).count() == 1024);
        assert!(bytes.iter().filter(|byte| **byte == 7).count() == 512);
        // And when the sweeper has moved what is left into the new layer.
        bench.sweep().await;
    }
}

/// A clear does not read what it clears into memory: where much lies inline, it is a new layer too.
#[tokio::test]
async fn a_clear_holds_little_of_what_it_clears() {
    let bench = Bench::new().await;
    let (runs, pages) = (500, 32);
    bench.create_pages("b", runs * pages).await;
    for run in 0..runs {
        bench.put_pages("b", run * pages, pages, 7).await.unwrap();
    }
    // 8 MB inline, in fewer intervals than one commit takes.
    let layers = async || bench.keys().await.iter().filter(|key| key.starts_with('n')).count();
    assert_eq!(layers().await, 0);
    bench.clear_pages("b", 0, runs * pages).await.unwrap();
    assert_eq!(layers().await, 1, "a layer over the old one");
    assert!(bench.ranges("b", None, None).await.unwrap().is_empty());
    bench.sweep().await;
    assert_eq!(layers().await, 0, "and the sweeper merges them");
}

/// Sparse to the limit: what was never written takes no room and is not walked through.
#[tokio::test]
async fn eight_tebibytes_of_holes() {
    let bench = Bench::new().await;
    let pages = (8 << 40) / PAGE;
    bench.create_pages("b", pages).await;
    bench.put_pages("b", pages - 1, 1, 5).await.unwrap();
    assert_eq!(bench.ranges("b", None, None).await.unwrap(), [(pages - 1, pages, false)]);
    let last = format!("bytes={}-", (pages - 2) * PAGE);
    let bytes = drain(bench.open("b", None, Some(&last)).await.unwrap()).await.unwrap();
    assert!(bytes[..512].iter().all(|byte| *byte == 0) && bytes[512..].iter().all(|byte| *byte == 5));
    assert_eq!(bytes.len(), 1024);
    bench.clear_pages("b", 0, pages).await.unwrap();
    assert!(bench.ranges("b", None, None).await.unwrap().is_empty());
}

/// A download shows the blob as it was when it began, whatever is written meanwhile.
#[tokio::test]
async fn a_download_is_not_disturbed_by_writes() {
    let bench = Bench::new().await;
    let pages = 4_096;
    bench.create_pages("b", pages).await;
    for page in (0..pages).step_by(512) {
        bench.put_pages("b", page, 512, 1).await.unwrap();
    }
    let mut open = bench.open("b", None, None).await.unwrap();
    let first = open.next().await.unwrap().unwrap();
    for page in (0..pages).step_by(512) {
        bench.put_pages("b", page, 512, 2).await.unwrap();
    }
    bench.sweep().await;
    let rest = drain(open).await.unwrap();
    assert!(first.iter().chain(&rest).all(|byte| *byte == 1) && first.len() + rest.len() == 2 << 20);
    assert!(bench.get("b", None).await.unwrap().iter().all(|byte| *byte == 2));
    bench.sweep().await;
    let live = bench.services.engine().extents().stats().live_bytes;
    assert_eq!(live, 2 << 20, "what was written over is given back after the download");
}

/// Writers of one page and of the whole blob: each page is of one writer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_side_by_side_tear_no_page() {
    let bench = std::sync::Arc::new(
        Bench::over(crate::testing::engine(lazuli_engine::Host::real()).await, Default::default()).await,
    );
    bench.create_pages("b", 64).await;
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 1..=8u8 {
        let bench = bench.clone();
        tasks.spawn(async move {
            for round in 0..10u64 {
                let (from, pages) = ((u64::from(writer) * 7 + round * 5) % 32, 1 + round * 3);
                bench.put_pages("b", from, pages, writer).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    bench.sweep().await;
    let bytes = bench.get("b", None).await.unwrap();
    for page in bytes.chunks(PAGE as usize) {
        assert!(page.iter().all(|byte| *byte == page[0]), "a page of two writers");
    }
}
