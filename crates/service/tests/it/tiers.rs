//! Set Blob Tier: every change from every tier, and the way out of the archive by the clock.

use std::sync::Arc;
use std::time::Duration;

use lazuli_engine::Host;
use lazuli_engine::host::{Clock, ManualClock};
use lazuli_model::Timestamp;
use lazuli_model::admission::Preconditions;
use lazuli_model::blob::{RehydratePriority, Tier};
use lazuli_model::operation::policy;
use lazuli_service::blob::*;
use lazuli_service::{Answer, ServiceOptions};

use crate::support::{Bench, at};

const STANDARD: Duration = Duration::from_secs(1_000);
const HIGH: Duration = Duration::from_secs(100);
const TIERS: [Tier; 5] = [Tier::Hot, Tier::Cool, Tier::Cold, Tier::Archive, Tier::Smart];

async fn bench() -> (Bench, Arc<ManualClock>) {
    let host = Host::test();
    let Clock::Manual(clock) = host.clock.clone() else { panic!("a test's clock") };
    let options = ServiceOptions { rehydration_time: STANDARD, ..ServiceOptions::default() };
    (Bench::over(crate::testing::engine(host).await, options).await, clock)
}

async fn set(
    bench: &Bench,
    snapshot: Option<Timestamp>,
    tier: Tier,
    priority: Option<RehydratePriority>,
) -> Answer<TierSet> {
    let input = SetBlobTier {
        at: at("b"),
        state: snapshot.into(),
        preconditions: Preconditions::default(),
        tier,
        priority,
    };
    input.execute(&bench.services, &bench.context).await
}

fn code<T>(answer: Answer<T>) -> String {
    match answer {
        Ok(_) => "ok".to_owned(),
        Err(fault) => lazuli_model::Failure::from(fault).code.name().to_owned(),
    }
}

async fn look(bench: &Bench, snapshot: Option<Timestamp>) -> BlobRecord {
    let input = GetBlobProperties {
        at: at("b"),
        state: snapshot.into(),
        preconditions: Preconditions::default(),
        customer_key: None,
    };
    let answer = input.execute(&bench.services, &bench.context, policy::GetBlobProperties).await;
    *answer.map_err(|fault| fault.0).unwrap().blob
}

fn tier(blob: &BlobRecord) -> Option<Tier> {
    blob.tier.map(|explicit| explicit.tier)
}

#[tokio::test]
async fn a_blob_moves_from_each_tier_to_each_and_keeps_its_etag() {
    for from in TIERS {
        for to in TIERS {
            let (bench, clock) = bench().await;
            let stored = bench.put("b", b"bytes").await.map_err(|fault| fault.0).unwrap();
            clock.advance(Duration::from_secs(5));
            assert_eq!(set(&bench, None, from, None).await.ok(), Some(TierSet::Done), "{from:?}");
            let before = look(&bench, None).await;
            assert_eq!(tier(&before), Some(from));
            clock.advance(Duration::from_secs(5));
            let told = set(&bench, None, to, None).await.ok();
            let after = look(&bench, None).await;
            assert_eq!(after.etag, stored.stamped.etag);
            if from == Tier::Archive && to != Tier::Archive {
                assert_eq!(told, Some(TierSet::Rehydrating), "{to:?}");
                assert_eq!(tier(&after), Some(Tier::Archive), "until it is due");
            } else {
                assert_eq!(told, Some(TierSet::Done), "{from:?} {to:?}");
                assert_eq!(tier(&after), Some(to));
                let moved = after.tier.map(|tier| tier.changed) != before.tier.map(|tier| tier.changed);
                assert_eq!(moved, from != to, "{from:?} {to:?}: the time of the change");
            }
        }
    }
}

#[tokio::test]
async fn an_archived_blob_comes_back_when_it_is_due_and_not_before() {
    for (priority, takes) in [
        (None, STANDARD),
        (Some(RehydratePriority::Standard), STANDARD),
        (Some(RehydratePriority::High), HIGH),
    ] {
        let (bench, clock) = bench().await;
        bench.put("b", b"bytes").await.map_err(|fault| fault.0).unwrap();
        set(&bench, None, Tier::Archive, None).await.map_err(|fault| fault.0).unwrap();
        assert_eq!(code(bench.get("b", None).await), "BlobArchived");
        assert_eq!(code(bench.put("b", b"other").await), "BlobArchived");
        assert_eq!(set(&bench, None, Tier::Cool, priority).await.ok(), Some(TierSet::Rehydrating));
        clock.advance(takes - Duration::from_secs(1));
        assert_eq!(code(bench.get("b", None).await), "BlobBeingRehydrated", "{priority:?}");
        assert_eq!(code(bench.put("b", b"other").await), "BlobBeingRehydrated");
        assert_eq!(tier(&look(&bench, None).await), Some(Tier::Archive));
        clock.advance(Duration::from_secs(1));
        assert_eq!(bench.get("b", None).await.ok().as_deref(), Some(&b"bytes"[..]), "{priority:?}");
        let blob = look(&bench, None).await;
        assert_eq!(tier(&blob), Some(Tier::Cool));
        assert!(blob.extras().rehydration.is_none());
        // What is written from here on stands on what has come about.
        assert_eq!(set(&bench, None, Tier::Hot, None).await.ok(), Some(TierSet::Done));
        assert_eq!(tier(&look(&bench, None).await), Some(Tier::Hot));
    }
}

