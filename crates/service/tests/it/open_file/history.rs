//! Random histories of opens, closes, reads, writes, locks and deletions by several clients, against a model in memory.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::*;
use crate::tree::at;

#[derive(Default)]
struct File {
    bytes: Vec<u8>,
    opens: Vec<Opened>,
    pending: bool,
}

struct Opened {
    id: u64,
    access: &'static str,
    share: &'static str,
    delete_on_close: bool,
    /// Start, end, exclusive.
    locks: Vec<(u64, u64, bool)>,
}

#[derive(Default)]
struct Model {
    files: BTreeMap<String, File>,
}

const RIGHTS: [&str; 6] = ["", "R", "W", "RW", "RWD", "D"];
const SHARES: [&str; 5] = ["", "R", "RW", "RWD", "RWD"];
const LENGTH: u64 = 64;

fn within(inner: &str, outer: &str) -> bool {
    inner.chars().all(|c| outer.contains(c))
}

impl Model {
    fn open(&mut self, name: &str, new: Opened, disposition: Disposition) -> &'static str {
        let lacks_delete = new.delete_on_close && !new.access.contains('D');
        let Some(file) = self.files.get_mut(name) else {
            if matches!(disposition, Disposition::Open | Disposition::Overwrite) {
                return "ObjectNameNotFound";
            }
            if lacks_delete {
                return "AccessDenied";
            }
            let file = File { opens: vec![new], ..File::default() };
            self.files.insert(name.to_owned(), file);
            return "ok";
        };
        if file.pending {
            return "DeletePending";
        }
        if disposition == Disposition::Create {
            return "ObjectNameCollision";
        }
        if lacks_delete {
            return "AccessDenied";
        }
        let mut access = new.access.to_owned();
        match disposition {
            Disposition::Supersede => access.push_str("WD"),
            Disposition::Overwrite | Disposition::OverwriteIf => access.push('W'),
            _ => {}
        }
        let agrees = |open: &Opened| {
            access.is_empty()
                || open.access.is_empty()
                || within(&access, open.share) && within(open.access, new.share)
        };
        if !file.opens.iter().all(agrees) {
            return "SharingViolation";
        }
        if disposition.overwrites() {
            file.bytes.clear();
        }
        file.opens.push(new);
        "ok"
    }

    fn file_of(&mut self, id: u64) -> (&mut File, usize) {
        let file = self.files.values_mut().find(|file| file.opens.iter().any(|open| open.id == id)).unwrap();
        let place = file.opens.iter().position(|open| open.id == id).unwrap();
        (file, place)
    }

    fn close(&mut self, id: u64) {
        let (file, place) = self.file_of(id);
        file.pending |= file.opens.remove(place).delete_on_close;
        self.files.retain(|_, file| !file.opens.is_empty() || !file.pending);
    }

    fn touch(&mut self, id: u64, writes: bool, start: u64, end: u64) -> &'static str {
        let (file, place) = self.file_of(id);
        let needed = if writes { 'W' } else { 'R' };
        if !file.opens[place].access.contains(needed) {
            return "AccessDenied";
        }
        for open in &file.opens {
            for (from, to, exclusive) in &open.locks {
                let own = open.id == id;
                let stands = if writes { !exclusive || !own } else { *exclusive && !own };
                if stands && *from < end && start < *to {
                    return "FileLockConflict";
                }
            }
        }
        "ok"
    }

    fn lock(&mut self, id: u64, start: u64, end: u64, exclusive: bool) -> &'static str {
        let (file, place) = self.file_of(id);
        if !file.opens[place].access.contains(['R', 'W']) {
            return "AccessDenied";
        }
        for open in &file.opens {
            for (from, to, other) in &open.locks {
                let stands = exclusive || *other && open.id != id;
                if stands && *from < end && start < *to {
                    return "LockNotGranted";
                }
            }
        }
        file.opens[place].locks.push((start, end, exclusive));
        "ok"
    }
}

