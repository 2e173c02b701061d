//! Set Blob Expiry: a blob is gone for every request from its moment on, and the sweeper gives back what it held.

use std::sync::Arc;
use std::time::Duration;

use lazuli_engine::host::ManualClock;
use lazuli_model::Timestamp;
use lazuli_model::account::AccountFeatures;
use lazuli_model::admission::{LeaseAction, LeaseDuration, Preconditions};
use lazuli_model::blob::{Expiry, ImmutabilityMode, ImmutabilityPolicy};
use lazuli_model::operation::{Op, Service};
use lazuli_model::service_properties::RetentionPolicy;
use lazuli_model::tags::{Tags, WhereExpression};
use lazuli_service::blob::*;
use lazuli_service::shared::service_properties::SetServiceProperties;
use lazuli_service::{Answer, ServiceOptions};

use crate::support::{Bench, at, code, done, listed, with_clock};

const BLOCK: &[u8] = &[7; 40_000];

async fn bench() -> (Bench, Arc<ManualClock>) {
    with_clock(ServiceOptions::default()).await
}

async fn expire(bench: &Bench, name: &str, expiry: Expiry) -> Answer<Stamped> {
    let input = SetBlobExpiry { at: at(name), preconditions: Preconditions::default(), expiry };
    input.execute(&bench.services, &bench.context).await
}

async fn found_by_tag(bench: &Bench, query: &str) -> usize {
    let input = FindBlobsByTags {
        container: Some("c".into()),
        expression: WhereExpression::parse(query).unwrap(),
        after: None,
        max_results: 100,
        max_bytes: 1 << 20,
    };
    done(input.execute(&bench.services, &bench.context).await).items.len()
}

async fn tag(bench: &Bench, name: &str) {
    let tags = Tags::parse_header("colour=red&size=small").unwrap();
    let input =
        SetBlobTags { at: at(name), state: BlobState::Base, preconditions: Preconditions::default(), tags };
    done(input.execute(&bench.services, &bench.context).await);
}

#[tokio::test]
async fn every_option_names_its_moment_and_keeps_the_etag() {
    let (bench, clock) = bench().await;
    let made = done(bench.put("b", b"bytes").await).stamped;
    clock.advance(Duration::from_secs(5));
    let created = done(bench.properties("b").await).created;
    let now = bench.services.now();
    let later = Timestamp::MAX;
    for (expiry, moment) in [
        (Expiry::At(later), Some(later)),
        (Expiry::FromNow(7_000), Some(now.plus_seconds(7))),
        (Expiry::AfterCreation(7_000), Some(created.plus_seconds(7))),
        (Expiry::FromNow(u64::MAX), Some(later)),
        (Expiry::Never, None),
    ] {
        assert_eq!(done(expire(&bench, "b", expiry).await), made, "{expiry:?}");
        assert_eq!(done(bench.properties("b").await).extras().expires, moment, "{expiry:?}");
    }
    for over in [Expiry::At(now), Expiry::FromNow(0), Expiry::AfterCreation(5_000)] {
        assert_eq!(code(expire(&bench, "b", over).await), "InvalidHeaderValue", "{over:?}");
    }
    assert_eq!(code(expire(&bench, "none", Expiry::Never).await), "BlobNotFound");
}

