//! Immutability policies and legal holds: what they keep, on what, and until when.

use std::sync::Arc;
use std::time::Duration;

use lazuli_model::account::AccountFeatures;
use lazuli_model::admission::{Hold, Preconditions};
use lazuli_model::blob::{ImmutabilityMode, ImmutabilityPolicy};
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::Op;
use lazuli_service::blob::*;
use lazuli_service::{Answer, Body, ServiceOptions};

use crate::support::{Bench, at, code, copying, done, with_clock};

const LEGAL: &str = "BlobImmutableDueToLegalHold";
const POLICY: &str = "BlobImmutableDueToPolicy";

fn options() -> ServiceOptions {
    let mut features = AccountFeatures::default();
    features.entry("acct").immutability = true;
    ServiceOptions { features: Arc::new(features), ..ServiceOptions::default() }
}

async fn hold(bench: &Bench, name: &str, state: impl Into<BlobState>, hold: bool) -> Answer<()> {
    let preconditions = Preconditions::default();
    let input = SetBlobLegalHold { at: at(name), state: state.into(), preconditions, hold };
    input.execute(&bench.services, &bench.context).await
}

async fn protect(
    bench: &Bench,
    name: &str,
    state: impl Into<BlobState>,
    seconds: i64,
    mode: ImmutabilityMode,
) -> Answer<()> {
    let policy = ImmutabilityPolicy { until: bench.services.now().plus_seconds(seconds), mode };
    let preconditions = Preconditions::default();
    let input = SetBlobImmutabilityPolicy { at: at(name), state: state.into(), preconditions, policy };
    input.execute(&bench.services, &bench.context).await
}

async fn unprotect(bench: &Bench, name: &str, state: impl Into<BlobState>) -> Answer<()> {
    let input = DeleteBlobImmutabilityPolicy {
        at: at(name),
        state: state.into(),
        preconditions: Preconditions::default(),
    };
    input.execute(&bench.services, &bench.context).await
}

/// A blob with so large a record that a hundred snapshots are more than one commit deletes.
async fn put_large(bench: &Bench) {
    let pairs = (0..30).map(|number| (format!("name{number}"), "x".repeat(100))).collect();
    let metadata = Metadata::from_stored(pairs);
    let input = PutBlockBlob {
        at: at("b"),
        preconditions: Preconditions::default(),
        properties: BlobProperties { metadata, ..BlobProperties::default() },
        digests: Digests::default(),
        body: Body::from(bytes::Bytes::from_static(b"bytes")),
        limit: u64::MAX,
    };
    done(input.execute(&bench.services, &bench.context).await);
}

async fn delete_container(bench: &Bench) -> Answer<()> {
    let input = DeleteContainer { container: "c".into(), preconditions: Preconditions::default() };
    input.execute(&bench.services, &bench.context).await
}

async fn set_metadata(bench: &Bench, name: &str) -> Answer<()> {
    let input = SetBlobMetadata {
        at: at(name),
        preconditions: Preconditions::default(),
        metadata: Metadata::default(),
        customer_key: None,
    };
    input.execute(&bench.services, &bench.context).await.map(drop)
}

/// Everything that would end the blob `b` or change it; each goes on with what the one before left.
async fn attempts(bench: &Bench) -> Vec<(&'static str, String)> {
    vec![
        ("Set Blob Metadata", code(set_metadata(bench, "b").await)),
        ("Put Blob", code(bench.put("b", b"other").await)),
        ("Put Block List", code(bench.put_block_list("b", &[]).await)),
        ("Copy Blob", code(bench.copy(Op::CopyBlob, "source", None, "b").await)),
        ("Copy Blob From URL", code(bench.copy(Op::CopyBlobFromUrl, "source", None, "b").await)),
        ("Put Blob From URL", code(bench.copy(Op::PutBlobFromUrl, "source", None, "b").await)),
        ("Delete Blob", code(bench.delete("b", None, None).await)),
        ("with snapshots", code(bench.delete("b", None, Some(DeleteSnapshots::Include)).await)),
    ]
}

