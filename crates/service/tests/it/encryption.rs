//! What is encrypted with a customer's key or under a scope: it reads back by every path, and stands nowhere on disk.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use lazuli_engine::{Engine, Host, Options};
use lazuli_model::account::AccountFeatures;
use lazuli_model::admission::Preconditions;
use lazuli_model::blob::{CopyStatus, CustomerKey, CustomerKeyHash};
use lazuli_model::error::ErrorCode;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Op, WritingOp, policy};
use lazuli_model::range::ByteRange;
use lazuli_model::time::Timestamp;
use lazuli_service::blob::*;
use lazuli_service::{Answer, Body, Context, ServiceOptions};
use proptest::prelude::*;
use zeroize::Zeroizing;

use crate::support::{Bench, at, copying, drain};

const MIB: usize = 1024 * 1024;
const PAGE: u64 = 512;

/// Requests that are encrypted in one way.
struct Under<'a> {
    bench: &'a Bench,
    context: Context,
    key: Option<CustomerKey>,
}

fn key(byte: u8) -> CustomerKey {
    CustomerKey::new(Zeroizing::new([byte; 32]), CustomerKeyHash([byte ^ 255; 32]))
}

fn with_scopes(scopes: &[&str]) -> ServiceOptions {
    let mut features = AccountFeatures::default();
    features.entry("acct").encryption_scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
    ServiceOptions { features: Arc::new(features), ..ServiceOptions::default() }
}

impl<'a> Under<'a> {
    fn plain(bench: &'a Bench) -> Self {
        Self { bench, context: bench.context.clone(), key: None }
    }

    fn key(bench: &'a Bench, byte: u8) -> Self {
        Self { key: Some(key(byte)), ..Self::plain(bench) }
    }

    fn scope(bench: &'a Bench, scope: &str) -> Self {
        let context = Context { encryption_scope: Some(scope.into()), ..bench.context.clone() };
        Self { context, ..Self::plain(bench) }
    }

    fn properties(&self) -> BlobProperties {
        BlobProperties { customer_key: self.key.clone(), ..BlobProperties::default() }
    }

    async fn put(&self, name: &str, bytes: &[u8]) -> Answer<Stored> {
        self.put_body(name, Body::from(Bytes::copy_from_slice(bytes))).await
    }

    async fn put_body(&self, name: &str, body: Body) -> Answer<Stored> {
        let input = PutBlockBlob {
            at: at(name),
            preconditions: Preconditions::default(),
            properties: self.properties(),
            digests: Digests::default(),
            body,
            limit: u64::MAX,
        };
        input.execute(&self.bench.services, &self.context).await
    }

    async fn put_block(&self, name: &str, id: &str, bytes: &[u8]) -> Answer<BlockStored> {
        let input = PutBlock {
            at: at(name),
            preconditions: Preconditions::default(),
            block_id: id.as_bytes().to_vec(),
            digests: Digests::default(),
            body: Body::from(Bytes::copy_from_slice(bytes)),
            limit: u64::MAX,
            customer_key: self.key.clone(),
        };
        input.execute(&self.bench.services, &self.context).await
    }

    async fn put_block_list(&self, name: &str, blocks: &[(BlockSource, &str)]) -> Answer<Stamped> {
        let input = PutBlockList {
            at: at(name),
            preconditions: Preconditions::default(),
            properties: self.properties(),
            blocks: blocks.iter().map(|(source, id)| (*source, id.as_bytes().to_vec())).collect(),
        };
        input.execute(&self.bench.services, &self.context).await
    }

    async fn create_append_blob(&self, name: &str) -> Answer<Stamped> {
        let input = PutAppendBlob {
            at: at(name),
            preconditions: Preconditions::default(),
            properties: self.properties(),
        };
        input.execute(&self.bench.services, &self.context).await
    }

    async fn append(&self, name: &str, bytes: &[u8]) -> Answer<Appended> {
        let input = AppendBlock {
            at: at(name),
            preconditions: Preconditions::default(),
            digests: Digests::default(),
            body: Body::from(Bytes::copy_from_slice(bytes)),
            limit: u64::MAX,
            customer_key: self.key.clone(),
        };
        input.execute(&self.bench.services, &self.context, policy::AppendBlock).await
    }

    async fn create_page_blob(&self, name: &str, length: u64) -> Answer<Stamped> {
        let input = PutPageBlob {
            at: at(name),
            preconditions: Preconditions::default(),
            properties: self.properties(),
            length,
            sequence_number: 0,
        };
        input.execute(&self.bench.services, &self.context).await
    }

    async fn put_page(&self, name: &str, from: u64, bytes: &[u8]) -> Answer<PageStored> {
        let input = PutPage {
            at: at(name),
            preconditions: Preconditions::default(),
            range: from..from + bytes.len() as u64,
            digests: Digests::default(),
            body: Body::from(Bytes::copy_from_slice(bytes)),
            customer_key: self.key.clone(),
        };
        input.execute(&self.bench.services, &self.context).await
    }

