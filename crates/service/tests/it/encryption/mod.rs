//! What is encrypted with a customer's key or under a scope: it reads back by every path, and stands nowhere on disk.

mod on_disk;
mod under;

use bytes::Bytes;
use lazuli_engine::Host;
use lazuli_model::admission::Preconditions;
use lazuli_model::blob::CopyStatus;
use lazuli_model::error::ErrorCode;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Op, policy};
use lazuli_service::blob::*;
use lazuli_service::{Answer, Body, ServiceOptions};
use proptest::prelude::*;

use crate::support::Bench;
use under::{Under, with_scopes};

const MIB: usize = 1024 * 1024;
const PAGE: u64 = 512;

fn code<T>(answer: Answer<T>) -> ErrorCode {
    answer.err().expect("refused").0.code
}

fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at.wrapping_mul(31) ^ (at >> 9) ^ (at >> 17)) as u8).collect()
}

/// Every operation that touches a blob names what the blob is encrypted with; to read under a scope needs no naming.
#[tokio::test]
async fn each_operation_needs_what_the_blob_is_encrypted_with() {
    use ErrorCode as E;
    let bench = Bench::with(with_scopes(&["red", "blue"])).await;
    let all = [
        Under::plain(&bench),
        Under::key(&bench, 1),
        Under::key(&bench, 2),
        Under::scope(&bench, "red"),
        Under::scope(&bench, "blue"),
    ];
    for (number, have) in all.iter().enumerate() {
        have.put("block", b"block").await.unwrap();
        have.create_append_blob("append").await.unwrap();
        have.create_page_blob("page", 4 * PAGE).await.unwrap();
        for (other, given) in all.iter().enumerate() {
            let expected = match (number, other) {
                (have, given) if have == given => None,
                (_, 0) => Some(E::BlobUsesCustomerSpecifiedEncryption),
                (0, _) => Some(E::BlobDoesNotUseCustomerSpecifiedEncryption),
                _ => Some(E::BlobCustomerSpecifiedEncryptionMismatch),
            };
            let case = format!("{number} {other}");
            let of = |failed: Option<lazuli_service::Fault>| failed.map(|fault| fault.0.code);
            assert_eq!(of(given.set_metadata("block").await.err()), expected, "metadata {case}");
            assert_eq!(of(given.snapshot("block").await.err()), expected, "snapshot {case}");
            assert_eq!(of(given.append("append", b"x").await.err()), expected, "append {case}");
            assert_eq!(of(given.put_page("page", 0, &[7; 512]).await.err()), expected, "page {case}");
            assert_eq!(of(given.clear_pages("page", 0..PAGE).await.err()), expected, "clear {case}");
            let staged = given.put_block("block", "a", b"x").await.err();
            assert_eq!(of(staged), expected.filter(|_| number != 0), "block {case}");
            // Ends the stage, so that the next one begins one of its own.
            have.put("block", b"block").await.unwrap();
            let keys = |under: &Under<'_>| under.key.as_ref().map(|key| key.hash);
            let read = match (keys(have), keys(given)) {
                (None, None) => None,
                (have, given) if have == given => None,
                (Some(_), None) => Some(E::BlobUsesCustomerSpecifiedEncryption),
                (None, Some(_)) => Some(E::BlobDoesNotUseCustomerSpecifiedEncryption),
                (Some(_), Some(_)) => Some(E::BlobCustomerSpecifiedEncryptionMismatch),
            };
            assert_eq!(of(given.get("block").await.err()), read, "get {case}");
        }
        // A write of the whole blob brings an encryption of its own.
        for name in ["block", "append", "page"] {
            bench.delete(name, None, Some(DeleteSnapshots::Include)).await.unwrap();
        }
    }
}

/// Blocks of a list are all encrypted as the list is.
#[tokio::test]
async fn a_list_holds_blocks_of_one_encryption() {
    let bench = Bench::with(with_scopes(&["red"])).await;
    let (plain, keyed, scoped) = (Under::plain(&bench), Under::key(&bench, 1), Under::scope(&bench, "red"));
    plain.put_block("b", "a", b"plain").await.unwrap();
    plain.put_block_list("b", &[(BlockSource::Latest, "a")]).await.unwrap();
    // A block of another encryption may be staged, and replaces the blob with its list.
    keyed.put_block("b", "k", b"keyed").await.unwrap();
    let other = scoped.put_block("b", "s", b"scoped").await;
    assert_eq!(
        code(other),
        ErrorCode::BlobCustomerSpecifiedEncryptionMismatch,
        "beside another in one stage"
    );
    let both = [(BlockSource::Committed, "a"), (BlockSource::Latest, "k")];
    let mixed = keyed.put_block_list("b", &both).await;
    assert_eq!(code(mixed), ErrorCode::BlobDoesNotUseCustomerSpecifiedEncryption, "with a block that stays");
    let list = [(BlockSource::Latest, "k")];
    let without = plain.put_block_list("b", &list).await;
    assert_eq!(code(without), ErrorCode::BlobUsesCustomerSpecifiedEncryption);
    keyed.put_block_list("b", &list).await.unwrap();
    assert_eq!(keyed.get("b").await.unwrap(), b"keyed");
    assert_eq!(code(plain.get("b").await), ErrorCode::BlobUsesCustomerSpecifiedEncryption);
    keyed.put_block("b", "l", b" again").await.unwrap();
    keyed.put_block_list("b", &[(BlockSource::Committed, "k"), (BlockSource::Latest, "l")]).await.unwrap();
    assert_eq!(keyed.get("b").await.unwrap(), b"keyed again");
}

