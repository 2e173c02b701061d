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