    async fn clear_pages(&self, name: &str, range: std::ops::Range<u64>) -> Answer<()> {
        let preconditions = Preconditions::default();
        let input = ClearPages { at: at(name), preconditions, range, customer_key: self.key.clone() };
        input.execute(&self.bench.services, &self.context).await.map(drop)
    }

    async fn set_metadata(&self, name: &str) -> Answer<Stamped> {
        let input = SetBlobMetadata {
            at: at(name),
            preconditions: Preconditions::default(),
            metadata: Metadata::default(),
            customer_key: self.key.clone(),
        };
        input.execute(&self.bench.services, &self.context).await
    }

    async fn snapshot(&self, name: &str) -> Answer<Timestamp> {
        let input = SnapshotBlob {
            at: at(name),
            preconditions: Preconditions::default(),
            metadata: Metadata::default(),
            customer_key: self.key.clone(),
        };
        Ok(input.execute(&self.bench.services, &self.context).await?.snapshot)
    }

    async fn get_part(
        &self,
        name: &str,
        snapshot: Option<Timestamp>,
        range: Option<&str>,
    ) -> Answer<Vec<u8>> {
        let properties = GetBlobProperties {
            at: at(name),
            snapshot,
            preconditions: Preconditions::default(),
            customer_key: self.key.clone(),
        };
        let input = GetBlob { properties, range: range.and_then(ByteRange::parse) };
        let (_, content) = input.execute(&self.bench.services, &self.context, policy::GetBlob).await?;
        drain(content.unwrap().1).await
    }

    async fn get(&self, name: &str) -> Answer<Vec<u8>> {
        self.get_part(name, None, None).await
    }

    /// Copies what these requests can read to what `to` writes.
    async fn copy(&self, op: Op, from: &str, to: &Under<'_>, name: &str) -> Answer<Copied> {
        let source = OwnSource {
            account: self.context.account.clone(),
            at: at(from),
            snapshot: None,
            preconditions: Preconditions::default(),
            customer_key: self.key.clone(),
        };
        let mut copy = copying(CopySource::Own(source), name);
        copy.given.customer_key = to.key.clone();
        copy.execute(&self.bench.services, &to.context, WritingOp::of(op).unwrap()).await
    }
}

fn code<T>(answer: Answer<T>) -> ErrorCode {
    answer.err().expect("refused").0.code
}

fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at.wrapping_mul(31) ^ (at >> 9) ^ (at >> 17)) as u8).collect()
}

/// The marker, over and over.
fn marked(marker: &str, length: usize) -> Vec<u8> {
    marker.bytes().cycle().take(length).collect()
}

const KINDS: [&str; 8] =
    ["INLINE", "CHUNKS", "BLOCK", "LARGEBLOCK", "APPENDED", "LARGEAPPEND", "PAGE", "LARGEPAGES"];

fn marker(prefix: &str, kind: &str) -> String {
    format!("{prefix}-{kind}-marker;")
}

/// Writes bytes in every way that there is, each marked.
async fn write_all(under: &Under<'_>, prefix: &str) {
    let of = |kind: &str, length: usize| marked(&marker(prefix, kind), length);
    let name = |kind: &str| format!("{prefix}-{kind}");
    under.put(&name("inline"), &of("INLINE", 900)).await.unwrap();
    under.put(&name("chunks"), &of("CHUNKS", 9 * MIB)).await.unwrap();
    under.put_block(&name("blocks"), "a", &of("BLOCK", 2_000)).await.unwrap();
    under.put_block(&name("blocks"), "b", &of("LARGEBLOCK", 5 * MIB)).await.unwrap();
    let list = [(BlockSource::Latest, "a"), (BlockSource::Latest, "b")];
    under.put_block_list(&name("blocks"), &list).await.unwrap();
    under.create_append_blob(&name("append")).await.unwrap();
    under.append(&name("append"), &of("APPENDED", 3_000)).await.unwrap();
    under.append(&name("append"), &of("LARGEAPPEND", 200_000)).await.unwrap();
    under.create_page_blob(&name("pages"), 4 * MIB as u64).await.unwrap();
    under.put_page(&name("pages"), 0, &of("LARGEPAGES", MIB)).await.unwrap();
    under.put_page(&name("pages"), 512 * 7, &of("PAGE", 512 * 4)).await.unwrap();
    under.snapshot(&name("pages")).await.unwrap();
    under.put_page(&name("pages"), 512 * 8, &of("PAGE", 512)).await.unwrap();
}

