//! When a blob was last read: noted once a day, beside the answer.

use std::sync::Arc;
use std::time::Duration;

use lazuli_model::account::AccountFeatures;
use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;
use lazuli_model::query::Query;
use lazuli_service::ServiceOptions;
use lazuli_service::blob::*;
use lazuli_service::query::Format;

use crate::support::{Bench, at, done, with_clock};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn options(account: &str) -> ServiceOptions {
    let mut features = AccountFeatures::default();
    features.entry(account).last_access_time = true;
    ServiceOptions { features: Arc::new(features), ..ServiceOptions::default() }
}

/// Until what goes on beside the answers is done, or for long enough that it would be.
async fn settle(bench: &Bench, until: impl AsyncFn(&Bench) -> bool) -> bool {
    for _ in 0..200 {
        if until(bench).await {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    false
}

#[tokio::test]
async fn the_first_read_of_a_day_is_noted_and_changes_nothing_else() {
    let (bench, clock) = with_clock(options("acct")).await;
    let made = done(bench.put("b", b"bytes").await).stamped;
    let seen = async |bench: &Bench| done(bench.properties("b").await);
    let before = seen(&bench).await;
    assert_eq!(before.last_access(), made.last_modified, "to be written is to be accessed");
    clock.advance(DAY - Duration::from_secs(1));
    done(bench.get("b", None).await);
    clock.advance(Duration::from_secs(1));
    // Had the read before been noted, this one would not be.
    done(bench.properties("b").await);
    assert_eq!(seen(&bench).await, before, "what only looks at the properties is no read");
    done(bench.get("b", None).await);
    assert!(settle(&bench, async |bench| seen(bench).await != before).await, "noted");
    let noted = seen(&bench).await;
    assert_eq!(noted.last_access(), bench.services.now());
    assert_eq!((noted.etag, noted.last_modified), (before.etag, before.last_modified));
    clock.advance(DAY / 2);
    done(bench.get("b", None).await);
    let again = settle(&bench, async |bench| seen(bench).await != noted).await;
    assert!(!again, "half a day later it is not noted again");
}

#[tokio::test]
async fn an_account_that_does_not_ask_for_it_notes_nothing() {
    let (bench, clock) = with_clock(options("another")).await;
    done(bench.put("b", b"bytes").await);
    clock.advance(DAY * 2);
    let before = done(bench.properties("b").await);
    done(bench.get("b", None).await);
    assert!(!settle(&bench, async |bench| done(bench.properties("b").await) != before).await);
}

/// Query Blob Contents reads as Get Blob does. What is read of a version, current or not, is noted of that version.
#[tokio::test]
async fn a_query_is_a_read_and_so_is_that_of_a_version() {
    let mut options = options("acct");
    Arc::make_mut(&mut options.features).entry("acct").versioning = true;
    let (bench, clock) = with_clock(options).await;
    let first = BlobState::Version(done(bench.put("b", b"1,2\n").await).stamped.version.unwrap());
    let second = BlobState::Version(done(bench.put("b", b"3,4\n").await).stamped.version.unwrap());
    let properties = |state| GetBlobProperties {
        at: at("b"),
        state,
        preconditions: Preconditions::default(),
        customer_key: None,
    };
    let accessed = async |state| {
        let found =
            properties(state).execute(&bench.services, &bench.context, policy::GetBlobProperties).await;
        done(found).blob.last_access()
    };
    for (read, other) in [(first, second), (second, first)] {
        clock.advance(DAY);
        let now = bench.services.now();
        let get = GetBlob { properties: properties(read), range: None };
        done(get.execute(&bench.services, &bench.context, policy::GetBlob).await).1.unwrap();
        assert!(settle(&bench, async |_| accessed(read).await == now).await, "{read:?}");
        assert_ne!(accessed(other).await, now, "{other:?}");
    }
    clock.advance(DAY);
    let query = QueryBlobContents {
        properties: properties(BlobState::Base),
        query: Query::parse("SELECT * FROM BlobStorage").unwrap(),
        input: Format::default(),
        output: Format::default(),
    };
    done(query.execute(&bench.services, &bench.context).await);
    let now = bench.services.now();
    assert!(settle(&bench, async |_| accessed(BlobState::Base).await == now).await);
}
