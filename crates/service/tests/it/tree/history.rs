//! Random histories of a share against one in memory.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;

use super::*;

/// What stands under a path, whose names are in upper case.
#[derive(Clone, Debug, PartialEq)]
struct Node {
    name: String,
    metadata: Option<String>,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Directory,
    /// Names with one number are names of one file.
    File(usize, Vec<u8>),
    SymbolicLink(String),
}

impl Node {
    fn bytes(&self) -> Option<&Vec<u8>> {
        match &self.kind {
            Kind::File(_, bytes) => Some(bytes),
            _ => None,
        }
    }

    fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }

    fn file(&self) -> Option<usize> {
        match self.kind {
            Kind::File(number, _) => Some(number),
            _ => None,
        }
    }
}

type Nodes = BTreeMap<Vec<String>, Node>;

#[derive(Clone, Debug)]
enum Step {
    MakeDirectory(Place),
    MakeFile(Place, u64),
    Describe(Place),
    Write(Place, u64, u64),
    Clear(Place, u64, u64),
    Resize(Place, u64),
    Delete(Place),
    Rename(Place, Place, bool),
    HardLink(Place, Place),
    /// Of a file as it is, or as one of the snapshots shows it.
    Copy(Place, Option<usize>, Place),
    SymbolicLink(Place),
    Snapshot,
    DropSnapshot(usize),
    /// The share goes, with its snapshots, and comes back.
    Restore,
    Sweep,
}

/// A path by its names, or one of those that are there.
#[derive(Clone, Debug)]
enum Place {
    Named(String),
    There(usize),
    /// A file.
    File(usize),
}

/// Few names, so that histories meet; some are the same but for their case.
fn named() -> impl Strategy<Value = Place> {
    let name = prop::sample::select(vec!["a", "A", "b", "ä", "Ä", "cc"]);
    prop::collection::vec(name, 1..4).prop_map(|names| Place::Named(names.join("/")))
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![named(), any::<usize>().prop_map(Place::There)]
}

fn file() -> impl Strategy<Value = Place> {
    prop_oneof![1 => place(), 5 => any::<usize>().prop_map(Place::File)]
}

const MOST: u64 = 40_000;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => named().prop_map(Step::MakeDirectory),
        5 => (file(), 0..MOST).prop_map(|(path, length)| Step::MakeFile(path, length)),
        2 => place().prop_map(Step::Describe),
        8 => (file(), 0..MOST, 1..MOST).prop_map(|(path, from, length)| Step::Write(path, from, length)),
        4 => (file(), 0..MOST, 1..MOST).prop_map(|(path, from, length)| Step::Clear(path, from, length)),
        2 => (file(), 0..MOST).prop_map(|(path, length)| Step::Resize(path, length)),
        4 => place().prop_map(Step::Delete),
        6 => (place(), prop_oneof![3 => named(), 1 => place()], any::<bool>()).prop_map(|(from, to, replaces)| Step::Rename(from, to, replaces)),
        5 => (file(), named()).prop_map(|(target, path)| Step::HardLink(target, path)),
        6 => (file(), prop::option::of(any::<usize>()), prop_oneof![named(), file()]).prop_map(|(from, snapshot, to)| Step::Copy(from, snapshot, to)),
        2 => named().prop_map(Step::SymbolicLink),
        3 => Just(Step::Snapshot),
        1 => Just(Step::Restore),
        3 => any::<usize>().prop_map(Step::DropSnapshot),
        2 => Just(Step::Sweep),
    ]
}

fn folded(path: &str) -> Vec<String> {
    path.split('/').map(str::to_uppercase).collect()
}

