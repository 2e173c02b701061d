//! Bits flip and files are cut short anywhere in a directory: an error or the right data, never wrong data.

use super::{scratch, script};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const ROUNDS: u64 = 400;

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
    let state = script::state_after(script::STEPS);
    let files = list(&whole);
    let (mut refused, mut unreadable, mut right) = (0, 0, 0);
    let mut random = 0x0DDB_1A5E_5BAD_5EED_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for round in 0..ROUNDS {
        let dir = home.path().join("damaged");
        copy(&whole, &dir);
        let name = &files[next() as usize % files.len()];
        let what = damage(&dir.join(name), round, &mut next);
        let Some(what) = what else { continue };
        let context = format!("round {round}: {}: {what}", name.display());
        runtime.block_on(async {
            match script::open(&dir) {
                Err(_) => refused += 1,
                Ok(engine) => match script::read_all(&engine).await {
                    Err(_) => unreadable += 1,
                    Ok(found) if script::is_state(&found, &state) => right += 1,
                    Ok(found) => panic!("{context}: found {:?}", found.keys().collect::<Vec<_>>()),
                },
            }
        });
        fs::remove_dir_all(&dir).unwrap();
    }
    println!("{refused} not opened, {unreadable} with errors, {right} right");
    assert!(refused > 20 && unreadable > 5 && right > 20, "{refused} {unreadable} {right}");
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

/// Flips a bit, mostly; or cuts the file, or overwrites a page with zeros. `None` if nothing changed.
fn damage(path: &Path, round: u64, next: &mut impl FnMut() -> u64) -> Option<String> {
    let bytes = fs::read(path).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    // Where there is something: most of a log or an extent may be empty.
    let end = bytes.iter().rposition(|byte| *byte != 0)? + 1;
    let at = next() as usize % end;
    match round % 8 {
        0 => {
            file.set_len(at as u64).unwrap();
            Some(format!("cut at {at}"))
        }
        1 => {
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
