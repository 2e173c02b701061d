//! Bits flip, files are cut short or missing anywhere in a directory: an error or the right data, never wrong data, and
//! never the end of the process.

use super::{DIR, again, say, scratch, script, setting};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

#[test]
fn damage_is_an_error_never_wrong_data() {
    let home = scratch();
    let whole = home.path().join("whole");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let engine = script::open(&whole).unwrap();
        for step in 0..script::STEPS {
            script::run_step(&engine, step).await.unwrap();
        }
    });
    drop(runtime);
    let files = list(&whole);
    let mut random = setting("LAZULI_TEST_SEED", 0x0DDB_1A5E_5BAD_5EED) | 1;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let (mut refused, mut unreadable, mut right) = (0, 0, 0);
    for round in 0..setting("LAZULI_TEST_ROUNDS", 300) {
        let dir = home.path().join("damaged");
        copy(&whole, &dir);
        let name = &files[next() as usize % files.len()];
        if let Some(what) = damage(&dir.join(name), round, &mut next) {
            // In a process of its own: a panic of fjall over damage that nobody foresaw could end it.
            let said = again("crash::rot::reader", &dir, &[]).output().unwrap();
            let said = String::from_utf8_lossy(&said.stdout).into_owned();
            match ["not opened", "unreadable", "right", "wrong"].iter().position(|word| said.contains(word)) {
                Some(0) => refused += 1,
                Some(1) => unreadable += 1,
                Some(2) => right += 1,
                _ => panic!("round {round}: {}: {what}: {said}", name.display()),
            }
        }
        fs::remove_dir_all(&dir).unwrap();
    }
    println!("{refused} not opened, {unreadable} with errors, {right} right");
    assert!(refused > 20 && unreadable > 5 && right > 20);
}

/// The process that reads what is damaged.
#[test]
#[ignore = "started by damage_is_an_error_never_wrong_data"]
fn reader() {
    let Some(dir) = std::env::var_os(DIR).map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let state = script::state_after(script::STEPS);
    runtime.block_on(async {
        let Ok(engine) = script::open(&dir) else { return say("not opened\n") };
        match script::read_all(&engine).await {
            Err(_) => say("unreadable\n"),
            Ok(found) if script::is_state(&found, &state) => say("right\n"),
            Ok(found) => say(&format!("wrong {:?}\n", found.keys().collect::<Vec<_>>())),
        }
    });
}

fn list(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut dirs = vec![root.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if fs::metadata(&path).unwrap().len() > 0 {
                files.push(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    files.sort();
    files
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// Flips a bit, mostly; or cuts the file, overwrites a page with zeros, or removes the file. `None` if nothing changed.
fn damage(path: &Path, round: u64, next: &mut impl FnMut() -> u64) -> Option<String> {
    let bytes = fs::read(path).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    // Where there is something: most of a log or an extent may be empty.
    let end = bytes.iter().rposition(|byte| *byte != 0)? + 1;
    let at = next() as usize % end;
    match round % 16 {
        2 => {
            fs::remove_file(path).unwrap();
            Some("removed".into())
        }
        0 | 8 => {
            file.set_len(at as u64).unwrap();
            Some(format!("cut at {at}"))
        }
        1 | 9 => {
            let page = at / 4_096 * 4_096;
            let len = 4_096.min(bytes.len() - page);
            if bytes[page..page + len].iter().all(|byte| *byte == 0) {
                return None;
            }
            file.write_all_at(&vec![0; len], page as u64).unwrap();
            Some(format!("zeros at {page}"))
        }
        _ => {
            file.write_all_at(&[bytes[at] ^ (1 << (next() % 8))], at as u64).unwrap();
            Some(format!("a bit at {at}"))
        }
    }
}
