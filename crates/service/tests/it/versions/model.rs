//! Any sequence of writes, deletes, undeletes and switches against a plain model.

use lazuli_model::error::ErrorCode;
use lazuli_service::blob::*;
use proptest::prelude::*;

use super::world::{DAY, KEPT_DAYS, NAMES, World, bytes_of, everything, finish, states};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Snapshot,
    Version,
    Base,
    VersionsOnly,
}

/// An entry of a listing as the model knows it.
type Listed = (String, Kind, bool, String);

fn seen(item: &BlobListItem) -> Option<Listed> {
    let entry = |name: &str, kind, blob: &BlobRecord| {
        let label = blob.metadata.get("label").unwrap_or_default().to_owned();
        Some((name.to_owned(), kind, blob.extras().deletion.is_some(), label))
    };
    match item {
        BlobListItem::Blob { name, state, blob } => match state {
            BlobState::Base => entry(name, Kind::Base, blob),
            BlobState::Snapshot(_) => entry(name, Kind::Snapshot, blob),
            BlobState::Version(_) => entry(name, Kind::Version, blob),
        },
        BlobListItem::VersionsOnly { name, blob } => {
            let label = blob.metadata.get("label").unwrap_or_default().to_owned();
            Some((name.clone(), Kind::VersionsOnly, false, label))
        }
        BlobListItem::Uncommitted { .. } | BlobListItem::Prefix(_) => None,
    }
}

#[derive(Clone, Debug)]
struct Kept {
    kind: Kind,
    label: String,
    bytes: Vec<u8>,
    /// When it is gone, in seconds of the model.
    until: Option<u64>,
}

#[derive(Clone, Debug)]
struct Base {
    label: String,
    bytes: Vec<u8>,
    is_version: bool,
}

/// One name. What is kept of it lies in the order of its moments.
#[derive(Clone, Debug, Default)]
struct Model {
    base: Option<Base>,
    deleted: Option<(Base, u64)>,
    past: Vec<Kept>,
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    versioning: bool,
    keeps: bool,
    now: u64,
}

impl Settings {
    fn until(self) -> Option<u64> {
        self.keeps.then_some(self.now + u64::from(KEPT_DAYS) * DAY.as_secs())
    }
}

impl Model {
    fn forget(&mut self, now: u64) {
        self.past.retain(|kept| kept.until.is_none_or(|until| until > now));
        self.deleted.take_if(|(_, until)| *until <= now);
    }

    fn leave(&mut self, kind: Kind, base: Base, until: Option<u64>) {
        self.past.push(Kept { kind, label: base.label, bytes: base.bytes, until });
    }

    fn replace(&mut self, label: &str, bytes: Vec<u8>, at: Settings) {
        if let Some((base, until)) = self.deleted.take() {
            self.leave(Kind::Snapshot, base, Some(until));
        }
        if let Some(old) = self.base.take() {
            if old.is_version || at.versioning {
                self.leave(Kind::Version, old, None);
            } else if at.keeps {
                self.leave(Kind::Snapshot, old, at.until());
            }
        }
        self.base = Some(Base { label: label.to_owned(), bytes, is_version: at.versioning });
    }

    /// A change that makes a version and keeps the content.
    fn renew(&mut self, at: Settings) {
        let Some(base) = self.base.clone() else { return };
        if base.is_version || at.versioning {
            self.leave(Kind::Version, base, None);
            self.base.as_mut().unwrap().is_version = at.versioning;
        }
    }

    fn alive(&self, kind: Kind) -> usize {
        self.past.iter().filter(|kept| kept.kind == kind && kept.until.is_none()).count()
    }

    fn delete_snapshots(&mut self, at: Settings) {
        for kept in &mut self.past {
            if kept.kind == Kind::Snapshot && kept.until.is_none() {
                kept.until = Some(at.until().unwrap_or(0));
            }
        }
        self.forget(at.now);
    }

    fn listed(&self, name: &str) -> Vec<Listed> {
        let entry = |kind, until: Option<u64>, label: &str| {
            (name.to_owned(), kind, until.is_some(), label.to_owned())
        };
        let mut all: Vec<Listed> =
            self.past.iter().map(|kept| entry(kept.kind, kept.until, &kept.label)).collect();
        let last = self.past.iter().rfind(|kept| kept.kind == Kind::Version);
        match (&self.base, &self.deleted, last) {
            (Some(base), _, _) => all.push(entry(Kind::Base, None, &base.label)),
            (None, Some((base, until)), _) => all.push(entry(Kind::Base, Some(*until), &base.label)),
            (None, None, last) => {
                all.extend(last.map(|kept| entry(Kind::VersionsOnly, None, &kept.label)));
            }
        }
        all
    }
}