async fn read_all(under: &Under<'_>, prefix: &str) {
    let of = |kind: &str, length: usize| marked(&marker(prefix, kind), length);
    let name = |kind: &str| format!("{prefix}-{kind}");
    assert!(under.get(&name("inline")).await.unwrap() == of("INLINE", 900));
    assert!(under.get(&name("chunks")).await.unwrap() == of("CHUNKS", 9 * MIB));
    let blocks = [of("BLOCK", 2_000), of("LARGEBLOCK", 5 * MIB)].concat();
    assert!(under.get(&name("blocks")).await.unwrap() == blocks);
    let appended = [of("APPENDED", 3_000), of("LARGEAPPEND", 200_000)].concat();
    assert!(under.get(&name("append")).await.unwrap() == appended);
    let mut pages = of("LARGEPAGES", MIB);
    pages[512 * 7..512 * 11].copy_from_slice(&of("PAGE", 512 * 4));
    pages[512 * 8..512 * 9].copy_from_slice(&of("PAGE", 512));
    pages.resize(4 * MIB, 0);
    assert!(under.get(&name("pages")).await.unwrap() == pages);
}

/// Every file of a directory, one behind the other.
fn everything_in(directory: &Path) -> Vec<u8> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(everything_in(&path)),
            false => found.extend(std::fs::read(&path).unwrap()),
        }
    }
    found
}

fn holds(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_encrypted_stands_nowhere_on_disk() {
    let place = tempfile::tempdir().unwrap();
    let open = || Engine::open(place.path(), Options::default(), Host::real()).unwrap();
    let bench = Bench::over(open(), with_scopes(&["red"])).await;
    write_all(&Under::plain(&bench), "plain").await;
    write_all(&Under::key(&bench, 9), "keyed").await;
    write_all(&Under::scope(&bench, "red"), "scoped").await;
    // A copy is encrypted as the copy is, not as its source.
    let (plain, keyed, scoped) = (Under::plain(&bench), Under::key(&bench, 9), Under::scope(&bench, "red"));
    keyed.put("source", &marked("secret-COPY-marker;", 9 * MIB)).await.unwrap();
    keyed.copy(Op::PutBlobFromUrl, "source", &scoped, "copy").await.unwrap();
    let found = everything_in(place.path());
    for kind in KINDS {
        assert!(holds(&found, marker("plain", kind).as_bytes()), "the test can find {kind}");
        assert!(!holds(&found, marker("keyed", kind).as_bytes()), "{kind} with a key");
        assert!(!holds(&found, marker("scoped", kind).as_bytes()), "{kind} under a scope");
    }
    assert!(!holds(&found, b"secret-COPY-marker;"), "a copy");
    assert!(!holds(&found, &[9; 32]), "the key");
    for (under, prefix) in [(&plain, "plain"), (&keyed, "keyed"), (&scoped, "scoped")] {
        read_all(under, prefix).await;
        bench.sweep().await;
        read_all(under, prefix).await;
    }
    assert!(plain.get("copy").await.unwrap() == marked("secret-COPY-marker;", 9 * MIB));
    drop((plain, keyed, scoped));
    drop(bench);
    // The key of a scope is kept with the data.
    for _ in 0..100 {
        if let Ok(engine) = Engine::open(place.path(), Options::default(), Host::real()) {
            let services = lazuli_service::Services::new(engine, with_scopes(&["red"]));
            let properties = GetBlobProperties {
                at: at("scoped-chunks"),
                snapshot: None,
                preconditions: Preconditions::default(),
                customer_key: None,
            };
            let context = Context::reading("acct");
            let (_, content) = GetBlob { properties, range: None }
                .execute(&services, &context, policy::GetBlob)
                .await
                .unwrap();
            let read = drain(content.unwrap().1).await.unwrap();
            assert!(read == marked(&marker("scoped", "CHUNKS"), 9 * MIB), "after a restart");
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the engine does not open again");
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
    let engine = Engine::memory(Host::real());
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
            snapshot: None,
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
        snapshot: None,
        preconditions: Preconditions::default(),
        customer_key: None,
    };
    properties().execute(&later.services, &later.context, policy::GetBlobProperties).await.unwrap();
    let read = GetBlob { properties: properties(), range: None };
    let read = read.execute(&later.services, &later.context, policy::GetBlob).await;
    assert_eq!(code(read), ErrorCode::EncryptionScopeNotAvailable);
}

impl Under<'_> {
    /// Stages a block in another container, under a scope.
    async fn put_block_in(&self, container: &str, scope: &str) -> Answer<BlockStored> {
        let input = PutBlock {
            at: BlobAddress { container: container.into(), blob: "b".into() },
            preconditions: Preconditions::default(),
            block_id: b"a".to_vec(),
            digests: Digests::default(),
            body: Body::from(Bytes::from_static(b"bytes")),
            limit: u64::MAX,
            customer_key: None,
        };
        let context = Context { encryption_scope: Some(scope.into()), ..self.context.clone() };
        input.execute(&self.bench.services, &context).await
    }
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