/// Only what is encrypted alike is shared; everything else is read and encrypted anew.
#[tokio::test]
async fn copies_are_encrypted_as_they_are_asked_to_be() {
    let bench = Bench::with(with_scopes(&["red", "blue"])).await;
    let all = [
        Under::plain(&bench),
        Under::key(&bench, 1),
        Under::scope(&bench, "red"),
        Under::scope(&bench, "blue"),
    ];
    let content = bytes(9 * MIB + 5);
    for (number, from) in all.iter().enumerate() {
        from.put("source", &content).await.unwrap();
        for (other, to) in all.iter().enumerate() {
            let live = bench.services.engine().extents().stats().live_bytes;
            let copied = from.copy(Op::PutBlobFromUrl, "source", to, "copy").await.unwrap();
            assert_eq!(copied.crc64, Some(lazuli_service::crc64(&content)), "{number} {other}");
            let more = bench.services.engine().extents().stats().live_bytes > live;
            assert_eq!(more, number != other || number == 1, "{number} {other}");
            assert!(to.get("copy").await.unwrap() == content, "{number} {other}");
            bench.delete("copy", None, None).await.unwrap();
            // Copy Blob brings no key: it copies what it can read, large sources after its answer.
            if from.key.is_none() && to.key.is_none() {
                from.copy(Op::CopyBlob, "source", to, "copy").await.unwrap();
                for _ in 0..500 {
                    let blob = bench.properties("copy").await.unwrap();
                    if blob.extras().copy.as_ref().is_some_and(|copy| copy.status != CopyStatus::Pending) {
                        break;
                    }
                    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                }
                assert!(to.get("copy").await.unwrap() == content, "{number} {other} by Copy Blob");
                bench.delete("copy", None, None).await.unwrap();
            }
        }
        bench.delete("source", None, None).await.unwrap();
        bench.sweep().await;
    }
    all[1].put("source", b"x").await.unwrap();
    let refused = all[0].copy(Op::CopyBlob, "source", &all[0], "copy").await;
    assert_eq!(code(refused), ErrorCode::BlobUsesCustomerSpecifiedEncryption);
}

/// A container's default, what it forbids, and a scope that is taken away.
#[tokio::test]
async fn scopes_are_enforced() {
    let engine = crate::testing::engine(Host::real()).await;
    let bench = Bench::over(engine.clone(), with_scopes(&["red", "blue"])).await;
    let create = async |name: &str, scope: &str, deny: bool| {
        let input = CreateContainer {
            container: name.into(),
            metadata: Metadata::default(),
            public_access: Default::default(),
            default_encryption_scope: Some(scope.into()),
            deny_encryption_scope_override: deny,
        };
        input.execute(&bench.services, &bench.context).await
    };
    assert_eq!(code(create("green", "green", false).await), ErrorCode::EncryptionScopeNotAvailable);
    create("red", "red", false).await.unwrap();
    create("only-red", "red", true).await.unwrap();
    let put = async |under: &Under<'_>, container: &str| {
        let input = PutBlockBlob {
            at: BlobAddress { container: container.into(), blob: "b".into() },
            preconditions: Preconditions::default(),
            properties: under.properties(),
            digests: Digests::default(),
            body: Body::from(Bytes::from_static(b"bytes")),
            limit: u64::MAX,
        };
        input.execute(&bench.services, &under.context).await?;
        let properties = GetBlobProperties {
            at: BlobAddress { container: container.into(), blob: "b".into() },
            state: BlobState::Base,
            preconditions: Preconditions::default(),
            customer_key: under.key.clone(),
        };
        let found = properties.execute(&bench.services, &under.context, policy::GetBlobProperties).await?;
        Ok(found.blob.encryption_scope)
    };
    let (plain, blue) = (Under::plain(&bench), Under::scope(&bench, "blue"));
    assert_eq!(put(&plain, "red").await.unwrap().as_deref(), Some("red"));
    assert_eq!(put(&blue, "red").await.unwrap().as_deref(), Some("blue"));
    assert_eq!(put(&Under::key(&bench, 1), "red").await.unwrap(), None);
    assert_eq!(put(&plain, "only-red").await.unwrap().as_deref(), Some("red"));
    let forbidden = ErrorCode::RequestForbiddenByContainerEncryptionPolicy;
    assert_eq!(code(put(&blue, "only-red").await), forbidden);
    assert_eq!(code(put(&Under::key(&bench, 1), "only-red").await), forbidden);
    assert_eq!(code(plain.put_block_in("red", "green").await), ErrorCode::EncryptionScopeNotAvailable);
    // The scope is not configured any more: its blobs are there, and their bytes are not to be had.
    let later = Bench {
        services: crate::testing::Servers::new(engine, with_scopes(&["blue"]), 1).await,
        context: bench.context.clone(),
    };
    let properties = || GetBlobProperties {
        at: BlobAddress { container: "only-red".into(), blob: "b".into() },
        state: BlobState::Base,
        preconditions: Preconditions::default(),
        customer_key: None,
    };
    properties().execute(&later.services, &later.context, policy::GetBlobProperties).await.unwrap();
    let read = GetBlob { properties: properties(), range: None };
    let read = read.execute(&later.services, &later.context, policy::GetBlob).await;
    assert_eq!(code(read), ErrorCode::EncryptionScopeNotAvailable);
}

