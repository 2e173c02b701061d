//! What SMB clients keep in their memory of a file, by oplock or by lease; what is granted, what others break of it, and for what
//! they wait ([MS-FSA] sections 2.1.4.12 and 2.1.5.18, [MS-SMB2] sections 3.3.4.6 and 3.3.4.7).
//!
//! An oplock is what one open holds by itself. A lease is held by a client under a key of its own, by all its opens with that key
//! together; they do not break one another.

use crate::time::Timestamp;

use super::sharing::{Break, Caching, Open, Rights};

/// How long a client may take to acknowledge a break.
pub const BREAK_SECONDS: i64 = 35;

impl Caching {
    pub const NONE: Self = Self { read: false, write: false, handle: false };
    pub const R: Self = Self { read: true, ..Self::NONE };
    pub const RH: Self = Self { handle: true, ..Self::R };
    pub const RW: Self = Self { write: true, ..Self::R };
    pub const RWH: Self = Self { write: true, ..Self::RH };

    pub const fn is_none(self) -> bool {
        !self.read && !self.write && !self.handle
    }

    /// Whether all of the other is among this.
    pub const fn has(self, other: Self) -> bool {
        (self.read || !other.read) && (self.write || !other.write) && (self.handle || !other.handle)
    }

    /// What both have.
    #[must_use]
    pub const fn both(self, other: Self) -> Self {
        Self {
            read: self.read && other.read,
            write: self.write && other.write,
            handle: self.handle && other.handle,
        }
    }

    #[must_use]
    pub const fn either(self, other: Self) -> Self {
        Self {
            read: self.read || other.read,
            write: self.write || other.write,
            handle: self.handle || other.handle,
        }
    }

    /// The nearest state that a lease can have: nothing is kept without reading.
    #[must_use]
    pub const fn as_lease(self) -> Self {
        if self.read { self } else { Self::NONE }
    }
}

/// The oplocks of a single open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum OplockLevel {
    #[default]
    None,
    /// Level II: it reads from its memory.
    Two,
    /// It writes into its memory.
    Exclusive,
    /// It keeps the file open after its application has closed it.
    Batch,
}

impl OplockLevel {
    pub const fn caching(self) -> Caching {
        match self {
            Self::None => Caching::NONE,
            Self::Two => Caching::R,
            Self::Exclusive => Caching::RW,
            Self::Batch => Caching::RWH,
        }
    }

    /// The highest level that keeps no more than this.
    pub const fn of(caching: Caching) -> Self {
        match caching {
            Caching { read: false, .. } => Self::None,
            Caching { write: true, handle: true, .. } => Self::Batch,
            Caching { write: true, .. } => Self::Exclusive,
            _ => Self::Two,
        }
    }
}

/// What one open keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    pub held: Caching,
    /// Of a lease: the client and its key. Opens with the same owner keep it together.
    pub owner: Option<LeaseOwner>,
    pub breaking: Option<Breaking>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeaseOwner {
    pub client: u128,
    pub key: u128,
}

/// The client was told to give up what it keeps, down to `to`, and has not acknowledged it yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breaking {
    pub to: Caching,
    pub since: Timestamp,
}

impl Kept {
    /// What counts now: a client that has not acknowledged a break in time keeps nothing.
    pub fn now(&self, now: Timestamp) -> Caching {
        match self.breaking {
            Some(breaking) if breaking.since.plus_seconds(BREAK_SECONDS) <= now => Caching::NONE,
            _ => self.held,
        }
    }
}

/// What is done to a file that others keep something of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Act {
    /// It is opened.
    Open,
    /// It is opened and what is in it goes.
    Overwrite,
    Read,
    /// Its bytes or its length are changed.
    Write,
    /// A range of it is locked.
    Lock,
    /// It gets another name, or is to be deleted; or an open stands in the way whose application may have closed it.
    Move,
}

impl Act {
    /// What is broken of what is kept, and whether the act waits for it.
    pub const fn breaks(self, held: Caching) -> Option<Break> {
        let Caching { write, handle, .. } = held;
        match self {
            Self::Open | Self::Read if write => {
                Some(Break { to: Caching { write: false, ..held }, waits: true })
            }
            Self::Overwrite | Self::Write | Self::Lock if !held.is_none() => {
                Some(Break { to: Caching::NONE, waits: write })
            }
            Self::Move if handle => Some(Break { to: Caching { handle: false, ..held }, waits: true }),
            _ => None,
        }
    }
}

/// Who does it: an open, or a client that is about to have one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Actor {
    pub handle: Option<u64>,
    pub owner: Option<LeaseOwner>,
}

impl Actor {
    /// Whether what the open keeps is the actor's own.
    fn owns(self, open: &Open) -> bool {
        let same_lease = self.owner.is_some() && self.owner == open.kept.owner;
        same_lease || self.handle == Some(open.handle)
    }

