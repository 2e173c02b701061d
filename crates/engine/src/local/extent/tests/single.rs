//! One property per test.

use super::*;
use crate::{extents::MAX_CHUNK, local::extent::record::SUB_BLOCK};

#[test]
fn nothing_is_on_disk_before_the_first_write() {
    let store = Store::new();
    assert_eq!(store.disk.calls(), 0);
    assert_eq!(store.extents.stats().total_bytes, 0);
}

#[test]
fn every_range_of_a_chunk_can_be_read() {
    let options = ExtentOptions { extent_bytes: 16 << 20, ..small() };
    let store = Store::open(SimDisk::new(), Kv::default(), 1, options).unwrap();
    for len in [0, 1, 4_000, SUB_BLOCK - 1, SUB_BLOCK, SUB_BLOCK + 1, 3 * SUB_BLOCK + 77, MAX_CHUNK] {
        let bytes = payload(len as u64, len);
        let written = store.write(&bytes).unwrap();
        assert_eq!((written.len as usize, written.crc64), (len, crate::crc::crc64(&bytes)));
        let cuts = [0, 1, len / 3, len / 2, len.saturating_sub(1), len];
        for (start, end) in cuts.iter().flat_map(|&a| cuts.iter().map(move |&b| (a, b))) {
            if start <= end && end <= len {
                let read = store.read(written.id, start as u32..end as u32).unwrap();
                assert_eq!(read, &bytes[start..end], "{len}: {start}..{end}");
            }
        }
        let beyond = len as u32 + 1;
        assert!(matches!(store.read(written.id, 0..beyond), Err(EngineError::Corrupt(_))));
    }
}

#[test]
fn parts_are_one_payload() {
    let store = Store::new();
    let whole = payload(5, 20_000);
    let parts = whole.chunks(3_333).map(Bytes::copy_from_slice).collect();
    let written = RUNTIME.block_on(store.handle().write_parts(parts)).unwrap();
    assert_eq!(store.read(written.id, 0..20_000).unwrap(), whole);
}

#[test]
fn a_chunk_over_the_cap_is_refused() {
    let store = Store::new();
    let too_long = vec![0; MAX_CHUNK + 1];
    assert!(matches!(store.write(&too_long), Err(EngineError::TooLarge(_))));
}

#[test]
fn a_dropped_guard_cannot_be_published() {
    let store = Store::new();
    let written = store.write(b"bytes").unwrap();
    let id = written.id;
    drop(written);
    assert!(store.commit(&[id], &[]).is_err());
    assert_eq!(store.extents.stats().pending_chunks, 0);
    store.check_counts();
}

#[test]
fn a_refused_commit_leaves_the_chunk_with_its_guard() {
    let store = Store::new();
    let written = store.write(b"bytes").unwrap();
    assert!(store.extents.claim(&[written.id]));
    assert!(!store.extents.claim(&[written.id]), "claimed once");
    store.extents.aborted(&[written.id]);
    store.commit(&[written.id], &[]).unwrap();
    assert!(!store.extents.claim(&[written.id]), "published");
    let id = written.id;
    drop(written);
    assert_eq!(store.read(id, 0..5).unwrap(), &b"bytes"[..]);
}

#[test]
fn a_guard_dropped_while_its_commit_is_under_way_does_not_stop_it() {
    let store = Store::new();
    let written = store.write(b"bytes").unwrap();
    let id = written.id;
    assert!(store.extents.claim(&[id]));
    drop(written);
    store.extents.sync(&[id]).unwrap();
    let (rows, under_way) = store.extents.rows(&[id], &[], &|key| store.kv.get(key)).unwrap();
    store.kv.apply(rows);
    store.extents.committed(&[id], &[], under_way);
    assert_eq!(store.read(id, 0..5).unwrap(), &b"bytes"[..]);
    store.check_counts();
}

#[test]
fn a_claim_is_all_or_nothing() {
    let store = Store::new();
    let one = store.write(b"one").unwrap();
    let two = store.write(b"two").unwrap();
    let gone = store.write(b"gone").unwrap().id;
    assert!(!store.extents.claim(&[one.id, gone, two.id]));
    assert!(store.extents.claim(&[one.id, two.id]));
}