#[tokio::test]
async fn what_is_held_stays_as_it_is() {
    let (bench, clock) = with_clock(options()).await;
    done(bench.put("source", b"source").await);
    done(bench.put("b", b"bytes").await);
    let etag = done(bench.properties("b").await).etag;
    done(hold(&bench, "b", None, true).await);
    for (what, said) in attempts(&bench).await {
        assert_eq!(said, LEGAL, "{what}");
    }
    done(protect(&bench, "b", None, 100, ImmutabilityMode::Unlocked).await);
    done(hold(&bench, "b", None, false).await);
    for (what, said) in attempts(&bench).await {
        assert_eq!(said, POLICY, "{what}");
    }
    assert_eq!(done(bench.get("b", None).await), b"bytes");
    assert_eq!(done(bench.properties("b").await).etag, etag, "holds leave the ETag alone");
    // Its time is over: it can be replaced and deleted, and its metadata is still what it was.
    clock.advance(Duration::from_secs(100));
    for (what, said) in attempts(&bench).await {
        match what {
            "Set Blob Metadata" => assert_eq!(said, POLICY),
            "with snapshots" => assert_eq!(said, "BlobNotFound"),
            _ => assert_eq!(said, "ok", "{what}"),
        }
    }
}

#[tokio::test]
async fn a_locked_policy_is_prolonged_and_neither_shortened_nor_removed() {
    let (bench, clock) = with_clock(options()).await;
    done(bench.put("b", b"bytes").await);
    done(protect(&bench, "b", None, 100, ImmutabilityMode::Unlocked).await);
    done(protect(&bench, "b", None, 50, ImmutabilityMode::Locked).await);
    assert_eq!(code(protect(&bench, "b", None, 49, ImmutabilityMode::Locked).await), POLICY);
    assert_eq!(code(protect(&bench, "b", None, 200, ImmutabilityMode::Unlocked).await), POLICY);
    assert_eq!(code(unprotect(&bench, "b", None).await), "ImmutabilityPolicyDeleteOnLockedPolicy");
    done(protect(&bench, "b", None, 60, ImmutabilityMode::Locked).await);
    clock.advance(Duration::from_secs(59));
    assert_eq!(code(bench.delete("b", None, None).await), POLICY);
    clock.advance(Duration::from_secs(1));
    assert_eq!(code(bench.delete("b", None, None).await), "ok");
}

#[tokio::test]
async fn a_blob_is_held_from_its_first_write_on() {
    let (bench, _) = with_clock(options()).await;
    done(bench.put("source", b"source").await);
    let held = Hold { legal: true, policy: None };
    let input = PutBlockBlob {
        at: at("b"),
        preconditions: Preconditions::default(),
        properties: BlobProperties { hold: held, ..BlobProperties::default() },
        digests: Digests::default(),
        body: Body::from(bytes::Bytes::from_static(b"bytes")),
        limit: u64::MAX,
    };
    done(input.execute(&bench.services, &bench.context).await);
    assert_eq!(code(bench.delete("b", None, None).await), LEGAL);
    let own = OwnSource {
        account: bench.context.account.clone(),
        at: at("source"),
        state: BlobState::Base,
        preconditions: Preconditions::default(),
        customer_key: None,
    };
    let mut copy = copying(CopySource::Own(own), "copy");
    copy.given.hold = held;
    let op = lazuli_model::operation::WritingOp::of(Op::CopyBlob).unwrap();
    done(copy.execute(&bench.services, &bench.context, op).await);
    assert_eq!(code(bench.delete("copy", None, None).await), LEGAL);
    // What protects a source does not protect its copies, nor a base its snapshots.
    done(bench.copy(Op::CopyBlob, "copy", None, "free").await);
    assert_eq!(code(bench.delete("free", None, None).await), "ok");
    let snapshot = done(bench.snapshot("copy").await);
    assert_eq!(code(bench.delete("copy", Some(snapshot), None).await), "ok");
}

