use super::*;
use fjall::Database;

/// Whether a table that is in no list goes, as it stands there while a merge writes it.
fn is_removed(strategy: Leveled) -> bool {
    let home = tempfile::tempdir().expect("a directory");
    let made = |strategy: Leveled| {
        let db = Database::builder(home.path()).open().expect("opens");
        let options = || KeyspaceCreateOptions::default().compaction_strategy(Arc::new(strategy));
        let keyspace = db.keyspace("rows", options).expect("opens");
        (db, keyspace)
    };
    drop(made(strategy));
    // As a later version of this program opens it.
    let (_db, keyspace) = made(no_merges());
    keyspace.insert("a", "1").expect("written");
    keyspace.rotate_memtable_and_wait().expect("flushed");
    let listed: Vec<u64> = keyspace.tree.current_version().iter_tables().map(|table| table.id()).collect();
    let first = keyspace.tree.get_next_table_id();
    let unlisted = keyspace.path().join("tables").join((first + 7).to_string());
    std::fs::write(&unlisted, "half a table").expect("written");
    remove_unfinished(&keyspace, 0);
    assert!(!listed.is_empty(), "something was flushed");
    for table in listed {
        assert!(keyspace.path().join("tables").join(table.to_string()).exists(), "a listed table stays");
    }
    !unlisted.exists()
}

#[test]
fn what_a_merge_of_ours_left_is_removed() {
    assert!(is_removed(no_merges()));
}

#[test]
fn nothing_is_removed_where_fjall_merges_as_well() {
    assert!(!is_removed(Leveled::default()));
    assert!(!is_removed(leveled()));
}

#[test]
fn deletions_have_room_left_when_overwrites_have_used_theirs() {
    let merging = Merging::default();
    assert!(merging.may_shrink(SHRINKING));
    // What is refused takes nothing.
    (0..100).for_each(|_| assert!(!merging.may_shrink(SHRINKING)));
    assert!(merging.may_promise(PROMISED - SHRINKING));
    assert!(!merging.may_promise(1), "until some is given back");
}

fn bytes_in(dir: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(dir).expect("a directory").flatten();
    let size = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => bytes_in(&entry.path()),
        // A file may go meanwhile.
        _ => entry.metadata().map_or(0, |data| data.len()),
    };
    entries.map(size).sum()
}

/// Nothing else is written: no level becomes full.
#[tokio::test]
async fn much_that_was_deleted_is_given_back_in_a_quiet_time() {
    use crate::txn::{Plan, Txn, Write};
    const ROWS: u64 = 8_000;
    let home = tempfile::tempdir().expect("a directory");
    let options = crate::Options { memtable_bytes: 2 << 20, ..Default::default() };
    let engine = crate::Engine::open(home.path(), options, crate::Host::real()).expect("opens");
    let key = |n: u64| crate::Key::from(format!("row/{n:06}"));
    for first in (0..ROWS).step_by(200) {
        let row = |n| Write::Put(key(n), vec![b'v'; 1_500].into());
        let writes = (first..first + 200).map(row).collect();
        engine.commit(Txn { writes, ..Txn::new(engine.new_txn_id()) }).await.expect("commits");
    }
    let tables = home.path().join("kv/keyspaces");
    // Tables are written in the background.
    let until = Instant::now() + Duration::from_secs(30);
    while bytes_in(&tables) <= 8 << 20 && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let full = bytes_in(&tables);
    assert!(full > 8 << 20, "{full} bytes in tables");
    for first in (0..ROWS).step_by(1_000) {
        let delete: Result<(), crate::EngineError> = engine
            .run(None, |_| async move {
                let mut plan = Plan::new(());
                // One in a hundred stays.
                (first..first + 1_000).filter(|n| n % 100 != 0).for_each(|n| plan.delete(key(n)));
                Ok(plan)
            })
            .await;
        delete.expect("commits");
    }
    let until = Instant::now() + Duration::from_secs(30);
    while bytes_in(&tables) > full / 10 && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let left = bytes_in(&tables);
    assert!(left <= full / 10, "{left} of {full} bytes are still there");
    let reader = engine.reader().await.expect("a reader");
    for n in 0..ROWS {
        assert_eq!(reader.get_untracked(key(n)).await.expect("is read").is_some(), n % 100 == 0, "row {n}");
    }
}
