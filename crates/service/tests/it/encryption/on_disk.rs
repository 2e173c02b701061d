//! No byte of what is encrypted is to be found in the directory.

use std::path::Path;

use lazuli_engine::{Engine, Host, Options};
use lazuli_model::admission::Preconditions;
use lazuli_model::operation::{Op, policy};
use lazuli_service::Context;
use lazuli_service::blob::*;

use super::MIB;
use super::under::{Under, with_scopes};
use crate::support::{Bench, at, drain};

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
                state: BlobState::Base,
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
