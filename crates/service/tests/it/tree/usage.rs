//! How much a share holds, and its quota.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use tokio::task::JoinSet;

use super::*;

const GIB: u64 = 1 << 30;
const FULL: Result<(), ErrorCode> = Err(ErrorCode::ShareSizeLimitReached);

async fn bench(quota: u32) -> Bench {
    let bench = Bench::new().await;
    bench.create_share().await;
    bench.set_quota(quota).await;
    bench
}

/// Lengths count, whether bytes were written or not. What a snapshot shows does not.
#[tokio::test]
async fn lengths_count() {
    let bench = bench(2).await;
    assert_eq!(bench.usage().await, 0);
    bench.make_file("a", GIB).await.unwrap();
    bench.write_range("a", 0..100, 1).await.unwrap();
    assert_eq!(bench.usage().await, GIB);
    assert_eq!(code(bench.make_file("b", GIB + 1).await).map(drop), FULL);
    assert_eq!(code(bench.look(&at("b", None)).await).map(drop), Err(ErrorCode::ResourceNotFound));
    bench.make_file("b", GIB).await.unwrap();
    bench.make_file("empty", 0).await.unwrap();
    assert_eq!(code(bench.resize_file("empty", 1).await).map(drop), FULL);
    bench.snapshot_share().await;
    // To write within a length, or to shorten it, needs no room.
    bench.write_range("b", GIB - 10..GIB, 1).await.unwrap();
    bench.clear_range("b", 0..GIB).await.unwrap();
    bench.resize_file("a", 10).await.unwrap();
    assert_eq!(bench.usage().await, GIB + 10);
    bench.resize_file("empty", GIB - 10).await.unwrap();
    assert_eq!(code(bench.resize_file("a", 11).await).map(drop), FULL);
    // One that is put in the place of another counts for it.
    bench.make_file("b", 5).await.unwrap();
    bench.rename_path("a", "b", true).await.unwrap();
    assert_eq!(bench.usage().await, GIB);
    bench.delete_path("empty").await.unwrap();
    bench.delete_path("b").await.unwrap();
    assert_eq!(bench.usage().await, 0);
}

/// A quota below what is used keeps what there is, and lets nothing grow.
#[tokio::test]
async fn a_quota_that_is_lowered() {
    let bench = bench(10).await;
    for name in ["a", "b", "c"] {
        bench.make_file(name, 2 * GIB).await.unwrap();
    }
    bench.set_quota(5).await;
    assert_eq!(bench.usage().await, 6 * GIB);
    assert_eq!(code(bench.make_file("d", 1).await).map(drop), FULL);
    bench.write_range("a", 0..10, 1).await.unwrap();
    bench.make_file("a", 2 * GIB).await.unwrap();
    bench.resize_file("a", GIB / 2).await.unwrap();
    assert_eq!(code(bench.resize_file("a", GIB + 1).await).map(drop), FULL);
    bench.resize_file("a", GIB).await.unwrap();
    assert_eq!(code(bench.make_file("d", 1).await).map(drop), FULL);
    bench.set_quota(6).await;
    bench.make_file("d", GIB).await.unwrap();
    bench.set_quota(102_400).await;
    bench.make_file("e", 4_096 * GIB).await.unwrap();
}

