//! The power goes at every disk call of a life.

use super::disk::{Fate, Image, Recorded};
use super::{again, data, scratch, script, setting, strace, trace};
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Mutex, mpsc};

const CALLS: &str = "trace=openat,close,dup,dup2,dup3,fcntl,lseek,read,write,writev,pwrite64,pwritev,pwritev2,\
                     ftruncate,fallocate,fsync,fdatasync,mkdir,rename,renameat,renameat2,unlink,unlinkat,rmdir,\
                     link,linkat,copy_file_range,sync_file_range";

#[test]
fn every_crash_keeps_what_was_acknowledged() {
    if !strace() {
        return;
    }
    let tried = cut_everywhere("crash::child", &[], |dir, said, runtime| {
        runtime.block_on(check(dir, acknowledged(said)))
    });
    assert_eq!(acknowledged(&tried.disk.said), script::STEPS, "the life ended early: {}", tried.disk.said);
    assert!(tried.disk.has_seen("tables"), "no table was written");
    println!("{} images of {} changes", tried.images, tried.changes);
    assert!(
        tried.changes > 100 && tried.images > 300,
        "{} images of {} changes",
        tried.images,
        tried.changes
    );
}

/// What was tried on a life.
pub struct Tried {
    pub disk: Recorded,
    pub changes: usize,
    pub images: usize,
}

/// Judges a directory as a crash left it, given what the life had said by then.
pub type Judge = fn(&Path, &str, &tokio::runtime::Runtime) -> Result<(), String>;

/// Lives a life (a test of this binary), cuts it behind every call, and judges what each cut may leave behind.
pub fn cut_everywhere(test: &str, strace_options: &[&str], judge: Judge) -> Tried {
    let home = scratch();
    let dir = home.path().join("life");
    std::fs::create_dir(&dir).unwrap();
    let output = home.path().join("trace");
    let mut before = ["strace", "-f", "-xx", "-s", "100000000", "-e", CALLS].map(OsString::from).to_vec();
    before.extend(strace_options.iter().map(OsString::from));
    before.push("-o".into());
    before.push(output.clone().into());
    assert!(again(test, &dir, &before).stdout(std::process::Stdio::null()).status().unwrap().success());
    let calls = trace::parse(&std::fs::read_to_string(&output).unwrap());

    let mut disk = Recorded::new(&dir);
    let (mut seen, mut changes, mut random) =
        (HashSet::new(), 0, setting("LAZULI_TEST_SEED", 0x9E37_79B9_7F4A_7C15) | 1);
    let (send, receive) = mpsc::sync_channel::<Case>(2 * CHECKERS);
    let receive = Mutex::new(receive);
    let failures = &Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for checker in 0..CHECKERS {
            let (receive, dir) = (&receive, home.path().join(format!("image-{checker}")));
            scope.spawn(move || check_all(receive, failures, &dir, judge));
        }
        for (number, call) in calls.iter().enumerate() {
            let before = acknowledged(&disk.said);
            let changed = disk.apply(call);
            let done = acknowledged(&disk.said);
            if !changed && done == before {
                continue;
            }
            changes += 1;
            let (bytes, names) = disk.unsynced();
            for fates in fates(bytes, &mut random) {
                for names_there in name_cuts(names) {
                    let image = disk.image(&fates, names_there);
                    if !seen.insert((image.fingerprint(), done)) {
                        continue;
                    }
                    let context = format!(
                        "cut behind call {number} ({}), {names_there} of the names {:?}, {fates:?}",
                        call.name,
                        disk.unsynced_names()
                    );
                    let said = disk.said.clone();
                    send.send(Case { image, said, context }).expect("a checker");
                }
            }
        }
        drop(send);
    });
    let failures = failures.lock().unwrap();
    assert!(failures.is_empty(), "{} of {} images fail:\n{}", failures.len(), seen.len(), failures[0]);
    Tried { images: seen.len(), disk, changes }
}

/// Opening waits more than it computes.
const CHECKERS: usize = 4;

struct Case {
    image: Image,
    /// By the life, until then.
    said: String,
    context: String,
}

fn check_all(cases: &Mutex<mpsc::Receiver<Case>>, failures: &Mutex<Vec<String>>, dir: &Path, judge: Judge) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    loop {
        let case = cases.lock().map(|cases| cases.recv());
        let Ok(Ok(case)) = case else { return };
        case.image.write(dir).unwrap();
        let found = judge(dir, &case.said, &runtime);
        std::fs::remove_dir_all(dir).unwrap();
        // Goes on taking cases, so that the sender is never stuck.
        found.unwrap_or_else(|what| failures.lock().unwrap().push(format!("{}: {what}", case.context)));
    }
}

fn acknowledged(said: &str) -> usize {
    said.lines().filter(|line| line.starts_with("ack ")).count()
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
    if count <= 5 {
        all.extend((1..(1 << count) - 1).map(chosen));
    } else {
        for _ in 0..setting("LAZULI_TEST_SUBSETS", 4) {
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

async fn check(dir: &Path, done: usize) -> Result<(), String> {
    let engine = script::open(&data(dir)).map_err(|error| error.to_string())?;
    let found = script::read_all(&engine).await.map_err(|error| error.to_string())?;
    let (now, next) = (script::state_after(done), script::state_after(done + 1));
    if !script::is_state(&found, &now) && !script::is_state(&found, &next) {
        return Err(format!("{done} steps were acknowledged, found {:?}", found.keys().collect::<Vec<_>>()));
    }
    // What was opened takes writes again.
    for step in [4, 0] {
        script::run_step(&engine, step).await.map_err(|error| format!("after reopening: {error}"))?;
    }
    let found = script::read_all(&engine).await.map_err(|error| error.to_string())?;
    match found.get("k/a") {
        Some(value) if value == "first" => Ok(()),
        other => Err(format!("after reopening: {other:?}")),
    }
}
