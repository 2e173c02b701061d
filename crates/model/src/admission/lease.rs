//! The REST lease on a blob or a container: its states, its five actions, and what its id is good
//! for in other requests. One state machine for all resources that have leases.
//!
//! Nothing here is ever stored as "expired" or "broken": a lease keeps two deadlines and the state
//! is what they say about `now`.

use crate::error::{ErrorCode, Failure};
use crate::operation::LeaseUse;
use crate::time::Timestamp;

use super::Kind;
pub use super::lease_id::LeaseId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseDuration {
    Infinite,
    Fixed { seconds: u8 },
}

impl LeaseDuration {
    /// The value of `x-ms-lease-duration`: -1, or 15 to 60.
    pub fn from_seconds(seconds: i64) -> Option<Self> {
        match seconds {
            -1 => Some(Self::Infinite),
            15..=60 => Some(Self::Fixed { seconds: u8::try_from(seconds).ok()? }),
            _ => None,
        }
    }

    fn end(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Infinite => None,
            Self::Fixed { seconds } => Some(now.plus_seconds(i64::from(seconds))),
        }
    }

    /// How a resource that is leased reports it: `x-ms-lease-duration`, `<LeaseDuration>`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Infinite => "infinite",
            Self::Fixed { .. } => "fixed",
        }
    }
}

/// The longest break period, in seconds.
pub const BREAK_PERIOD_MAX: u8 = 60;

/// A lease that was acquired and not released. A resource without one is available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub id: LeaseId,
    /// Kept after expiry: renewing takes it up again.
    pub duration: LeaseDuration,
    /// When a fixed lease runs out. None for an infinite one.
    pub expires: Option<Timestamp>,
    /// Set by a break: breaking until then, broken from then on. Outranks `expires`.
    pub breaks: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LeaseState {
    Available,
    Leased,
    Breaking,
    Broken,
    Expired,
}

impl LeaseState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Leased => "leased",
            Self::Breaking => "breaking",
            Self::Broken => "broken",
            Self::Expired => "expired",
        }
    }

    /// Whether writes need the id.
    pub fn is_locked(self) -> bool {
        matches!(self, Self::Leased | Self::Breaking)
    }

    /// The value of `x-ms-lease-status`.
    pub fn status(self) -> &'static str {
        if self.is_locked() { "locked" } else { "unlocked" }
    }
}

pub fn state(lease: Option<&Lease>, now: Timestamp) -> LeaseState {
    let Some(lease) = lease else {
        return LeaseState::Available;
    };
    match (lease.breaks, lease.expires) {
        (Some(breaks), _) if now < breaks => LeaseState::Breaking,
        (Some(_), _) => LeaseState::Broken,
        (None, Some(expires)) if expires <= now => LeaseState::Expired,
        (None, _) => LeaseState::Leased,
    }
}

/// `x-ms-lease-duration` of an answer: only a leased resource has it.
pub fn reported_duration(lease: Option<&Lease>, now: Timestamp) -> Option<&'static str> {
    let lease = lease?;
    (state(Some(lease), now) == LeaseState::Leased).then(|| lease.duration.as_str())
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseAction {
    Acquire {
        proposed: Option<LeaseId>,
        duration: LeaseDuration,
    },
    Renew {
        id: LeaseId,
    },
    Change {
        id: LeaseId,
        proposed: LeaseId,
    },
    Release {
        id: LeaseId,
    },
    /// An id sent along is not looked at.
    Break {
        period: Option<u8>,
    },
}

/// What a lease action leaves behind and what it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseChange {
    /// The new stored value; None makes the resource available.
    pub lease: Option<Lease>,
    /// `x-ms-lease-id`: acquire, renew and change answer it, release and break do not.
    pub id: Option<LeaseId>,
    /// `x-ms-lease-time`, whole seconds, of a break.
    pub time: Option<u32>,
}

impl LeaseChange {
    fn held(lease: Lease) -> Self {
        Self { id: Some(lease.id), lease: Some(lease), time: None }
    }

    /// `lease.breaks` is set. The time rounds down: a fresh lease of 15 s answers 14.
    fn breaking(lease: Lease, now: Timestamp) -> Self {
        let until = lease.breaks.unwrap_or(now);
        let seconds = until.0.saturating_sub(now.0) / TICKS_PER_SECOND;
        Self { lease: Some(lease), id: None, time: Some(u32::try_from(seconds).unwrap_or(u32::MAX)) }
    }
}

const TICKS_PER_SECOND: u64 = 10_000_000;

/// Carries out one action. `fresh` is the id to give when the client proposes none.
///
/// The texts of the failures speak of a blob; [`Admitted::act`](super::Admitted::act) speaks of the
/// resource at hand.
pub fn act(
    lease: Option<&Lease>,
    action: &LeaseAction,
    fresh: LeaseId,
    now: Timestamp,
) -> Result<LeaseChange, Failure> {
    match action {
        LeaseAction::Acquire { proposed, duration } => acquire(lease, *proposed, *duration, fresh, now),
        LeaseAction::Renew { id } => renew(lease, *id, now),
        LeaseAction::Change { id, proposed } => change(lease, *id, *proposed, now),
        LeaseAction::Release { id } => match lease {
            Some(lease) if lease.id == *id => Ok(LeaseChange { lease: None, id: None, time: None }),
            _ => Err(ErrorCode::LeaseIdMismatchWithLeaseOperation.into()),
        },
        LeaseAction::Break { period } => break_lease(lease, *period, now),
    }
}