#[test]
fn an_emptied_extent_is_used_again() {
    let store = Store::new();
    let mut old = Vec::new();
    for seed in 0..200 {
        let id = store.put(&payload(seed, 10_000)).unwrap();
        if let Some(last) = old.pop() {
            store.commit(&[], &[last]).unwrap();
        }
        old.push(id);
    }
    let stats = store.extents.stats();
    assert!(stats.total_bytes <= 512 << 10, "{stats:?}");
    store.check_counts();
}

#[test]
fn a_pin_keeps_released_bytes_readable() {
    let store = Store::new();
    let bytes = payload(1, 10_000);
    let id = store.put(&bytes).unwrap();
    let pin = store.extents.pin();
    store.commit(&[], &[id]).unwrap();
    let churn = || {
        for seed in 0..60 {
            let id = store.put(&payload(seed, 20_000)).unwrap();
            store.commit(&[], &[id]).unwrap();
        }
    };
    churn();
    assert_eq!(store.read(id, 0..10_000).unwrap(), bytes);
    drop(pin);
    churn();
    assert!(store.read(id, 0..10_000).is_err());
}

#[test]
fn a_pin_keeps_a_chunk_that_is_moved_and_then_released() {
    let store = Store::new();
    let bytes = payload(1, 5_000);
    let id = store.put(&bytes).unwrap();
    let garbage: Vec<_> = (0..12).map(|seed| store.put(&payload(seed, 10_000)).unwrap()).collect();
    store.commit(&[], &garbage).unwrap();
    store.collect().unwrap();
    assert_ne!(store.extents.stats().collected_bytes, 0);
    // Its first extent is gone by now.
    for seed in 0..40 {
        let id = store.put(&payload(seed, 20_000)).unwrap();
        store.commit(&[], &[id]).unwrap();
    }
    assert_eq!(store.read(id, 0..5_000).unwrap(), bytes);
    let pin = store.extents.pin();
    store.commit(&[], &[id]).unwrap();
    for seed in 0..40 {
        let id = store.put(&payload(seed, 20_000)).unwrap();
        store.commit(&[], &[id]).unwrap();
    }
    assert_eq!(store.read(id, 0..5_000).unwrap(), bytes);
    drop(pin);
    store.check_counts();
}

#[test]
fn an_extent_is_not_reused_before_its_last_release_is_durable() {
    let store = Store::new();
    let bytes = payload(1, 5_000);
    let id = store.put(&bytes).unwrap();
    let before = store.kv.copy();
    // The batch is made, but the power may go before it is durable ...
    store.extents.rows(&[], &[id], &|key| store.kv.get(key)).unwrap();
    // ... while others go on writing.
    for seed in 0..60 {
        drop(store.write(&payload(seed, 20_000)).unwrap());
    }
    let image = store.disk.images().swap_remove(0);
    let after = Store::open(image, before, 2, small()).unwrap();
    assert_eq!(after.read(id, 0..5_000).unwrap(), bytes);
}

#[test]
fn an_extent_is_not_reused_while_any_of_two_releases_is_under_way() {
    let store = Store::new();
    let bytes = payload(1, 5_000);
    let (first, second) = (store.put(&bytes).unwrap(), store.put(&bytes).unwrap());
    let release = |id| {
        let (rows, under_way) = store.extents.rows(&[], &[id], &|key| store.kv.get(key)).unwrap();
        store.kv.apply(rows);
        under_way
    };
    let under_way = release(first);
    let before = store.kv.copy();
    let _later = release(second);
    // Only the first is durable.
    store.extents.committed(&[], &[first], under_way);
    for seed in 0..60 {
        drop(store.write(&payload(seed, 20_000)).unwrap());
    }
    let image = store.disk.images().swap_remove(0);
    let after = Store::open(image, before, 2, small()).unwrap();
    assert_eq!(after.read(second, 0..5_000).unwrap(), bytes);
}