/// As many as are deleted by the commit itself, and as many as the sweeper deletes.
#[tokio::test]
async fn a_held_snapshot_keeps_its_base() {
    for many in [1, 100] {
        let (bench, clock) = with_clock(options()).await;
        put_large(&bench).await;
        let held = done(bench.snapshot("b").await);
        for _ in 1..many {
            done(bench.snapshot("b").await);
        }
        done(hold(&bench, "b", Some(held), true).await);
        assert_eq!(code(bench.delete("b", Some(held), None).await), LEGAL);
        for snapshots in [DeleteSnapshots::Include, DeleteSnapshots::Only] {
            assert_eq!(code(bench.delete("b", None, Some(snapshots)).await), LEGAL, "{many}");
        }
        done(protect(&bench, "b", Some(held), 10, ImmutabilityMode::Locked).await);
        done(hold(&bench, "b", Some(held), false).await);
        assert_eq!(code(bench.delete("b", None, Some(DeleteSnapshots::Include)).await), POLICY);
        assert_eq!(code(bench.get("b", Some(held)).await), "ok");
        clock.advance(Duration::from_secs(10));
        assert_eq!(code(bench.delete("b", None, Some(DeleteSnapshots::Include)).await), "ok");
        assert_eq!(code(delete_container(&bench).await), "ok");
        bench.sweep().await;
        assert_eq!(bench.keys().await, Vec::<String>::new(), "nothing is left");
    }
}

#[tokio::test]
async fn a_container_stays_while_anything_in_it_is_held() {
    let (bench, clock) = with_clock(options()).await;
    done(bench.put("b", b"bytes").await);
    let snapshot = done(bench.snapshot("b").await);
    done(hold(&bench, "b", Some(snapshot), true).await);
    assert_eq!(code(delete_container(&bench).await), "ContainerHasLegalHold");
    done(hold(&bench, "b", Some(snapshot), false).await);
    done(protect(&bench, "b", None, 10, ImmutabilityMode::Unlocked).await);
    assert_eq!(code(delete_container(&bench).await), POLICY);
    done(unprotect(&bench, "b", None).await);
    done(protect(&bench, "b", None, 10, ImmutabilityMode::Unlocked).await);
    clock.advance(Duration::from_secs(9));
    assert_eq!(code(delete_container(&bench).await), POLICY);
    clock.advance(Duration::from_secs(1));
    assert_eq!(code(delete_container(&bench).await), "ok");
    bench.sweep().await;
    assert_eq!(bench.keys().await, Vec::<String>::new(), "nothing is left");
}

/// The same with so many snapshots that none of them is read for its deletion.
#[tokio::test]
async fn a_hold_on_one_of_many_snapshots_and_their_deletion_do_not_both_succeed() {
    for _ in 0..30 {
        let (bench, _) = with_clock(options()).await;
        put_large(&bench).await;
        let snapshot = done(bench.snapshot("b").await);
        for _ in 1..100 {
            done(bench.snapshot("b").await);
        }
        let (holding, deleting) = tokio::join!(
            hold(&bench, "b", Some(snapshot), true),
            bench.delete("b", None, Some(DeleteSnapshots::Include)),
        );
        assert_ne!(code(holding) == "ok", code(deleting) == "ok");
    }
}

/// Of a hold and the deletion of what it is put on, one comes first, and the other is told.
#[tokio::test]
async fn a_hold_and_a_deletion_at_the_same_moment_do_not_both_succeed() {
    for round in 0..40 {
        let (bench, _) = with_clock(options()).await;
        done(bench.put("b", b"bytes").await);
        let snapshot = done(bench.snapshot("b").await);
        let held = (round % 2 == 0).then_some(snapshot);
        let (holding, deleting) = tokio::join!(hold(&bench, "b", held, true), async {
            match round % 4 {
                0 | 1 => bench.delete("b", None, Some(DeleteSnapshots::Include)).await,
                _ => delete_container(&bench).await,
            }
        });
        assert_ne!(code(holding) == "ok", code(deleting) == "ok", "round {round}");
    }
}