fn acquire(
    lease: Option<&Lease>,
    proposed: Option<LeaseId>,
    duration: LeaseDuration,
    fresh: LeaseId,
    now: Timestamp,
) -> Result<LeaseChange, Failure> {
    let is_own = lease.is_some_and(|lease| Some(lease.id) == proposed);
    match state(lease, now) {
        LeaseState::Breaking if is_own => Err(ErrorCode::LeaseIsBreakingAndCannotBeAcquired.into()),
        // An acquire that is retried with its own id succeeds again, with the new duration.
        LeaseState::Leased | LeaseState::Breaking if !is_own => Err(ErrorCode::LeaseAlreadyPresent.into()),
        _ => Ok(LeaseChange::held(Lease {
            id: proposed.unwrap_or(fresh),
            duration,
            expires: duration.end(now),
            breaks: None,
        })),
    }
}

fn renew(lease: Option<&Lease>, id: LeaseId, now: Timestamp) -> Result<LeaseChange, Failure> {
    match (lease, state(lease, now)) {
        (Some(lease), LeaseState::Leased | LeaseState::Expired) if lease.id == id => {
            Ok(LeaseChange::held(Lease { expires: lease.duration.end(now), ..lease.clone() }))
        }
        (Some(lease), _) if lease.id == id => Err(ErrorCode::LeaseIsBrokenAndCannotBeRenewed.into()),
        _ => Err(ErrorCode::LeaseIdMismatchWithLeaseOperation.into()),
    }
}

fn change(
    lease: Option<&Lease>,
    id: LeaseId,
    proposed: LeaseId,
    now: Timestamp,
) -> Result<LeaseChange, Failure> {
    match (lease, state(lease, now)) {
        // The id may already be the proposed one: then this is a retry of a change that succeeded.
        (Some(lease), LeaseState::Leased) if lease.id == id || lease.id == proposed => {
            Ok(LeaseChange::held(Lease { id: proposed, ..lease.clone() }))
        }
        (Some(lease), LeaseState::Breaking) if lease.id == id => {
            Err(ErrorCode::LeaseIsBreakingAndCannotBeChanged.into())
        }
        (Some(_), LeaseState::Leased | LeaseState::Breaking) => {
            Err(ErrorCode::LeaseIdMismatchWithLeaseOperation.into())
        }
        _ => Err(ErrorCode::LeaseNotPresentWithLeaseOperation.into()),
    }
}

fn break_lease(lease: Option<&Lease>, period: Option<u8>, now: Timestamp) -> Result<LeaseChange, Failure> {
    let Some(lease) = lease else {
        return Err(ErrorCode::LeaseNotPresentWithLeaseOperation.into());
    };
    let asked = period.map(|seconds| now.plus_seconds(i64::from(seconds)));
    let breaks = match state(Some(lease), now) {
        LeaseState::Leased => earlier(asked, lease.expires).unwrap_or(now),
        // A second break can only shorten the first.
        LeaseState::Breaking => earlier(asked, lease.breaks).unwrap_or(now),
        LeaseState::Broken => lease.breaks.unwrap_or(now),
        LeaseState::Available | LeaseState::Expired => now,
    };
    let broken = Lease { breaks: Some(breaks), ..lease.clone() };
    Ok(LeaseChange::breaking(broken, now))
}

fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Whether a request that is no lease action may go on, by the `x-ms-lease-id` it carries.
///
/// A sent id is a condition on reads too. The id of a lease that has ended is refused even though
/// the resource is unlocked: its holder must learn that others may have written since.
pub(super) fn check_use(
    kind: Kind,
    lease: Option<&Lease>,
    used: LeaseUse,
    given: Option<LeaseId>,
    now: Timestamp,
) -> Result<(), Failure> {
    if matches!(used, LeaseUse::None | LeaseUse::Manage) {
        return Ok(());
    }
    let state = state(lease, now);
    let code = match (given, lease) {
        (None, _) if used == LeaseUse::Write && state.is_locked() => ErrorCode::LeaseIdMissing,
        (None, _) => return Ok(()),
        (Some(_), None) => not_present(kind),
        (Some(_), Some(_)) if !state.is_locked() => ErrorCode::LeaseLost,
        (Some(id), Some(lease)) if lease.id == id => return Ok(()),
        (Some(_), Some(_)) => mismatch(kind),
    };
    Err(worded(code.into(), kind.noun()))
}

/// A lease id sent with an operation that would create the resource.
pub(super) fn not_present(kind: Kind) -> ErrorCode {
    match kind {
        Kind::Blob => ErrorCode::LeaseNotPresentWithBlobOperation,
        Kind::Container | Kind::Share => ErrorCode::LeaseNotPresentWithContainerOperation,
        Kind::File => ErrorCode::LeaseNotPresentWithFileOperation,
    }
}

fn mismatch(kind: Kind) -> ErrorCode {
    match kind {
        Kind::Blob => ErrorCode::LeaseIdMismatchWithBlobOperation,
        Kind::Container | Kind::Share => ErrorCode::LeaseIdMismatchWithContainerOperation,
        Kind::File => ErrorCode::LeaseIdMismatchWithFileOperation,
    }
}

/// The service writes its lease messages about "the blob" or "the container" and puts the resource's own word in its
/// place: shares have the codes of containers (recorded).
pub(super) fn worded(mut failure: Failure, noun: &str) -> Failure {
    let text = failure.code.message();
    let other = ["blob", "container"].into_iter().find(|word| *word != noun && text.contains(word));
    if let (Some(other), None) = (other, &failure.message) {
        failure.message = Some(text.replace(other, noun).into());
    }
    failure
}