    /// Whether the act meets what the open keeps. A Level II oplock is lost by one's own writes too.
    fn meets(self, act: Act, open: &Open, held: Caching) -> bool {
        let is_level_two = open.kept.owner.is_none() && !held.write && !held.handle;
        !self.owns(open) || (matches!(act, Act::Write | Act::Lock) && is_level_two)
    }
}

/// What an act breaks of what others keep, by the handles of their opens.
pub fn breaks_of(act: Act, actor: Actor, opens: &[Open], now: Timestamp) -> Vec<(u64, Break)> {
    let to_break = |open: &Open| {
        let held = open.kept.now(now);
        act.breaks(held).filter(|_| actor.meets(act, open, held))
    };
    settled(opens.iter().filter_map(|open| to_break(open).map(|change| (open, change))))
}

/// What an open breaks that the share modes of others stand against: whether their applications have them open still.
pub fn breaks_of_conflict<'a>(against: impl Iterator<Item = &'a Open>, now: Timestamp) -> Vec<(u64, Break)> {
    // A client is asked about its own lease too: its other application may have closed the file.
    let to_break = |open: &'a Open| Act::Move.breaks(open.kept.now(now)).map(|change| (open, change));
    settled(against.filter_map(to_break))
}

/// As each kind of holder can be told: an oplock that is broken becomes a Level II or none at all, a lease keeps nothing
/// without reading.
pub(super) fn settled<'a>(breaks: impl Iterator<Item = (&'a Open, Break)>) -> Vec<(u64, Break)> {
    let settle = |(open, change): (&Open, Break)| {
        let to = match open.kept.owner {
            None if change.to.read => Caching::R,
            None => Caching::NONE,
            Some(_) => change.to.as_lease(),
        };
        (open.handle, Break { to, ..change })
    };
    breaks.map(settle).collect()
}

/// What an open is let keep of what it asks for, beside what others have open. A lease that keeps handles and an oplock
/// do not stand beside each other: the one that comes later gets less.
pub fn grant(wanted: Caching, actor: Actor, opens: &[Open], now: Timestamp) -> Caching {
    let others = || opens.iter().filter(|open| !actor.owns(open));
    let has_locks = others().any(|open| !open.locks.is_empty());
    if !wanted.read || has_locks || others().any(|open| open.kept.now(now).write) {
        return Caching::NONE;
    }
    let is_alone = others().all(|open| open.access == Rights::NONE && open.kept.now(now).is_none());
    let is_lease = actor.owner.is_some();
    if !is_lease && others().any(|open| open.kept.now(now).handle) {
        return Caching::NONE;
    }
    let is_oplock = |open: &Open| open.kept.owner.is_none() && !open.kept.now(now).is_none();
    let beside_oplock = is_lease && others().any(is_oplock);
    Caching { write: wanted.write && is_alone, handle: wanted.handle && !beside_oplock, ..wanted }
}