#[test]
fn a_chunk_released_while_it_is_copied_stays_released() {
    let store = Store::new();
    let id = store.put(&payload(1, 5_000)).unwrap();
    let garbage: Vec<_> = (0..12).map(|seed| store.put(&payload(seed, 10_000)).unwrap()).collect();
    store.commit(&[], &garbage).unwrap();
    let inner = store.clone();
    let commit: CommitCopies = Arc::new(move |copies| {
        inner.commit(&[], &[id])?;
        inner.commit(&copies, &[])
    });
    store.extents.collect(&commit).unwrap();
    store.check_counts();
    assert_eq!(store.extents.stats().live_bytes, 0);
    assert!(store.kv.get(&crate::local::extent::rows::chunk_key(id)).unwrap().is_none());
}

#[test]
fn orphans_are_reclaimed() {
    let store = Store::new();
    let kept = store.put(&payload(0, 9_000)).unwrap();
    for seed in 1..100 {
        // Written, never published: as after a crash, or a client that went away.
        drop(store.write(&payload(seed, 9_000)).unwrap());
    }
    let store = store.reopen(2);
    store.collect().unwrap();
    let stats = store.extents.stats();
    assert!(stats.total_bytes <= 256 << 10, "{stats:?}");
    assert_eq!(store.read(kept, 0..9_000).unwrap(), payload(0, 9_000));
}

#[test]
fn lanes_go_on_where_the_last_run_ended() {
    let store = Store::new();
    let id = store.put(&payload(1, 5_000)).unwrap();
    let calls = store.disk.calls();
    let store = store.reopen(2);
    assert_eq!(store.disk.calls(), calls, "opening writes nothing");
    let next = store.put(&payload(2, 5_000)).unwrap();
    assert_eq!(store.extents.stats().extents, 1);
    assert_eq!(store.read(id, 0..5_000).unwrap(), payload(1, 5_000));
    assert_eq!(store.read(next, 0..5_000).unwrap(), payload(2, 5_000));
}

#[test]
fn extents_grow_with_the_store() {
    let store = Store::new();
    store.put(b"one").unwrap();
    assert_eq!(store.extents.stats().total_bytes, 64 << 10);
    for seed in 0..100 {
        store.put(&payload(seed, 12_000)).unwrap();
    }
    let stats = store.extents.stats();
    assert!(stats.total_bytes / stats.extents > 128 << 10, "{stats:?}");
}