#[derive(Clone, Debug)]
enum Act {
    Versioning(bool),
    KeepDeleted(bool),
    Put(u8),
    List(u8, bool),
    Mark(u8),
    Snapshot(u8),
    Delete(u8, Option<bool>),
    DeletePast(u8, usize, bool),
    Promote(u8, usize),
    Undelete(u8),
    Wait(u8),
    Sweep,
}

fn act() -> impl Strategy<Value = Act> {
    let blob = 0..2u8;
    prop_oneof![
        2 => any::<bool>().prop_map(Act::Versioning),
        2 => any::<bool>().prop_map(Act::KeepDeleted),
        5 => blob.clone().prop_map(Act::Put),
        3 => (blob.clone(), any::<bool>()).prop_map(|(blob, keeps)| Act::List(blob, keeps)),
        2 => blob.clone().prop_map(Act::Mark),
        3 => blob.clone().prop_map(Act::Snapshot),
        4 => (blob.clone(), prop::option::of(any::<bool>())).prop_map(|(blob, how)| Act::Delete(blob, how)),
        3 => (blob.clone(), 0..6usize, any::<bool>()).prop_map(|(blob, which, good)| Act::DeletePast(blob, which, good)),
        2 => (blob.clone(), 0..6usize).prop_map(|(blob, which)| Act::Promote(blob, which)),
        3 => blob.prop_map(Act::Undelete),
        2 => (1..3u8).prop_map(Act::Wait),
        2 => Just(Act::Sweep),
    ]
}

async fn run(acts: Vec<Act>) {
    let mut world = World::new().await;
    let mut at = Settings { versioning: false, keeps: false, now: 0 };
    let mut models: [Model; 2] = Default::default();
    for (number, act) in acts.into_iter().enumerate() {
        let label = format!("{}{number}", "x".repeat(number % 2));
        match act {
            Act::Versioning(on) => (world.versioning, at.versioning) = (on, on),
            Act::KeepDeleted(on) => {
                world.keep_deleted(on).await;
                at.keeps = on;
            }
            Act::Put(blob) => {
                let made = world.put(NAMES[usize::from(blob)], &label).await.unwrap();
                assert_eq!(made.version.is_some(), at.versioning);
                models[usize::from(blob)].replace(&label, bytes_of(&label), at);
            }
            Act::List(blob, keeps) => {
                let (name, model) = (NAMES[usize::from(blob)], &mut models[usize::from(blob)]);
                let kept = match world.blocks(name).await {
                    Some(old) if keeps => bytes_of(std::str::from_utf8(&old).unwrap()),
                    _ => Vec::new(),
                };
                world.put_list(name, &label, keeps).await.unwrap();
                model.replace(&label, [bytes_of(&label), kept].concat(), at);
            }
            Act::Mark(blob) => {
                let model = &mut models[usize::from(blob)];
                let made = world.mark(NAMES[usize::from(blob)], &label).await;
                assert_eq!(made.is_ok(), model.base.is_some());
                model.renew(at);
                if let Some(base) = &mut model.base {
                    base.label.clone_from(&label);
                }
            }
            Act::Snapshot(blob) => {
                let model = &mut models[usize::from(blob)];
                let made = world.snapshot(NAMES[usize::from(blob)]).await;
                assert_eq!(made.is_ok(), model.base.is_some());
                if let Some(base) = model.base.clone() {
                    let is_version = base.is_version || at.versioning;
                    if is_version {
                        model.leave(Kind::Version, base.clone(), None);
                    }
                    model.leave(Kind::Snapshot, base, None);
                    model.base.as_mut().unwrap().is_version = at.versioning;
                }
            }
            Act::Delete(blob, how) => {
                let (name, model) = (NAMES[usize::from(blob)], &mut models[usize::from(blob)]);
                let snapshots = how.map(|only| match only {
                    true => DeleteSnapshots::Only,
                    false => DeleteSnapshots::Include,
                });
                let done = world.delete(name, BlobState::Base, snapshots, false).await;
                let Some(base) = model.base.clone() else {
                    assert_eq!(done.unwrap_err().0.code, ErrorCode::BlobNotFound);
                    continue;
                };
                if snapshots.is_none() && model.alive(Kind::Snapshot) > 0 {
                    assert_eq!(done.unwrap_err().0.code, ErrorCode::SnapshotsPresent);
                    continue;
                }
                let done = done.unwrap();
                if snapshots.is_some() {
                    model.delete_snapshots(at);
                }
                if snapshots == Some(DeleteSnapshots::Only) {
                    assert_eq!(done.is_permanent, !at.keeps);
                    continue;
                }
                model.base = None;
                let becomes_version = base.is_version || at.versioning;
                assert_eq!(done.is_permanent, !at.keeps && !becomes_version);
                if becomes_version {
                    model.leave(Kind::Version, base, None);
                } else if let Some(until) = at.until() {
                    model.deleted = Some((base, until));
                }
            }
            Act::DeletePast(blob, which, for_good) => {
                let (name, model) = (NAMES[usize::from(blob)], &mut models[usize::from(blob)]);
                if which >= model.past.len() {
                    continue;
                }
                let state = states(&world, name).await[which];
                let done = world.delete(name, state, None, for_good).await;
                let kept = &mut model.past[which];
                match (for_good, kept.until) {
                    (true, _) if !at.keeps => {
                        assert_eq!(done.unwrap_err().0.code, ErrorCode::PermanentDeleteIsOff);
                    }
                    (true, Some(_)) => {
                        done.unwrap();
                        kept.until = Some(0);
                    }
                    (false, None) => {
                        assert_eq!(done.unwrap().is_permanent, !at.keeps);
                        kept.until = Some(at.until().unwrap_or(0));
                    }
                    (true, None) | (false, Some(_)) => {
                        assert_eq!(done.unwrap_err().0.code, ErrorCode::BlobNotFound);
                    }
                }
                model.forget(at.now);
            }
            Act::Promote(blob, which) => {
                let (name, model) = (NAMES[usize::from(blob)], &mut models[usize::from(blob)]);
                if which >= model.past.len() {
                    continue;
                }
                let state = states(&world, name).await[which];
                let done = world.promote(name, state).await;
                let kept = model.past[which].clone();
                assert_eq!(done.is_ok(), kept.until.is_none());
                if kept.until.is_none() {
                    model.replace(&kept.label, kept.bytes, at);
                }
            }
            Act::Undelete(blob) => {
                let model = &mut models[usize::from(blob)];
                let done = world.undelete(NAMES[usize::from(blob)]).await;
                if let Some((base, _)) = model.deleted.take() {
                    model.base = Some(base);
                }
                let has_versions = model.past.iter().any(|kept| kept.kind == Kind::Version);
                assert_eq!(done.is_ok(), model.base.is_some() || has_versions);
                for kept in &mut model.past {
                    if model.base.is_some() || kept.kind == Kind::Version {
                        kept.until = None;
                    }
                }
            }
            Act::Wait(days) => {
                world.wait(DAY * u32::from(days)).await;
                at.now += u64::from(days) * DAY.as_secs();
                models.iter_mut().for_each(|model| model.forget(at.now));
            }
            Act::Sweep => world.sweep().await,
        }
        check(&world, &models).await;
    }
    finish(world).await;
}

