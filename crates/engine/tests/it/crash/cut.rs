//! The power goes at every disk call of a life.

use super::disk::{Fate, Recorded};
use super::{life, scratch, script, strace, trace};
use lazuli_engine::Engine;
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;

const CALLS: &str = "trace=openat,close,dup,dup2,dup3,fcntl,lseek,read,write,writev,pwrite64,pwritev,pwritev2,\
                     ftruncate,fallocate,fsync,fdatasync,mkdir,rename,renameat,renameat2,unlink,unlinkat,rmdir,\
                     link,linkat,copy_file_range,sync_file_range";

#[test]
fn every_crash_keeps_what_was_acknowledged() {
    if !strace() {
        return;
    }
    let home = scratch();
    let dir = home.path().join("life");
    std::fs::create_dir(&dir).unwrap();
    let output = home.path().join("trace");
    let mut before =
        ["strace", "-f", "-xx", "-s", "100000000", "-e", CALLS, "-o"].map(OsString::from).to_vec();
    before.push(output.clone().into());
    assert!(life(&dir, &before).stdout(std::process::Stdio::null()).status().unwrap().success());
    let calls = trace::parse(&std::fs::read_to_string(&output).unwrap());

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let mut disk = Recorded::new(&dir);
    let (mut seen, mut changes, mut random) = (HashSet::new(), 0, 0x9E37_79B9_7F4A_7C15);
    let image_dir = home.path().join("image");
    for (number, call) in calls.iter().enumerate() {
        let acknowledged_before = acknowledged(&disk);
        if !disk.apply(call) && acknowledged(&disk) == acknowledged_before {
            continue;
        }
        changes += 1;
        let done = acknowledged(&disk);
        let (bytes, names) = disk.unsynced();
        for fates in fates(bytes, &mut random) {
            for names_there in name_cuts(names) {
                let image = disk.image(&fates, names_there);
                if !seen.insert((image.fingerprint(), done)) {
                    continue;
                }
                image.write(&image_dir).unwrap();
                let context = format!(
                    "cut behind call {number} ({}), {names_there} of {names} names, {fates:?}",
                    call.name
                );
                runtime.block_on(check(&image_dir, done, &context));
                std::fs::remove_dir_all(&image_dir).unwrap();
            }
        }
    }
    assert_eq!(acknowledged(&disk), script::STEPS, "the life did not come to its end: {}", disk.said);
    println!("{} images of {changes} changes", seen.len());
    assert!(changes > 100 && seen.len() > 300, "{} images of {changes} changes", seen.len());
}

fn acknowledged(disk: &Recorded) -> usize {
    disk.said.lines().filter(|line| line.starts_with("ack ")).count()
}

/// Every subset of few changes; of many: all, none, the last one alone, and some at random. The last one torn.
fn fates(count: usize, random: &mut u64) -> Vec<Vec<Fate>> {
    let mut all = vec![vec![Fate::There; count]];
    if count == 0 {
        return all;
    }
    all.push(vec![Fate::Missing; count]);
    let chosen = |mask: u64| {
        (0..count)
            .map(|n| if mask >> (n % 64) & 1 == 1 { Fate::There } else { Fate::Missing })
            .collect::<Vec<_>>()
    };
    if count <= 3 {
        all.extend((1..(1 << count) - 1).map(chosen));
    } else {
        for _ in 0..2 {
            *random ^= *random << 13;
            *random ^= *random >> 7;
            *random ^= *random << 17;
            all.push(chosen(*random));
        }
        let mut last = vec![Fate::Missing; count];
        last[count - 1] = Fate::There;
        all.push(last);
    }
    let mut torn = vec![Fate::There; count];
    torn[count - 1] = Fate::Torn;
    all.push(torn);
    all
}

fn name_cuts(count: usize) -> Vec<usize> {
    let mut cuts = vec![count, 0, count.saturating_sub(1)];
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

async fn check(dir: &Path, done: usize, context: &str) {
    let engine = match script::open(dir) {
        Ok(engine) => engine,
        Err(error) => panic!("{context}: {error}"),
    };
    let found = match script::read_all(&engine).await {
        Ok(found) => found,
        Err(error) => panic!("{context}: {error}"),
    };
    let (now, next) = (script::state_after(done), script::state_after(done + 1));
    assert!(
        script::is_state(&found, &now) || script::is_state(&found, &next),
        "{context}: {done} steps were acknowledged, found {:?}",
        found.keys().collect::<Vec<_>>()
    );
    goes_on(&engine, context).await;
}

/// What was opened takes writes again.
async fn goes_on(engine: &Engine, context: &str) {
    for step in [4, 0] {
        if let Err(error) = script::run_step(engine, step).await {
            panic!("{context}: after reopening: {error}");
        }
    }
    let found = script::read_all(engine).await.unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(found.get("k/a").map(|value| &value[..]), Some(&b"first"[..]), "{context}");
}
