//! Set Blob Expiry: a blob is gone for every request from its moment on, and the sweeper gives back what it held.

use std::sync::Arc;
use std::time::Duration;

use lazuli_engine::host::ManualClock;
use lazuli_model::Timestamp;
use lazuli_model::admission::{LeaseAction, LeaseDuration, Preconditions};
use lazuli_model::blob::Expiry;
use lazuli_model::operation::Op;
use lazuli_model::tags::{Tags, WhereExpression};
use lazuli_service::blob::*;
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