#[test]
fn a_full_disk_refuses_bytes_and_still_lets_them_go() {
    let disk = SimDisk::new();
    disk.set_capacity(Some(400 << 10));
    let options = ExtentOptions { reserve_bytes: 128 << 10, ..small() };
    let store = Store::open(disk, Kv::default(), 1, options).unwrap();
    let mut ids = Vec::new();
    loop {
        match store.put(&payload(ids.len() as u64, 10_000)) {
            Ok(id) => ids.push(id),
            Err(EngineError::OutOfSpace) => break,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(ids.len() >= 15, "{}", ids.len());
    assert!(store.extents.failed().is_none());
    // Every second chunk goes; the collector makes room out of the reserve.
    let (mut keep, mut drop) = (Vec::new(), Vec::new());
    for (n, id) in ids.iter().enumerate() {
        if n % 4 == 0 { keep.push((n, *id)) } else { drop.push(*id) }
    }
    store.commit(&[], &drop).unwrap();
    store.collect().unwrap();
    store.put(&payload(99, 10_000)).unwrap();
    for (n, id) in keep {
        assert_eq!(store.read(id, 0..10_000).unwrap(), payload(n as u64, 10_000));
    }
    store.check_counts();
}

#[test]
fn a_damaged_chunk_stops_the_collection_of_its_extent_and_nothing_else() {
    let store = Store::new();
    let bad = store.put(&payload(1, 5_000)).unwrap();
    let good = store.put(&payload(2, 5_000)).unwrap();
    let garbage: Vec<_> = (0..12).map(|seed| store.put(&payload(seed, 10_000)).unwrap()).collect();
    store.commit(&[], &garbage).unwrap();
    let dir = Disk::Sim(store.disk.clone()).dir(Path::new("ext")).unwrap();
    let file = dir.open("0000000000000001.x").unwrap();
    file.write_at(4_096 + 500, &[std::io::IoSlice::new(b"damage")]).unwrap();
    store.collect().unwrap();
    assert_eq!(store.extents.stats().damaged_extents, 1);
    assert!(matches!(store.read(bad, 0..5_000), Err(EngineError::Corrupt(_))));
    assert_eq!(store.read(good, 0..5_000).unwrap(), payload(2, 5_000));
    store.commit(&[], &[bad, good]).unwrap();
    store.check_counts();
}

#[test]
fn the_collector_wakes_by_itself() {
    let store = Store::new();
    let inner = store.clone();
    store.extents.start_collector(Arc::new(move |copies| inner.commit(&copies, &[])));
    let kept = store.put(&payload(1, 5_000)).unwrap();
    let garbage: Vec<_> = (0..30).map(|seed| store.put(&payload(seed, 10_000)).unwrap()).collect();
    store.commit(&[], &garbage).unwrap();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while store.extents.stats().collected_bytes == 0 {
        assert!(std::time::Instant::now() < end, "{:?}", store.extents.stats());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    store.extents.stop_collector();
    assert_eq!(store.read(kept, 0..5_000).unwrap(), payload(1, 5_000));
    store.check_counts();
}

#[test]
fn concurrent_writers_use_several_lanes() {
    let options = ExtentOptions { writers: 2, extent_bytes: 4 << 20, first_extent_bytes: 4 << 20, ..small() };
    let dir = std::env::temp_dir().join(format!("lazuli-writers-{}", std::process::id()));
    let kv = Kv::default();
    let real = Disk::Real.dir(&dir).unwrap();
    let space = crate::local::space::Space::plain(real.clone(), options.reserve_bytes);
    let extents = LocalExtents::open(real, options, 1, Vec::new(), Arc::new(kv.clone()), space).unwrap();
    let store = Store { disk: SimDisk::new(), kv, extents, commits: Arc::default() };
    let mut ids = std::thread::scope(|scope| {
        let writer = |thread: u64| {
            let store = store.clone();
            scope.spawn(move || {
                let one = |n| (thread * 100 + n, store.put(&payload(thread * 100 + n, 100_000)).unwrap());
                (0..30).map(one).collect::<Vec<_>>()
            })
        };
        let threads: Vec<_> = (0..4).map(writer).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let release: Vec<_> = ids.drain(..40).map(|(_, id)| id).collect();
    store.commit(&[], &release).unwrap();
    store.collect().unwrap();
    for (seed, id) in &ids {
        assert_eq!(store.read(*id, 0..100_000).unwrap(), payload(*seed, 100_000));
    }
    store.check_counts();
    std::fs::remove_dir_all(dir).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn few_files_are_open_however_many_were_written_or_read() {
    let home = tempfile::tempdir().unwrap();
    let real = Disk::Real.dir(home.path()).unwrap();
    let options = ExtentOptions { writers: 2, open_files: 4, ..small() };
    let most = options.writers + options.open_files;
    let kv = Kv::default();
    let space = crate::local::space::Space::plain(real.clone(), options.reserve_bytes);
    let options = ExtentOptions { extent_bytes: 64 << 10, ..options };
    let extents = LocalExtents::open(real, options, 1, Vec::new(), Arc::new(kv), space).unwrap();
    let open = || {
        let links = std::fs::read_dir("/proc/self/fd").unwrap();
        let paths = links.filter_map(|link| std::fs::read_link(link.unwrap().path()).ok());
        paths.filter(|path| path.starts_with(home.path()) && path != home.path()).count()
    };
    // Nothing is published: these are bytes of uploads under way, and no commit has synced them.
    let written: Vec<_> = (0..60)
        .map(|seed| {
            let written = RUNTIME
                .block_on(Extents::local(extents.clone()).write(payload(seed, 50_000).into()))
                .unwrap();
            assert!(open() <= most, "{} open after {seed} extents", open());
            written
        })
        .collect();
    for (seed, written) in written.iter().enumerate() {
        let read = RUNTIME.block_on(extents.read(written.id, 0..50_000)).unwrap();
        assert_eq!(read, payload(seed as u64, 50_000));
        assert!(open() <= most, "{} open after {seed} were read", open());
    }
}
