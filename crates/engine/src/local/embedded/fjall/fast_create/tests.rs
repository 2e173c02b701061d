use super::{Scratch, remove_left};
use std::fs;

#[test]
fn what_a_killed_process_left_is_removed_and_nothing_else() {
    let parent = tempfile::tempdir().unwrap();
    let used = Scratch::new(parent.path(), 1).unwrap();
    let killed = Scratch::new(parent.path(), 2).unwrap();
    fs::create_dir(killed.path.join("keyspaces")).unwrap();
    fs::write(killed.path.join("0.jnl"), "").unwrap();
    // The lock goes, the directory stays.
    let left = killed.path.clone();
    killed._lock.unlock().unwrap();
    std::mem::forget(killed);
    let others = ["lazuli-crash-AbCdEf", "lazuli-1", "0000000000000000000000000000000a", "lazuli-"];
    for other in others {
        fs::create_dir(parent.path().join(other)).unwrap();
    }

    remove_left(parent.path());

    assert!(!left.exists());
    assert!(used.path.exists());
    assert!(others.iter().all(|other| parent.path().join(other).exists()));
    let path = used.path.clone();
    drop(used);
    assert!(!path.exists());
}