#[tokio::test]
async fn what_leaves_the_archive_can_be_hurried_and_neither_called_back_nor_sent_elsewhere() {
    let (bench, clock) = bench().await;
    bench.put("b", b"bytes").await.map_err(|fault| fault.0).unwrap();
    set(&bench, None, Tier::Archive, None).await.map_err(|fault| fault.0).unwrap();
    assert_eq!(set(&bench, None, Tier::Cool, None).await.ok(), Some(TierSet::Rehydrating));
    for other in [Tier::Hot, Tier::Cold, Tier::Archive] {
        assert_eq!(code(set(&bench, None, other, None).await), "BlobBeingRehydrated", "{other:?}");
    }
    let due = async || look(&bench, None).await.extras().rehydration.unwrap();
    let first = due().await;
    clock.advance(Duration::from_secs(50));
    assert_eq!(set(&bench, None, Tier::Cool, None).await.ok(), Some(TierSet::Rehydrating));
    assert_eq!(due().await, first, "asked again, it takes no longer");
    assert!(set(&bench, None, Tier::Cool, Some(RehydratePriority::High)).await.is_ok());
    let hurried = due().await;
    assert_eq!(hurried.priority, RehydratePriority::High);
    assert!(hurried.due < first.due);
    assert!(set(&bench, None, Tier::Cool, Some(RehydratePriority::Standard)).await.is_ok());
    assert_eq!(due().await, hurried, "it cannot be slowed down");
    // Near its end, a hurry must not make it later.
    clock.advance(HIGH);
    assert_eq!(tier(&look(&bench, None).await), Some(Tier::Cool));
}

#[tokio::test]
async fn a_snapshot_has_a_tier_of_its_own_and_does_not_leave_the_archive() {
    let (bench, clock) = bench().await;
    bench.put("b", b"bytes").await.map_err(|fault| fault.0).unwrap();
    let snapshot = bench.snapshot("b").await.map_err(|fault| fault.0).unwrap();
    assert_eq!(set(&bench, Some(snapshot), Tier::Cool, None).await.ok(), Some(TierSet::Done));
    assert_eq!(tier(&look(&bench, Some(snapshot)).await), Some(Tier::Cool));
    assert_eq!(tier(&look(&bench, None).await), None, "the base has none");
    assert_eq!(set(&bench, Some(snapshot), Tier::Archive, None).await.ok(), Some(TierSet::Done));
    assert_eq!(code(bench.get("b", Some(snapshot)).await), "BlobArchived");
    assert_eq!(code(set(&bench, Some(snapshot), Tier::Hot, None).await), "BlobOperationNotSupported");
    // Of a base on its way, a snapshot stays behind.
    set(&bench, None, Tier::Archive, None).await.map_err(|fault| fault.0).unwrap();
    set(&bench, None, Tier::Hot, None).await.map_err(|fault| fault.0).unwrap();
    let second = bench.snapshot("b").await.map_err(|fault| fault.0).unwrap();
    clock.advance(STANDARD);
    assert_eq!(code(bench.get("b", None).await), "ok");
    assert_eq!(code(bench.get("b", Some(second)).await), "BlobArchived");
}

#[tokio::test]
async fn lists_show_what_has_come_about() {
    let (bench, clock) = bench().await;
    bench.put("b", b"bytes").await.map_err(|fault| fault.0).unwrap();
    set(&bench, None, Tier::Archive, None).await.map_err(|fault| fault.0).unwrap();
    set(&bench, None, Tier::Hot, None).await.map_err(|fault| fault.0).unwrap();
    for (wait, expected, pending) in [(Duration::ZERO, Tier::Archive, true), (STANDARD, Tier::Hot, false)] {
        clock.advance(wait);
        let input =
            ListBlobs { container: "c".into(), max_results: 10, max_bytes: 1 << 20, ..ListBlobs::default() };
        let list = input.execute(&bench.services, &bench.context).await.map_err(|fault| fault.0).unwrap();
        let [BlobListItem::Blob { blob, .. }] = &list.items[..] else { panic!("one blob") };
        assert_eq!((tier(blob), blob.extras().rehydration.is_some()), (Some(expected), pending));
    }
}
