//! Uncommitted blocks are kept for a week after the last of them was staged.

use std::time::Duration;

use lazuli_model::admission::Preconditions;
use lazuli_service::blob::*;
use lazuli_service::{ServiceOptions, upkeep};

use crate::support::{Bench, at, code, done, listed, with_clock};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How far the end of blocks may be behind a week: it is not noted for each.
const LATE: Duration = Duration::from_secs(10 * 60);
const BLOCK: &[u8] = &[7; 40_000];

async fn staged(bench: &Bench, name: &str) -> Vec<String> {
    let input = GetBlockList {
        at: at(name),
        snapshot: None,
        preconditions: Preconditions::default(),
        kind: BlockListKind::All,
    };
    let mut ids = Vec::new();
    if let Ok(lists) = input.execute(&bench.services, &bench.context).await {
        done(lists.uncommitted(|id, _| ids.push(String::from_utf8_lossy(id).into_owned())).await);
    }
    ids
}

async fn walk(bench: &Bench) {
    for server in bench.services.all() {
        done(upkeep::walk_once(server).await);
    }
    bench.sweep().await;
}

#[tokio::test]
async fn a_week_after_the_last_block_all_are_gone() {
    for is_swept in [false, true] {
        let (bench, clock) = with_clock(ServiceOptions::default()).await;
        done(bench.put("committed", b"bytes").await);
        for name in ["new/b", "committed"] {
            done(bench.put_block(name, "one", BLOCK).await);
        }
        clock.advance(DAY * 6);
        for name in ["new/b", "committed"] {
            done(bench.put_block(name, "two", BLOCK).await);
        }
        // A week after the first, and right before a week after the last.
        clock.advance(DAY * 7 - Duration::from_secs(1));
        walk(&bench).await;
        assert_eq!(staged(&bench, "new/b").await, ["one", "two"]);
        assert_eq!(staged(&bench, "committed").await, ["one", "two"]);
        assert_eq!(listed(&bench, "").await, ["committed", "new/b?"]);
        assert_eq!(listed(&bench, "/").await, ["committed", "new/"]);
        clock.advance(LATE + Duration::from_secs(1));
        if is_swept {
            walk(&bench).await;
        }
        for name in ["new/b", "committed"] {
            assert_eq!(staged(&bench, name).await, Vec::<String>::new());
            let list = bench.put_block_list(name, &[(BlockSource::Latest, "one")]).await;
            assert_eq!(code(list), "InvalidBlockList", "{name}");
        }
        assert_eq!(listed(&bench, "").await, ["committed"]);
        assert_eq!(listed(&bench, "/").await, ["committed"]);
        assert_eq!(code(bench.delete("new/b", None, None).await), "BlobNotFound");
        // Ids of another length would not go with the old ones.
        done(bench.put_block("new/b", "three", BLOCK).await);
        assert_eq!(staged(&bench, "new/b").await, ["three"]);
        done(bench.put_block_list("new/b", &[(BlockSource::Latest, "three")]).await);
        walk(&bench).await;
        assert_eq!(done(bench.get("new/b", None).await), BLOCK);
        assert_eq!(done(bench.get("committed", None).await), b"bytes");
        let left: Vec<String> =
            bench.keys().await.into_iter().filter(|key| key.starts_with(['u', 'h', 'g', 'e'])).collect();
        assert_eq!(left, Vec::<String>::new(), "swept: {is_swept}");
        assert_eq!(bench.services.passed_over(), 0);
    }
}

/// Blocks that are staged side by side do not all write the key that says so.
#[tokio::test]
async fn the_week_begins_anew_with_each_block_although_few_say_so() {
    let (bench, clock) = with_clock(ServiceOptions::default()).await;
    for number in 0..30 {
        done(bench.put_block("b", &format!("{number:02}"), b"x").await);
        clock.advance(DAY);
    }
    assert_eq!(staged(&bench, "b").await.len(), 30);
    let blocks: Vec<String> = (0..30).map(|number| format!("{number:02}")).collect();
    let list: Vec<_> = blocks.iter().map(|id| (BlockSource::Latest, id.as_str())).collect();
    done(bench.put_block_list("b", &list).await);
    assert_eq!(done(bench.get("b", None).await).len(), 30);
}

/// Put Blob over a name with blocks that are over, and the sweeper afterwards.
#[tokio::test]
async fn what_replaces_the_name_gives_the_blocks_back() {
    let (bench, clock) = with_clock(ServiceOptions::default()).await;
    done(bench.put_block("b", "one", BLOCK).await);
    clock.advance(DAY * 8);
    done(bench.put("b", b"bytes").await);
    bench.sweep().await;
    let left: Vec<String> =
        bench.keys().await.into_iter().filter(|key| key.starts_with(['u', 'h', 'g'])).collect();
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(done(bench.get("b", None).await), b"bytes");
}