/// What a lease becomes that is asked for again: all that is asked for, where that is more than it is and can be had; else it
/// stays as it is.
pub fn upgrade(held: Caching, wanted: Caching, granted: Caching) -> Caching {
    if wanted.has(held) && granted == wanted { granted } else { held }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_what_they_keep() {
        for level in [OplockLevel::None, OplockLevel::Two, OplockLevel::Exclusive, OplockLevel::Batch] {
            assert_eq!(OplockLevel::of(level.caching()), level);
        }
        assert_eq!(OplockLevel::of(Caching::RH), OplockLevel::Two);
    }

    /// What is kept, and what each act leaves of it: `!` where the act waits.
    const ACTS: &str = "
              RWH  RW   RH   R
    Open      !RH  !R   =    =
    Read      !RH  !R   =    =
    Overwrite !-   !-   -    -
    Write     !-   !-   -    -
    Lock      !-   !-   -    -
    Move      !RW  =    !R   =
    ";

    #[test]
    fn acts_and_what_they_break() {
        let caching = |text: &str| Caching {
            read: text.contains('R'),
            write: text.contains('W'),
            handle: text.contains('H'),
        };
        let mut lines = ACTS.trim().lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let held = lines.next().unwrap();
        for line in lines {
            let (name, cells) = line.split_first().unwrap();
            let act = [Act::Open, Act::Overwrite, Act::Read, Act::Write, Act::Lock, Act::Move]
                .into_iter()
                .find(|act| format!("{act:?}") == *name)
                .unwrap();
            assert_eq!(cells.len(), held.len());
            for (held, left) in held.iter().zip(cells) {
                let expected = (*left != "=").then(|| Break { to: caching(left), waits: left.contains('!') });
                assert_eq!(act.breaks(caching(held)), expected, "{name} {held}");
            }
        }
    }

    fn open(handle: u64, held: Caching, key: Option<u128>) -> Open {
        let owner = key.map(|key| LeaseOwner { client: 1, key });
        let kept = Kept { held, owner, breaking: None };
        Open { handle, access: Rights::READ, share: Rights::ALL, kept, ..Open::default() }
    }

    #[test]
    fn a_lease_is_not_broken_by_its_own_opens_and_an_oplock_becomes_a_level_two() {
        let opens = [open(1, Caching::RWH, Some(7)), open(2, Caching::RWH, None)];
        let own = Actor { handle: None, owner: Some(LeaseOwner { client: 1, key: 7 }) };
        let broken = breaks_of(Act::Open, own, &opens, Timestamp(0));
        assert_eq!(broken, [(2, Break { to: Caching::R, waits: true })]);
        let other = Actor { handle: None, owner: Some(LeaseOwner { client: 2, key: 7 }) };
        let broken = breaks_of(Act::Open, other, &opens, Timestamp(0));
        assert_eq!(broken[0], (1, Break { to: Caching::RH, waits: true }));
        // A batch oplock that stands in the way becomes a Level II too.
        let broken = breaks_of_conflict(opens.iter(), Timestamp(0));
        assert_eq!(broken[1], (2, Break { to: Caching::R, waits: true }));
        assert_eq!(broken[0], (1, Break { to: Caching::RW, waits: true }));
    }

    #[test]
    fn ones_own_write_breaks_a_level_two_and_not_a_lease() {
        let opens = [open(1, Caching::R, None), open(2, Caching::R, Some(7))];
        let none = Break { to: Caching::NONE, waits: false };
        let by = |handle, key: Option<u128>| {
            let owner = key.map(|key| LeaseOwner { client: 1, key });
            breaks_of(Act::Write, Actor { handle: Some(handle), owner }, &opens, Timestamp(0))
        };
        assert_eq!(by(1, None), [(1, none), (2, none)]);
        assert_eq!(by(2, Some(7)), [(1, none)]);
    }

    #[test]
    fn grants() {
        let actor = Actor { handle: None, owner: Some(LeaseOwner { client: 1, key: 9 }) };
        let told = |wanted, opens: &[Open]| grant(wanted, actor, opens, Timestamp(0));
        assert_eq!(told(Caching::RWH, &[]), Caching::RWH);
        assert_eq!(told(Caching::RWH, &[open(1, Caching::NONE, None)]), Caching::RH);
        assert_eq!(told(Caching::RW, &[open(1, Caching::R, None)]), Caching::R);
        assert_eq!(told(Caching::RWH, &[open(1, Caching::RWH, Some(9))]), Caching::RWH, "its own lease");
        let looks = Open { access: Rights::NONE, ..open(1, Caching::NONE, None) };
        assert_eq!(told(Caching::RWH, &[looks]), Caching::RWH, "one that looks at attributes");
        let looks = Open { access: Rights::NONE, ..open(1, Caching::RH, Some(8)) };
        assert_eq!(told(Caching::RWH, &[looks]), Caching::RH, "one that keeps something");
        assert_eq!(told(Caching::RWH, &[open(1, Caching::R, None)]), Caching::R, "beside an oplock");
        let oplock = |opens: &[Open]| grant(Caching::RWH, Actor::default(), opens, Timestamp(0));
        assert_eq!(oplock(&[open(1, Caching::R, Some(9))]), Caching::RH);
        assert_eq!(oplock(&[open(1, Caching::RH, Some(9))]), Caching::NONE, "beside a lease with handles");
        let lock = super::super::sharing::ByteRangeLock { offset: 0, length: 1, exclusive: false };
        let locked = Open { locks: vec![lock], ..open(1, Caching::NONE, None) };
        assert_eq!(told(Caching::RH, &[locked]), Caching::NONE);
        assert_eq!(upgrade(Caching::RH, Caching::RW, Caching::RW), Caching::RH);
        assert_eq!(upgrade(Caching::R, Caching::RWH, Caching::RH), Caching::R, "not all of it can be had");
        assert_eq!(upgrade(Caching::R, Caching::RH, Caching::RH), Caching::RH);
        assert_eq!(upgrade(Caching::RWH, Caching::R, Caching::R), Caching::RWH);
    }

    #[test]
    fn a_break_that_is_not_acknowledged_ends() {
        let since = Timestamp(0);
        let kept =
            Kept { held: Caching::RWH, owner: None, breaking: Some(Breaking { to: Caching::RH, since }) };
        assert_eq!(kept.now(since.plus_seconds(34)), Caching::RWH);
        assert_eq!(kept.now(since.plus_seconds(35)), Caching::NONE);
    }
}