#[derive(Clone, Debug)]
enum Step {
    Make(u8, u64),
    Resize(u8, u64),
    Delete(u8),
    Replace(u8, u8),
    Quota(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let length = || prop_oneof![0..100_u64, (0..6 * GIB), Just(GIB), Just(GIB / 512)];
    prop_oneof![
        4 => (0..12_u8, length()).prop_map(|(file, length)| Step::Make(file, length)),
        4 => (0..12_u8, length()).prop_map(|(file, length)| Step::Resize(file, length)),
        2 => (0..12_u8).prop_map(Step::Delete),
        2 => (0..12_u8, 0..12_u8).prop_map(|(from, to)| Step::Replace(from, to)),
        1 => (1..12_u32).prop_map(Step::Quota),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if crate::SERVERS == 1 { 64 } else { 16 }, ..ProptestConfig::default() })]

    /// One after another: what fits is taken, what does not is refused, and the count is exact.
    #[test]
    fn the_quota_is_exact(steps in prop::collection::vec(step(), 1..100)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = bench(4).await;
            let (mut files, mut quota) = (BTreeMap::<u8, u64>::new(), 4);
            let name = |file: u8| format!("f{file}");
            for step in &steps {
                let used: u64 = files.values().sum();
                let fits = |before: u64, after: u64| after <= before || used - before + after <= quota * GIB;
                match *step {
                    Step::Make(file, length) => {
                        let told = code(bench.make_file(&name(file), length).await).map(drop);
                        let fits = fits(files.get(&file).copied().unwrap_or(0), length);
                        assert_eq!(told, if fits { Ok(()) } else { FULL }, "{step:?} {files:?} {quota}");
                        if fits {
                            files.insert(file, length);
                        }
                    }
                    Step::Resize(file, length) => {
                        let Some(before) = files.get(&file).copied() else { continue };
                        let told = code(bench.resize_file(&name(file), length).await).map(drop);
                        let fits = fits(before, length);
                        assert_eq!(told, if fits { Ok(()) } else { FULL }, "{step:?} {files:?} {quota}");
                        if fits {
                            files.insert(file, length);
                        }
                    }
                    Step::Delete(file) => {
                        let told = bench.delete_path(&name(file)).await.is_ok();
                        assert_eq!(told, files.remove(&file).is_some());
                    }
                    Step::Replace(from, to) if from != to && files.contains_key(&from) => {
                        bench.rename_path(&name(from), &name(to), true).await.unwrap();
                        if let Some(length) = files.remove(&from) {
                            files.insert(to, length);
                        }
                    }
                    Step::Replace(..) => {}
                    Step::Quota(chosen) => {
                        bench.set_quota(chosen).await;
                        quota = u64::from(chosen);
                    }
                }
                assert_eq!(bench.usage().await, files.values().sum::<u64>());
            }
        });
    }
}

/// Clients that fill a share: not one byte more than its quota, and not one less.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_fill_a_share() {
    const CLIENTS: u64 = 16;
    let bench = Arc::new(bench(1).await);
    // Of these 48 fit, and 16 MiB are left.
    const LENGTH: u64 = GIB / 49 + 1;
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let bench = Arc::clone(&bench);
        clients.spawn(async move {
            let (mut made, mut number) = (0, 0);
            // Each ends when it is refused for the third time; others may have deleted something meanwhile.
            let mut refused = 0;
            while refused < 3 {
                let name = format!("{client}-{number}");
                number += 1;
                match code(bench.make_file(&name, LENGTH).await) {
                    Ok(_) if number % 4 == 0 => bench.delete_path(&name).await.unwrap(),
                    Ok(_) => made += 1,
                    Err(refusal) => {
                        assert_eq!(refusal, ErrorCode::ShareSizeLimitReached);
                        refused += 1;
                    }
                }
            }
            made
        });
    }
    let mut made = 0;
    while let Some(done) = clients.join_next().await {
        made += done.unwrap();
    }
    assert!(made <= 48, "{made}");
    assert_eq!(bench.usage().await, made * LENGTH);
    for number in made..48 {
        bench.make_file(&format!("more{number}"), LENGTH).await.unwrap();
    }
    assert_eq!(code(bench.make_file("most", LENGTH).await).map(drop), FULL);
    bench.make_file("rest", GIB - 48 * LENGTH).await.unwrap();
    assert_eq!(code(bench.make_file("one", 1).await).map(drop), FULL);
    assert_eq!(bench.usage().await, GIB);
}

/// The quota moves while clients write: what is counted is what is there, and it is never more than the largest quota.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_quota_changes_under_way() {
    let bench = Arc::new(bench(2).await);
    let mut clients = JoinSet::new();
    for client in 0..8_u64 {
        let bench = Arc::clone(&bench);
        clients.spawn(async move {
            for number in 0..30 {
                let length = GIB / 8 * ((client + number) % 5);
                drop(bench.make_file(&format!("{client}-{}", number % 3), length).await);
            }
        });
    }
    for quota in [1, 4, 2, 3, 1, 4] {
        bench.set_quota(quota).await;
        assert!(bench.usage().await <= 4 * GIB);
    }
    while let Some(done) = clients.join_next().await {
        done.unwrap();
    }
    let all = bench.everything(None).await.unwrap();
    let lengths: u64 = all.iter().map(|(_, record)| record.length()).sum();
    assert_eq!(bench.usage().await, lengths);
    assert!(lengths <= 4 * GIB);
}