async fn check(world: &World, models: &[Model; 2]) {
    let expected: Vec<Listed> =
        models.iter().zip(NAMES).flat_map(|(model, name)| model.listed(name)).collect();
    let items = world.list(&everything(), 1_000).await;
    assert_eq!(items.iter().filter_map(seen).collect::<Vec<_>>(), expected);
    for size in [1, 2, 3] {
        let items = world.list(&everything(), size).await;
        assert_eq!(items.iter().filter_map(seen).collect::<Vec<_>>(), expected, "pages of {size}");
    }
    // What was not asked for is not there.
    let plain = world.list(&ListBlobs::default(), 1_000).await;
    let bases: Vec<&Listed> =
        expected.iter().filter(|(_, kind, deleted, _)| *kind == Kind::Base && !deleted).collect();
    assert_eq!(plain.iter().filter_map(seen).collect::<Vec<_>>().iter().collect::<Vec<_>>(), bases);
    for (model, name) in models.iter().zip(NAMES) {
        let found = world.get(name, BlobState::Base).await;
        assert_eq!(found.ok(), model.base.as_ref().map(|base| base.bytes.clone()));
        let states = states(world, name).await;
        assert_eq!(states.len(), model.past.len());
        for (state, kept) in states.into_iter().zip(&model.past) {
            let expected = kept.until.is_none().then(|| kept.bytes.clone());
            let found = world.get(name, state).await.map_err(|fault| fault.0);
            let told = format!("{name} {state:?}: {:?}", found.as_ref().map(Vec::len));
            assert!(found.ok() == expected, "{told}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn what_was_kept_is_found_and_nothing_else(acts in prop::collection::vec(act(), 1..30)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(acts));
    }
}