/// A blob with everything that hangs on one, at the moment before its end and at its end.
#[tokio::test]
async fn from_its_moment_on_it_is_gone_for_every_request() {
    for is_swept in [false, true] {
        let (bench, clock) = bench().await;
        for name in ["dir/b", "dir2/other", "kept"] {
            done(bench.put(name, BLOCK).await);
        }
        tag(&bench, "dir/b").await;
        tag(&bench, "kept").await;
        let snapshot = done(bench.snapshot("dir/b").await);
        done(expire(&bench, "dir/b", Expiry::FromNow(10_000)).await);
        clock.advance(Duration::from_millis(9_999));
        assert_eq!(done(bench.get("dir/b", None).await), BLOCK);
        assert_eq!(done(bench.get("dir/b", Some(snapshot)).await), BLOCK);
        assert_eq!(listed(&bench, "").await, ["dir/b@", "dir/b", "dir2/other", "kept"]);
        assert_eq!(listed(&bench, "/").await, ["dir/", "dir2/", "kept"]);
        assert_eq!(found_by_tag(&bench, r#""colour" = 'red'"#).await, 2);
        assert_eq!(found_by_tag(&bench, r#""colour" = 'red' AND "size" = 'small'"#).await, 2);
        clock.advance(Duration::from_millis(1));
        if is_swept {
            bench.sweep().await;
        }
        assert_eq!(code(bench.get("dir/b", None).await), "BlobNotFound");
        assert_eq!(code(bench.properties("dir/b").await), "BlobNotFound");
        assert_eq!(code(bench.get("dir/b", Some(snapshot)).await), "BlobNotFound");
        assert_eq!(code(bench.delete("dir/b", Some(snapshot), None).await), "BlobNotFound");
        assert_eq!(code(bench.delete("dir/b", None, None).await), "BlobNotFound");
        assert_eq!(code(bench.snapshot("dir/b").await), "BlobNotFound");
        assert_eq!(code(expire(&bench, "dir/b", Expiry::Never).await), "BlobNotFound");
        assert_eq!(code(bench.copy(Op::CopyBlob, "dir/b", None, "copy").await), "BlobNotFound");
        let acquire = LeaseAction::Acquire { proposed: None, duration: LeaseDuration::Infinite };
        let lease = LeaseBlob { at: at("dir/b"), preconditions: Preconditions::default(), action: acquire };
        let leased = lease.execute(&bench.services, &bench.context, policy_of_acquire()).await;
        assert_eq!(code(leased), "BlobNotFound");
        assert_eq!(listed(&bench, "").await, ["dir2/other", "kept"]);
        assert_eq!(listed(&bench, "/").await, ["dir2/", "kept"], "no prefix of what is gone");
        assert_eq!(found_by_tag(&bench, r#""colour" = 'red'"#).await, 1);
        assert_eq!(found_by_tag(&bench, r#""colour" = 'red' AND "size" = 'small'"#).await, 1);
    }
}

fn policy_of_acquire() -> lazuli_model::operation::WritingOp {
    lazuli_model::operation::WritingOp::of(Op::AcquireBlobLease).unwrap()
}

/// What was there before the sweeper came does not shine through, and is given back.
#[tokio::test]
async fn the_name_of_what_is_gone_can_be_used_again() {
    // Bytes in a chunk, and bytes beside the record.
    let ways = ["put", "blocks", "copy", "copy of the same content"];
    for (way, length) in ways.into_iter().flat_map(|way| [(way, 40_000), (way, 40)]) {
        let (bench, clock) = bench().await;
        let block = &BLOCK[..length];
        done(bench.put("source", block).await);
        done(bench.put_block("b", "one", block).await);
        done(bench.put_block_list("b", &[(BlockSource::Latest, "one")]).await);
        if way == "copy of the same content" {
            done(bench.copy(Op::CopyBlob, "source", None, "b").await);
        }
        tag(&bench, "b").await;
        let snapshot = done(bench.snapshot("b").await);
        done(expire(&bench, "b", Expiry::FromNow(10_000)).await);
        clock.advance(Duration::from_secs(10));
        match way {
            "put" => done(bench.put("b", b"new").await).stamped,
            "blocks" => {
                // The blocks of what is gone cannot be listed again.
                let again = bench.put_block_list("b", &[(BlockSource::Latest, "one")]).await;
                assert_eq!(code(again), "InvalidBlockList");
                done(bench.put_block("b", "two", b"new").await);
                assert_eq!(listed(&bench, "").await, ["b?", "source"]);
                done(bench.put_block_list("b", &[(BlockSource::Latest, "two")]).await)
            }
            _ => done(bench.copy(Op::CopyBlob, "source", None, "b").await).stamped,
        };
        let blob = done(bench.properties("b").await);
        assert_eq!((blob.extras().expires, blob.snapshots, blob.tags.len()), (None, 0, 0), "{way}");
        assert_eq!(found_by_tag(&bench, r#""colour" = 'red'"#).await, 0);
        assert_eq!(code(bench.get("b", Some(snapshot)).await), "BlobNotFound");
        let bytes = if way.starts_with("copy") { block } else { b"new" };
        bench.sweep().await;
        assert_eq!(done(bench.get("b", None).await), bytes, "{way}");
        assert_eq!(done(bench.get("source", None).await), block, "{way}");
        let second = done(bench.snapshot("b").await);
        assert_eq!(done(bench.get("b", Some(second)).await), bytes);
        // A further expiry is another one.
        clock.advance(Duration::from_secs(100));
        bench.sweep().await;
        assert_eq!(done(bench.get("b", None).await), bytes, "{way}");
        done(bench.delete("b", None, Some(DeleteSnapshots::Include)).await);
        done(bench.delete("source", None, None).await);
        bench.sweep().await;
        let left = bench.keys().await;
        assert!(left.iter().all(|key| key.starts_with(['c', 'o'])), "{way}: {left:?}");
    }
}

#[tokio::test]
async fn the_sweeper_deletes_for_good_what_is_due_and_nothing_else() {
    let (bench, clock) = bench().await;
    for number in 0..450 {
        let name = format!("due{number:03}");
        done(bench.put(&name, b"x").await);
        done(expire(&bench, &name, Expiry::FromNow(10_000)).await);
    }
    done(bench.put("later", BLOCK).await);
    done(expire(&bench, "later", Expiry::FromNow(10_000)).await);
    done(expire(&bench, "later", Expiry::FromNow(20_000)).await);
    done(bench.put("spared", BLOCK).await);
    done(expire(&bench, "spared", Expiry::FromNow(10_000)).await);
    done(expire(&bench, "spared", Expiry::Never).await);
    let blobs = async || {
        let keys = bench.keys().await;
        (
            keys.iter().filter(|key| key.starts_with('b')).count(),
            keys.iter().filter(|key| key.starts_with('E')).count(),
        )
    };
    assert_eq!(blobs().await, (452, 451));
    clock.advance(Duration::from_secs(10));
    bench.sweep().await;
    assert_eq!(blobs().await, (2, 1));
    assert_eq!(bench.services.passed_over(), 0);
    clock.advance(Duration::from_secs(10));
    bench.sweep().await;
    assert_eq!(blobs().await, (1, 0));
    assert_eq!(done(bench.get("spared", None).await), BLOCK);
}

/// A hold is stronger than an expiry.
#[tokio::test]
async fn what_is_held_does_not_expire() {
    let (bench, clock) = bench().await;
    done(bench.put("b", BLOCK).await);
    done(expire(&bench, "b", Expiry::FromNow(10_000)).await);
    let hold = async |hold: bool| {
        let (at, preconditions) = (at("b"), Preconditions::default());
        let input = SetBlobLegalHold { at, state: BlobState::Base, preconditions, hold };
        input.execute(&bench.services, &bench.context).await
    };
    done(hold(true).await);
    clock.advance(Duration::from_secs(20));
    bench.sweep().await;
    assert_eq!(done(bench.get("b", None).await), BLOCK);
    done(hold(false).await);
    assert_eq!(code(bench.get("b", None).await), "BlobNotFound");
    bench.sweep().await;
    let left = bench.keys().await;
    assert!(left.iter().all(|key| key.starts_with(['c', 'o'])), "{left:?}");
}

/// Snapshots are gone with their base: as long as one is held, the base is not.
#[tokio::test]
async fn the_blob_of_a_held_snapshot_does_not_expire() {
    let (bench, clock) = bench().await;
    let hold = async |name: &str, snapshot, seconds: Option<i64>| {
        let (at, state, preconditions) = (at(name), BlobState::Snapshot(snapshot), Preconditions::default());
        match seconds {
            None => {
                let input = SetBlobLegalHold { at, state, preconditions, hold: true };
                done(input.execute(&bench.services, &bench.context).await);
            }
            Some(seconds) => {
                let until = bench.services.now().plus_seconds(seconds);
                let policy = ImmutabilityPolicy { until, mode: ImmutabilityMode::Locked };
                let input = SetBlobImmutabilityPolicy { at, state, preconditions, policy };
                done(input.execute(&bench.services, &bench.context).await);
            }
        }
    };
    // Held before the blob is to expire.
    done(bench.put("before", BLOCK).await);
    let snapshot = done(bench.snapshot("before").await);
    hold("before", snapshot, Some(20)).await;
    assert_eq!(code(expire(&bench, "before", Expiry::FromNow(19_999)).await), "BlobImmutableDueToPolicy");
    done(expire(&bench, "before", Expiry::FromNow(20_000)).await);
    // Held after that was said.
    let mut after = Vec::new();
    for (name, seconds) in [("policy", Some(20)), ("legal", None)] {
        done(bench.put(name, BLOCK).await);
        done(expire(&bench, name, Expiry::FromNow(10_000)).await);
        let snapshot = done(bench.snapshot(name).await);
        hold(name, snapshot, seconds).await;
        after.push((name, snapshot));
    }
    assert_eq!(code(expire(&bench, "legal", Expiry::FromNow(10_000)).await), "BlobImmutableDueToLegalHold");
    clock.advance(Duration::from_millis(19_999));
    bench.sweep().await;
    for (name, snapshot) in after.iter().copied().chain([("before", snapshot)]) {
        assert_eq!(done(bench.get(name, Some(snapshot)).await), BLOCK, "{name}");
        assert_eq!(done(bench.get(name, None).await), BLOCK, "{name}");
    }
    clock.advance(Duration::from_millis(1));
    bench.sweep().await;
    for (name, snapshot) in after.iter().copied().chain([("before", snapshot)]) {
        let wanted = if name == "legal" { "ok" } else { "BlobNotFound" };
        assert_eq!(code(bench.get(name, Some(snapshot)).await), wanted, "{name}");
    }
}

/// What expires is gone for good: neither a version nor soft deleted. What was kept of the name before stays.
#[tokio::test]
async fn versions_outlive_a_blob_that_expires() {
    let mut features = AccountFeatures::default();
    features.entry("acct").versioning = true;
    let options = ServiceOptions { features: Arc::new(features), ..ServiceOptions::default() };
    let (bench, clock) = with_clock(options).await;
    let retention = RetentionPolicy { enabled: true, days: Some(1), allow_permanent_delete: None };
    let kept = SetServiceProperties { delete_retention: Some(retention), ..Default::default() };
    kept.execute(&bench.services, &bench.context, Service::Blob).await.unwrap();
    let get = async |version: Option<Timestamp>| {
        let state = BlobState::Version(version.expect("a version"));
        let (at, preconditions) = (at("b"), Preconditions::default());
        let input = GetBlobProperties { at, state, preconditions, customer_key: None };
        let op = lazuli_model::operation::policy::GetBlobProperties;
        input.execute(&bench.services, &bench.context, op).await.map(|found| *found.blob)
    };
    for is_swept in [false, true] {
        let first = done(bench.put("b", BLOCK).await).stamped.version;
        done(expire(&bench, "b", Expiry::FromNow(10_000)).await);
        // What was to expire and is replaced does not.
        let second = done(bench.put("b", b"new").await).stamped.version;
        assert_eq!(done(get(first).await).extras().expires, None);
        done(expire(&bench, "b", Expiry::FromNow(10_000)).await);
        clock.advance(Duration::from_secs(10));
        if is_swept {
            bench.sweep().await;
        }
        assert_eq!(code(get(second).await), "BlobNotFound");
        assert_eq!(done(get(first).await).length(), BLOCK.len() as u64);
        let input = UndeleteBlob { at: at("b"), preconditions: Preconditions::default() };
        assert_eq!(code(input.execute(&bench.services, &bench.context).await), "ok", "there are versions");
        assert_eq!(code(bench.get("b", None).await), "BlobNotFound", "it was not deleted");
        let third = done(bench.put("b", b"third").await).stamped.version;
        assert!(third > second && code(get(second).await) == "BlobNotFound");
        assert_eq!(done(get(first).await).length(), BLOCK.len() as u64);
        // Brought back, it does not expire.
        done(expire(&bench, "b", Expiry::FromNow(10_000)).await);
        done(bench.delete("b", None, None).await);
        clock.advance(Duration::from_secs(10));
        assert_eq!(done(get(third).await).extras().expires, None);
    }
}

/// Appended blocks that a copy stands on are held by it too. The name of the copy's source is over, and gets them back.
#[tokio::test]
async fn a_copy_goes_back_to_the_name_of_what_has_expired() {
    let (bench, clock) = bench().await;
    done(bench.create_append_blob("b").await);
    done(bench.append("b", BLOCK).await);
    done(bench.copy(Op::CopyBlob, "b", None, "copy").await);
    done(expire(&bench, "b", Expiry::FromNow(10_000)).await);
    clock.advance(Duration::from_secs(10));
    done(bench.copy(Op::CopyBlob, "copy", None, "b").await);
    for name in ["b", "copy"] {
        bench.sweep().await;
        assert_eq!(done(bench.get(name, None).await), BLOCK);
        done(bench.delete(name, None, None).await);
    }
    bench.sweep().await;
    let left = bench.keys().await;
    assert!(left.iter().all(|key| key.starts_with(['c', 'o'])), "{left:?}");
}