/// Senders without memory make many small pieces, which are put together: opened, and sealed anew.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_small_pieces_become_large_ones() {
    let bench = Bench::with(ServiceOptions { upload_memory: 0, ..ServiceOptions::default() }).await;
    let under = Under::key(&bench, 3);
    let whole = Bytes::from(bytes(36 * MIB + 12_345));
    let frames: Vec<_> = (0..whole.len())
        .step_by(60_000)
        .map(|at| Ok(whole.slice(at..whole.len().min(at + 60_000))))
        .collect();
    let body = Body::new(futures_util::stream::iter(frames), None);
    let stored = under.put_body("b", body).await.unwrap();
    assert_eq!(stored.crc64, lazuli_service::crc64(&whole));
    assert_eq!(stored.md5, Some(lazuli_service::md5(&whole)));
    assert!(under.get("b").await.unwrap() == whole[..]);
    let part = under.get_part("b", None, Some("bytes=8000000-20000000")).await.unwrap();
    assert!(part == whole[8_000_000..=20_000_000]);
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Ranges of all kinds of contents, at the ends of frames and everywhere else.
    #[test]
    fn every_range_is_read(
        length in prop_oneof![1usize..40_000, 60_000usize..140_000, 4_190_000usize..4_200_000],
        cuts in prop::collection::vec((0usize..5_000_000, 0usize..300_000), 8),
    ) {
        runtime().block_on(async {
            let bench = Bench::new().await;
            let under = Under::key(&bench, 4);
            let whole = bytes(length);
            under.put("put", &whole).await.unwrap();
            under.create_append_blob("appended").await.unwrap();
            for part in whole.chunks(length / 3 + 1) {
                under.append("appended", part).await.unwrap();
            }
            for (from, size) in cuts {
                let start = from % length;
                let end = (start + size).min(length - 1);
                let range = format!("bytes={start}-{end}");
                for name in ["put", "appended"] {
                    let read = under.get_part(name, None, Some(&range)).await.unwrap();
                    assert!(read == whole[start..=end], "{name} {range} of {length}");
                }
            }
        });
    }

    /// Pages written over each other with a key, against a vector; snapshots keep what they saw.
    #[test]
    fn pages_are_cut_without_being_opened(
        writes in prop::collection::vec((0u64..64, 1u64..32, any::<bool>()), 1..24),
        snapshot_at in 0usize..24,
    ) {
        runtime().block_on(async {
            let bench = Bench::new().await;
            let under = Under::key(&bench, 5);
            under.create_page_blob("p", 96 * PAGE).await.unwrap();
            let mut model = vec![0; 96 * PAGE as usize];
            let mut kept = None;
            for (number, (from, pages, clears)) in writes.into_iter().enumerate() {
                if number == snapshot_at {
                    kept = Some((under.snapshot("p").await.unwrap(), model.clone()));
                }
                let range = from * PAGE..(from + pages) * PAGE;
                let into = range.start as usize..range.end as usize;
                if clears && number % 3 == 0 {
                    under.clear_pages("p", range).await.unwrap();
                    model[into].fill(0);
                } else {
                    let new: Vec<u8> = (0..pages * PAGE).map(|at| (at as usize + number) as u8).collect();
                    under.put_page("p", range.start, &new).await.unwrap();
                    model[into].copy_from_slice(&new);
                }
            }
            bench.sweep().await;
            assert!(under.get("p").await.unwrap() == model);
            if let Some((snapshot, model)) = kept {
                assert!(under.get_part("p", Some(snapshot), None).await.unwrap() == model);
            }
        });
    }
}
