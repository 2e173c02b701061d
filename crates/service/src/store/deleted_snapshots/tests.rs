use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const DAY: u64 = 10;

fn until(deleted: u64) -> SoftDeletion {
    kept_for(deleted, DAY)
}

fn kept_for(deleted: u64, ticks: u64) -> SoftDeletion {
    SoftDeletion { deleted: Timestamp(deleted), until: Timestamp(deleted + ticks) }
}

const EARLY: Timestamp = Timestamp(0);

#[test]
fn each_deletion_is_of_what_was_alive_then() {
    let mut marks = DeletedSnapshots::default();
    marks.kill(5);
    marks.keep(9, until(100), 3, EARLY).unwrap();
    marks.keep(20, until(105), 2, EARLY).unwrap();
    let alone = until(90);
    let fates = [
        (5, Fate::Dead),
        (6, Fate::Kept(until(100))),
        (9, Fate::Kept(until(100))),
        (10, Fate::Kept(until(105))),
        (21, Fate::Alive),
    ];
    for (ticks, fate) in fates {
        assert_eq!(marks.fate(ticks, None), fate, "{ticks}");
        assert_eq!(marks.fate(ticks, Some(alone)), Fate::Kept(alone), "{ticks}");
    }
    // Dead for good beside what is kept: what was kept before stays so.
    marks.kill(30);
    assert_eq!(marks.fate(9, None), Fate::Kept(until(100)));
    assert_eq!(marks.fate(21, None), Fate::Dead);
    assert_eq!(marks.gone(Timestamp(101)), Some((0, 30)));
    marks.forget_gone(30, Timestamp(101));
    assert_eq!(marks.gone(Timestamp(101)), None);
    assert_eq!(marks.gone(Timestamp(110)), Some((5, 9)));
    marks.forget_gone(30, Timestamp(110));
    assert_eq!(marks.restore(), 2, "the first three are gone by then");
    assert_eq!(marks.fate(15, None), Fate::Alive);
}

#[test]
fn many_deletions_are_few_words() {
    let mut marks = DeletedSnapshots::default();
    for at in 1..=100 {
        marks.keep(at * 10, until(at), 1, EARLY).unwrap();
    }
    assert_eq!(marks.kept.len(), KEPT_MAX);
    for ticks in 1..=1_000 {
        assert!(matches!(marks.fate(ticks, None), Fate::Kept(_)), "{ticks}");
    }
    assert_eq!(marks.restore(), 100);
}

/// What lies between is gone for good, so all of them have to be told apart; but only so many.
#[test]
fn deletions_that_cannot_be_one_are_told_apart_until_they_are_too_many() {
    let mut marks = DeletedSnapshots::default();
    for last in (0..KEPT_APART_MAX as u64).map(|number| number * 10) {
        marks.kill(last + 5);
        marks.keep(last + 10, until(100), 1, EARLY).unwrap();
        assert_eq!(marks.fate(last + 5, None), Fate::Dead);
    }
    let last = marks.last();
    marks.kill(last + 5);
    let refused = marks.keep(last + 10, until(100), 1, EARLY).unwrap_err();
    assert_eq!(refused.code, ErrorCode::ServerBusy);
    let largest = KeptTogether {
        from: u64::MAX,
        up_to: u64::MAX,
        deletion: SoftDeletion { deleted: Timestamp(u64::MAX), until: Timestamp(u64::MAX) },
        count: u32::MAX,
    };
    let bytes = KeptSnapshots(vec![largest; KEPT_APART_MAX]).encode().len();
    assert!(bytes <= KEPT_APART_MAX * 45 + 3, "{bytes}");
}

/// What one test knows of a snapshot.
#[derive(Clone, Debug)]
struct Known {
    own: Option<SoftDeletion>,
    /// Until when it is kept by a deletion of all; 0 where it is dead.
    together: Option<u64>,
}

impl Known {
    fn is_gone(&self, now: u64) -> bool {
        match (self.own, self.together) {
            (Some(own), _) => own.until.0 <= now,
            (None, until) => until.is_some_and(|until| until <= now),
        }
    }

    fn is_alive(&self) -> bool {
        self.own.is_none() && self.together.is_none()
    }
}

#[derive(Clone, Debug)]
enum Act {
    Snapshot,
    DeleteOne(usize, u64),
    DeleteOneForGood(usize),
    /// None: for good.
    DeleteAll(Option<u64>),
    /// So many keys at a time.
    Clear(usize),
    Undelete,
    Wait(u64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        20 => Just(Act::Snapshot),
        2 => (0..20usize, 1..40u64).prop_map(|(which, ticks)| Act::DeleteOne(which, ticks)),
        1 => (0..20usize).prop_map(Act::DeleteOneForGood),
        12 => (1..400u64).prop_map(|ticks| Act::DeleteAll(Some(ticks))),
        3 => Just(Act::DeleteAll(None)),
        4 => (1..6usize).prop_map(Act::Clear),
        1 => Just(Act::Undelete),
        3 => (1..30u64).prop_map(Act::Wait),
    ]
}