async fn run(seed: u64, steps: usize) {
    let bench = bench().await;
    let mut random = StdRng::seed_from_u64(seed);
    let (mut model, mut handles): (Model, BTreeMap<u64, OpenFile>) = Default::default();
    let clients = [bench.smb(1).await, bench.smb(2).await, bench.smb(3).await];
    for step in 0..steps {
        let what = format!("seed {seed} step {step}");
        let open = handles.keys().nth(random.random_range(0..handles.len().max(1))).copied();
        let start = random.random_range(0..LENGTH);
        let end = start + random.random_range(1..LENGTH / 2);
        match (random.random_range(0..12), open) {
            (0..4, _) | (_, None) => {
                let name = format!("f{}", random.random_range(0..3));
                let disposition = Disposition::ALL[random.random_range(0..6)];
                let new = Opened {
                    id: step as u64,
                    access: RIGHTS[random.random_range(0..RIGHTS.len())],
                    share: SHARES[random.random_range(0..SHARES.len())],
                    delete_on_close: random.random_ratio(1, 8),
                    locks: Vec::new(),
                };
                let options = CreateOptions { delete_on_close: new.delete_on_close, ..Default::default() };
                let base = access(super::open(&name), mask(new.access), rights(new.share));
                let client = &clients[random.random_range(0..3)];
                let outcome = client.open(Create { disposition, options, ..base }).await;
                let expected = model.open(&name, new, disposition);
                if let Ok(file) = &outcome {
                    handles.insert(step as u64, file.clone());
                }
                assert_eq!(told(outcome), expected, "{what}: {disposition:?} {name}");
            }
            (4 | 5, Some(id)) => {
                handles.remove(&id).unwrap().close().await.unwrap();
                model.close(id);
            }
            (6 | 7, Some(id)) => {
                let bytes = vec![random.random_range(1..255); (end - start) as usize];
                let outcome = write(&handles[&id], start, &bytes).await;
                let expected = model.touch(id, true, start, end);
                assert_eq!(told(outcome), expected, "{what}: write");
                if expected == "ok" {
                    let (file, _) = model.file_of(id);
                    file.bytes.resize(file.bytes.len().max(end as usize), 0);
                    file.bytes[start as usize..end as usize].copy_from_slice(&bytes);
                }
            }
            (8 | 9, Some(id)) => {
                let outcome = handles[&id].read(start, (end - start) as u32).await;
                let mut expected = model.touch(id, false, start, end);
                let (file, _) = model.file_of(id);
                let length = file.bytes.len() as u64;
                if expected == "ok" && start >= length {
                    expected = "EndOfFile";
                }
                if let Ok(parts) = &outcome {
                    assert_eq!(
                        parts.concat(),
                        file.bytes[start as usize..end.min(length) as usize],
                        "{what}"
                    );
                }
                assert_eq!(told(outcome), expected, "{what}: read");
            }
            (10, Some(id)) => {
                let (file, place) = model.file_of(id);
                match file.opens[place].locks.pop() {
                    Some((from, to, _)) if random.random_bool(0.5) => {
                        handles[&id].unlock(&[(from, to - from)]).await.unwrap();
                        // Of two locks on one range the exclusive one goes.
                        let same = |lock: &(u64, u64, bool)| (lock.0, lock.1) == (from, to);
                        if let Some(other) = file.opens[place].locks.iter_mut().find(|lock| same(lock)) {
                            other.2 = false;
                        }
                    }
                    taken => {
                        file.opens[place].locks.extend(taken);
                        let exclusive = random.random_bool(0.5);
                        let range = LockRange { offset: start, length: end - start, exclusive };
                        let outcome = handles[&id].lock(&[range], false).await;
                        let expected = model.lock(id, start, end, exclusive);
                        assert_eq!(told(outcome), expected, "{what}: lock");
                    }
                }
            }
            (_, Some(id)) => {
                let delete = random.random_bool(0.6);
                let outcome = handles[&id].set_disposition(delete, false).await;
                let (file, place) = model.file_of(id);
                let may = file.opens[place].access.contains('D');
                assert_eq!(told(outcome), if may { "ok" } else { "AccessDenied" }, "{what}: disposition");
                if may {
                    file.pending = delete;
                }
            }
        }
    }
    for (id, file) in handles {
        file.close().await.unwrap();
        model.close(id);
    }
    let names: Vec<String> = model.files.keys().cloned().collect();
    assert_eq!(bench.names(&at("", None), "").await.unwrap(), names, "seed {seed}");
    for (name, file) in &model.files {
        assert_eq!(bench.read_file(&at(name, None)).await.unwrap(), file.bytes, "seed {seed} {name}");
    }
    let lengths: usize = model.files.values().map(|file| file.bytes.len()).sum();
    assert_eq!(bench.usage().await, lengths as u64, "seed {seed}");
    bench.sweep().await;
    let keys = bench.keys().await;
    assert!(!keys.iter().any(|key| key.starts_with(['O', 'Q', 'Z', 'l'])), "seed {seed} {keys:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn histories() {
    for seed in 0..6 {
        run(seed, 150).await;
    }
}