fn last(path: &str) -> String {
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

struct World {
    bench: Bench,
    now: Nodes,
    snapshots: Vec<(Timestamp, Nodes)>,
    number: usize,
    /// Links are of shares for NFS.
    nfs: bool,
}

impl World {
    fn path(&self, place: &Place) -> String {
        Self::path_among(&self.now, place)
    }

    fn path_among(nodes: &Nodes, place: &Place) -> String {
        let pick = |which: usize, wanted: fn(&Node) -> bool| {
            let paths: Vec<_> = nodes.iter().filter(|(_, node)| wanted(node)).map(|(path, _)| path).collect();
            paths.get(which % paths.len().max(1)).map_or("a".to_owned(), |path| path.join("/"))
        };
        match place {
            Place::Named(path) => path.clone(),
            Place::There(which) => pick(*which, |_| true),
            Place::File(which) => pick(*which, |node| node.file().is_some()),
        }
    }

    /// A range that is likely to be in the file.
    fn range(&self, path: &str, from: u64, length: u64) -> Range<u64> {
        let bytes = self.now.get(&folded(path)).and_then(Node::bytes);
        match bytes.map_or(0, |bytes| bytes.len() as u64) {
            0 => from..from + length,
            // One in many is beyond the end.
            end if length.is_multiple_of(16) => from % end..end + 1,
            end => from % end..(from % end + length).min(end),
        }
    }

    fn parent_is_there(&self, path: &[String]) -> Result<(), ErrorCode> {
        let parents = (1..path.len()).map(|depth| &path[..depth]);
        let all = parents.map(|parent| self.now.get(parent));
        let all_there = all.into_iter().all(|parent| parent.is_some_and(Node::is_directory));
        if all_there { Ok(()) } else { Err(ErrorCode::ParentNotFound) }
    }

    fn is_empty(&self, path: &[String]) -> bool {
        !self.now.keys().any(|other| other.len() > path.len() && other.starts_with(path))
    }

    /// Changes the bytes of a file, under all of its names.
    fn change(
        &mut self,
        path: &str,
        change: impl FnOnce(&mut Vec<u8>) -> Option<()>,
    ) -> Result<(), ErrorCode> {
        let key = folded(path);
        self.parent_is_there(&key)?;
        let node = self.now.get_mut(&key).ok_or(ErrorCode::ResourceNotFound)?;
        let Kind::File(_, bytes) = &mut node.kind else { return Err(ErrorCode::ResourceNotFound) };
        change(bytes).ok_or(ErrorCode::InvalidRange)?;
        self.spread(&key);
        Ok(())
    }

    /// What a file is under one of its names it is under all of them.
    fn spread(&mut self, key: &[String]) {
        let changed = self.now[key].clone();
        let Some(file) = changed.file() else { return };
        for node in self.now.values_mut().filter(|node| node.file() == Some(file)) {
            *node = Node { name: std::mem::take(&mut node.name), ..changed.clone() };
        }
    }

    fn make(&mut self, path: &str, kind: Kind) -> Result<(), ErrorCode> {
        let key = folded(path);
        self.parent_is_there(&key)?;
        let (name, kind) = match (self.now.get(&key), kind) {
            (None, Kind::SymbolicLink(_)) if !self.nfs => return Err(ErrorCode::InvalidInput),
            (None, kind) => (last(path), kind),
            (Some(old), Kind::File(_, bytes)) => match old.kind {
                Kind::File(number, _) => (old.name.clone(), Kind::File(number, bytes)),
                Kind::Directory => return Err(ErrorCode::ResourceTypeMismatch),
                Kind::SymbolicLink(_) => return Err(ErrorCode::ResourceAlreadyExists),
            },
            _ => return Err(ErrorCode::ResourceAlreadyExists),
        };
        self.now.insert(key.clone(), Node { name, metadata: None, kind });
        self.spread(&key);
        Ok(())
    }

    fn link(&mut self, target: &str, path: &str) -> Result<(), ErrorCode> {
        let (target, key) = (folded(target), folded(path));
        self.parent_is_there(&target)?;
        let file = self.now.get(&target).filter(|node| node.file().is_some());
        let file = file.cloned().ok_or(ErrorCode::ResourceNotFound)?;
        self.parent_is_there(&key)?;
        if !self.nfs {
            return Err(ErrorCode::InvalidInput);
        }
        if self.now.contains_key(&key) {
            return Err(ErrorCode::ResourceAlreadyExists);
        }
        self.now.insert(key, Node { name: last(path), ..file });
        Ok(())
    }

    /// The bytes and the metadata of the source, in place of what there is.
    fn copy(&mut self, source: Option<Node>, path: &str) -> Result<(), ErrorCode> {
        let key = folded(path);
        self.parent_is_there(&key)?;
        let source = source.filter(|node| node.file().is_some()).ok_or(ErrorCode::ResourceNotFound)?;
        let bytes = source.bytes().cloned().unwrap_or_default();
        self.make(path, Kind::File(self.number, bytes))?;
        if let Some(node) = self.now.get_mut(&key) {
            node.metadata = source.metadata;
        }
        self.spread(&key);
        Ok(())
    }

    fn delete(&mut self, path: &str) -> Result<(), ErrorCode> {
        let key = folded(path);
        self.parent_is_there(&key)?;
        if !self.now.contains_key(&key) {
            return Err(ErrorCode::ResourceNotFound);
        }
        if !self.is_empty(&key) {
            return Err(ErrorCode::DirectoryNotEmpty);
        }
        self.now.remove(&key);
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str, replaces: bool) -> Result<(), ErrorCode> {
        let (source, target) = (folded(from), folded(to));
        self.parent_is_there(&source)?;
        let moved = self.now.get(&source).cloned().ok_or(ErrorCode::ResourceNotFound)?;
        self.parent_is_there(&target)?;
        if let Some(there) = self.now.get(&target).filter(|_| target != source) {
            match (moved.is_directory(), there.is_directory()) {
                _ if !replaces => return Err(ErrorCode::ResourceAlreadyExists),
                // Two names of one file: both stay.
                _ if moved.file().is_some() && moved.file() == there.file() => return Ok(()),
                (_, false) => {}
                (true, true) => return Err(ErrorCode::ResourceAlreadyExists),
                (false, true) => return Err(ErrorCode::ResourceTypeMismatch),
            }
        }
        if target.len() > source.len() && target.starts_with(&source) {
            return Err(ErrorCode::InvalidInput);
        }
        let below: Vec<_> = self.now.keys().filter(|key| key.starts_with(&source)).cloned().collect();
        for key in below {
            let node = self.now.remove(&key).unwrap();
            let moved = [&target[..], &key[source.len()..]].concat();
            self.now.insert(moved, node);
        }
        self.now.get_mut(&target).unwrap().name = last(to);
        Ok(())
    }

    async fn act(&mut self, step: &Step) {
        self.number += 1;
        let fill = (self.number % 250 + 1) as u8;
        let bench = &self.bench;
        match step {
            Step::MakeDirectory(place) => {
                let path = &self.path(place);
                let told = code(bench.make_directory(path).await).map(drop);
                assert_eq!(told, self.make(path, Kind::Directory), "{step:?}");
            }
            Step::MakeFile(place, length) => {
                let path = &self.path(place);
                let told = code(bench.make_file(path, *length).await).map(drop);
                let kind = Kind::File(self.number, vec![0; *length as usize]);
                assert_eq!(told, self.make(path, kind), "{step:?}");
            }
            Step::Describe(place) => {
                let path = &self.path(place);
                let text = fill.to_string();
                let told = code(bench.describe(path, &text).await).map(drop);
                let expected = self.parent_is_there(&folded(path)).and_then(|()| {
                    let node = self.now.get_mut(&folded(path)).ok_or(ErrorCode::ResourceNotFound)?;
                    node.metadata = Some(text);
                    self.spread(&folded(path));
                    Ok(())
                });
                assert_eq!(told, expected, "{step:?}");
            }
            Step::Write(place, from, length) => {
                let path = &self.path(place);
                let range = self.range(path, *from, *length);
                let told = code(bench.write_range(path, range.clone(), fill).await).map(drop);
                let expected = self.change(path, |bytes| {
                    let part = bytes.get_mut(range.start as usize..range.end as usize);
                    part.map(|part| part.fill(fill))
                });
                assert_eq!(told, expected, "{step:?}");
            }
            Step::Clear(place, from, length) => {
                let path = &self.path(place);
                let range = self.range(path, *from, *length);
                let told = code(bench.clear_range(path, range.clone()).await).map(drop);
                let expected = self.change(path, |bytes| {
                    let part = bytes.get_mut(range.start as usize..range.end as usize);
                    part.map(|part| part.fill(0))
                });
                assert_eq!(told, expected, "{step:?}");
            }
            Step::Resize(place, length) => {
                let path = &self.path(place);
                let told = code(bench.resize_file(path, *length).await).map(drop);
                let expected = self.change(path, |bytes| {
                    bytes.resize(*length as usize, 0);
                    Some(())
                });
                assert_eq!(told, expected, "{step:?}");
            }
            Step::Delete(place) => {
                let path = &self.path(place);
                let told = code(bench.delete_path(path).await);
                assert_eq!(told, self.delete(path), "{step:?}");
            }
            Step::Rename(from, to, replaces) => {
                let (from, to) = (&self.path(from), &self.path(to));
                let told = code(bench.rename_path(from, to, *replaces).await).map(drop);
                assert_eq!(told, self.rename(from, to, *replaces), "{step:?}");
            }
            Step::HardLink(target, place) => {
                let (target, path) = (&self.path(target), &self.path(place));
                let told = code(bench.link_path(target, path).await).map(drop);
                assert_eq!(told, self.link(target, path), "{step:?}");
            }
            Step::Copy(from, snapshot, to) => {
                let snapshot = snapshot.filter(|_| !self.snapshots.is_empty());
                let snapshot = snapshot.map(|which| &self.snapshots[which % self.snapshots.len()]);
                let nodes = snapshot.map_or(&self.now, |(_, nodes)| nodes);
                let from = Self::path_among(nodes, from);
                let source = nodes.get(&folded(&from)).cloned();
                let from = at(&from, snapshot.map(|(moment, _)| *moment));
                let to = &self.path(to);
                let told = code(bench.copy_path(&from, to).await).map(drop);
                assert_eq!(told, self.copy(source, to), "{step:?}");
            }
            Step::SymbolicLink(place) => {
                let path = &self.path(place);
                let (at, target) = (at(path, None), self.number.to_string());
                let made = bench.create_path(&at, NewBody::SymbolicLink { target: target.clone() }).await;
                assert_eq!(code(made).map(drop), self.make(path, Kind::SymbolicLink(target)), "{step:?}");
            }
            Step::Snapshot => {
                let moment = bench.snapshot_share().await;
                self.snapshots.push((moment, self.now.clone()));
            }
            Step::DropSnapshot(which) if !self.snapshots.is_empty() => {
                let (moment, _) = self.snapshots.remove(which % self.snapshots.len());
                self.bench.delete_share(Some(moment), None).await.unwrap();
            }
            Step::DropSnapshot(_) => {}
            Step::Restore => {
                bench.delete_share(None, Some(DeleteShareSnapshots::Include)).await.unwrap();
                let gone = code(bench.look(&at("", None)).await).map(drop);
                assert_eq!(gone, Err(ErrorCode::ShareNotFound));
                bench.sweep().await;
                bench.restore_share(bench.deleted_versions().await[0]).await.unwrap();
            }
            Step::Sweep => bench.sweep().await,
        }
    }

    /// The share and each of its snapshots are what they are in memory: by a walk, and read one by one.
    async fn check(&self) {
        // A file counts once, however many names it has.
        let files = self.now.values().filter_map(|node| Some((node.file()?, node.bytes()?.len() as u64)));
        let lengths = files.collect::<BTreeMap<_, _>>().into_values();
        assert_eq!(self.bench.usage().await, lengths.sum::<u64>());
        let all = self.snapshots.iter().map(|(moment, nodes)| (Some(*moment), nodes));
        for (moment, nodes) in all.chain([(None, &self.now)]) {
            let found = self.bench.everything(moment).await.unwrap();
            let told = found.iter().map(|(path, record)| (path.clone(), record.name.clone()));
            let expected = nodes.iter().map(|(path, node)| (path.clone(), node.name.clone()));
            assert_eq!(told.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "at {moment:?}");
            for ((path, record), node) in found.iter().zip(nodes.values()) {
                assert_eq!(record.metadata.get("m"), node.metadata.as_deref(), "{path:?} at {moment:?}");
                let at = FileAddress { share: "s".into(), snapshot: moment, path: path.clone() };
                match &node.kind {
                    Kind::File(number, bytes) => {
                        let read = self.bench.read_file(&at).await.unwrap();
                        assert!(read == *bytes, "the bytes of {path:?} at {moment:?}");
                        let names = nodes.values().filter(|node| node.file() == Some(*number)).count();
                        let links = record.file().unwrap().links as usize;
                        assert_eq!(links, names, "the names of {path:?} at {moment:?}");
                    }
                    Kind::SymbolicLink(target) => {
                        assert_eq!(record.body, PathBody::SymbolicLink { target: target.clone() });
                    }
                    Kind::Directory => {
                        let names = self.bench.names(&at, "").await.unwrap();
                        let below = nodes
                            .iter()
                            .filter(|(other, _)| other.len() == path.len() + 1 && other.starts_with(path));
                        let below: Vec<_> = below.map(|(_, node)| node.name.clone()).collect();
                        assert_eq!(names, below, "in {path:?} at {moment:?}");
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if crate::SERVERS == 1 { 128 } else { 24 }, ..ProptestConfig::default() })]

    #[test]
    fn a_share_is_what_was_done_to_it(steps in prop::collection::vec(step(), 1..120), nfs in any::<bool>(), by_hand in any::<bool>()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::new().await;
            bench.create_share_for(if nfs { ShareProtocol::Nfs } else { ShareProtocol::Smb }).await;
            bench.keep_deleted_shares(1).await;
            let mut world = World { bench, now: Nodes::new(), snapshots: Vec::new(), number: 0, nfs };
            for step in &steps {
                world.act(step).await;
            }
            world.check().await;
            world.bench.sweep().await;
            world.check().await;
            if by_hand {
                // Everything goes piece by piece, then the snapshots: nothing but the share is left.
                let paths: Vec<_> = world.now.keys().rev().map(|path| path.join("/")).collect();
                for path in paths {
                    world.bench.delete_path(&path).await.unwrap();
                }
                world.now.clear();
                world.bench.sweep().await;
                world.check().await;
                while let Some((moment, _)) = world.snapshots.pop() {
                    world.bench.delete_share(Some(moment), None).await.unwrap();
                }
                world.bench.sweep().await;
                let left = world.bench.keys().await;
                assert!(left.iter().all(|key| key.starts_with(['c', 'o', 'a', 'R', 'p', 'd'])), "left behind: {left:?}");
            }
            world.bench.delete_share(None, Some(DeleteShareSnapshots::Include)).await.unwrap();
            world.bench.services.engine().advance_clock(Duration::from_secs(86_401));
            world.bench.sweep().await;
            assert_eq!(world.bench.services.engine().extents().stats().live_bytes, 0, "chunks left behind");
            let left = world.bench.keys().await;
            assert!(left.iter().all(|key| key.starts_with(['c', 'o', 'p'])), "keys left behind: {left:?}");
        });
    }
}