#[derive(Default)]
struct World {
    marks: DeletedSnapshots,
    keys: BTreeMap<u64, Known>,
    now: u64,
}

impl World {
    /// As `clear_some` does it.
    fn clear(&mut self, keys: usize) -> bool {
        let now = Timestamp(self.now);
        let Some((from, up_to)) = self.marks.gone(now) else { return false };
        let range: Vec<u64> = self.keys.range(from + 1..=up_to).map(|(ticks, _)| *ticks).collect();
        let reached = if keys < range.len() { range[keys - 1] } else { up_to };
        for ticks in range.into_iter().take(keys) {
            if self.marks.fate(ticks, self.keys[&ticks].own).is_gone(now) {
                self.keys.remove(&ticks);
            }
        }
        self.marks.forget_gone(reached, now);
        self.marks.has_gone(now)
    }

    fn act(&mut self, act: Act) {
        let now = Timestamp(self.now);
        match act {
            Act::Snapshot => {
                let last = self.keys.last_key_value().map_or(0, |(ticks, _)| *ticks);
                let ticks = last.max(self.marks.last()) + 1;
                self.keys.insert(ticks, Known { own: None, together: None });
            }
            Act::DeleteOne(which, ticks) => {
                let mut alive = self.keys.values_mut().filter(|known| known.is_alive());
                if let Some(known) = alive.nth(which) {
                    known.own = Some(kept_for(self.now, ticks));
                }
            }
            Act::DeleteOneForGood(which) => {
                let is_kept = |known: &Known| !known.is_alive() && !known.is_gone(now.0);
                let kept = self.keys.iter().filter(|(_, known)| is_kept(known)).nth(which);
                if let Some((ticks, known)) = kept.map(|(ticks, known)| (*ticks, known.clone())) {
                    if known.own.is_none() {
                        self.marks.count_less(ticks);
                    }
                    self.keys.remove(&ticks);
                }
            }
            Act::DeleteAll(for_ticks) => {
                let count = self.keys.values().filter(|known| known.is_alive()).count();
                if count == 0 {
                    return;
                }
                let up_to = *self.keys.last_key_value().unwrap().0;
                let deletion = for_ticks.map(|ticks| kept_for(self.now, ticks));
                match deletion {
                    Some(deletion) => self.marks.keep(up_to, deletion, count as u32, now).unwrap(),
                    None => self.marks.kill(up_to),
                }
                for known in self.keys.values_mut().filter(|known| known.is_alive()) {
                    known.together = Some(deletion.map_or(0, |deletion| deletion.until.0));
                }
            }
            Act::Clear(keys) => _ = self.clear(keys),
            Act::Undelete => {
                while self.clear(3) {}
                let mut count = 0;
                for known in self.keys.values_mut().filter(|known| !known.is_gone(now.0)) {
                    count += u32::from(known.own.is_none() && known.together.is_some());
                    (known.own, known.together) = (None, None);
                }
                assert_eq!(self.marks.restore(), count);
            }
            Act::Wait(ticks) => self.now += ticks,
        }
    }

    /// What is gone is gone, what is alive is alive, and what is kept is kept at least as long as was promised.
    fn check(&mut self) {
        let now = Timestamp(self.now);
        for (ticks, known) in &mut self.keys {
            let fate = self.marks.fate(*ticks, known.own);
            assert_eq!(fate.is_gone(now), known.is_gone(self.now), "{ticks}: {fate:?} {known:?}");
            assert_eq!(fate == Fate::Alive, known.is_alive(), "{ticks}: {fate:?} {known:?}");
            if let (Fate::Kept(told), None, Some(until)) = (fate, known.own, &mut known.together) {
                assert!(told.until.0 >= *until, "{ticks}: {fate:?}, promised until {until}");
                *until = told.until.0;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn every_snapshot_has_the_fate_that_it_was_given(acts in prop::collection::vec(act(), 1..200)) {
        let mut world = World::default();
        for act in acts {
            world.act(act);
            world.check();
        }
        while world.clear(2) {}
        let gone: Vec<_> = world.keys.iter().filter(|(_, known)| known.own.is_none() && known.is_gone(world.now)).collect();
        assert!(gone.is_empty(), "left behind: {gone:?}");
    }
}
