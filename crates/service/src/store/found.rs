//! What a name stands for, before and after admission.

use std::ops::{Deref, DerefMut};

use lazuli_model::admission::{self, Circumstances};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Judged, Mode, Policy, Reads, Writes};
use lazuli_model::time::Timestamp;

use super::desk::WantedBreaks;
use super::unit::Unit;

/// A kind of record that conditions, leases, receipts or mere existence guard.
pub trait Resource: Sized {
    /// What a request asserts about it.
    type Given: ?Sized;
    /// Where it stands; only the store can look into it.
    type Place;

    /// What a request for one that is not there is told.
    const NOT_FOUND: ErrorCode;

    fn judge(
        policy: &Policy,
        given: &Self::Given,
        found: Option<Self>,
        circumstances: Circumstances,
    ) -> Result<admission::Admitted<Self>, Failure>;

    /// What clients of SMB have to give up for it.
    fn breaks(
        _policy: &Policy,
        _given: &Self::Given,
        _account: &str,
        _place: &Self::Place,
        _found: &Self,
        _now: Timestamp,
    ) -> Option<WantedBreaks> {
        None
    }
}

/// What stands at an address, or that nothing does. It was read as a check of the commit. It can be looked at; to change
/// it, an operation must have it admitted.
///
/// An operation cannot write what it has not had admitted:
///
/// ```compile_fail,E0599
/// # use lazuli_service::blob::BlobAddress;
/// # use lazuli_service::store::Unit;
/// # async fn operation(unit: Unit, at: BlobAddress) -> Result<(), lazuli_service::Fault> {
/// let found = unit.blob(&at).await?;
/// found.put();
/// # Ok(()) }
/// ```
///
/// It writes what it has had admitted, and where it was found:
///
/// ```
/// # use lazuli_model::admission::Preconditions;
/// # use lazuli_model::operation::policy;
/// # use lazuli_service::blob::BlobAddress;
/// # use lazuli_service::store::Unit;
/// # async fn operation(unit: Unit, at: BlobAddress, given: Preconditions) -> Result<(), lazuli_service::Fault> {
/// let blob = unit.blob(&at).await?.admit(policy::SetBlobMetadata, &given)?.committed()?;
/// blob.put();
/// # Ok(()) }
/// ```
///
/// The admission of one record does not let it write another:
///
/// ```compile_fail,E0061
/// # use lazuli_model::admission::Preconditions;
/// # use lazuli_model::operation::policy;
/// # use lazuli_service::blob::BlobAddress;
/// # use lazuli_service::store::Unit;
/// # async fn operation(unit: Unit, at: BlobAddress, other: BlobAddress, given: Preconditions) -> Result<(), lazuli_service::Fault> {
/// let blob = unit.blob(&at).await?.admit(policy::SetBlobMetadata, &given)?.committed()?;
/// let other = unit.blob(&other).await?;
/// blob.put(other);
/// # Ok(()) }
/// ```
///
/// The policy of an operation that reads lets it write nothing:
///
/// ```compile_fail,E0599
/// # use lazuli_model::admission::Preconditions;
/// # use lazuli_model::operation::policy;
/// # use lazuli_service::blob::BlobAddress;
/// # use lazuli_service::store::Unit;
/// # async fn operation(unit: Unit, at: BlobAddress, given: Preconditions) -> Result<(), lazuli_service::Fault> {
/// let blob = unit.blob(&at).await?.admit(policy::GetBlobProperties, &given)?.committed()?;
/// blob.put();
/// # Ok(()) }
/// ```
///
/// Nor can it write through a view, which is never committed:
///
/// ```compile_fail,E0599
/// # use lazuli_model::admission::Preconditions;
/// # use lazuli_model::operation::policy;
/// # use lazuli_service::blob::BlobAddress;
/// # use lazuli_service::store::View;
/// # async fn operation(view: View, at: BlobAddress, given: Preconditions) -> Result<(), lazuli_service::Fault> {
/// let blob = view.blob(&at).await?.admit(policy::SetBlobMetadata, &given)?.committed()?;
/// blob.put();
/// # Ok(()) }
/// ```
///
/// And nothing can be written past it: the unit's own door is closed.
///
/// ```compile_fail,E0624
/// # use lazuli_service::store::Unit;
/// # async fn operation(unit: Unit) {
/// unit.publish([]);
/// # }
/// ```
pub struct Found<R: Resource, M: Mode = Writes> {
    unit: Unit<M>,
    place: R::Place,
    record: Option<R>,
}

impl<R: Resource, M: Mode> Found<R, M> {
    pub(super) fn new(unit: Unit<M>, place: R::Place, record: Option<R>) -> Self {
        Self { unit, place, record }
    }

    pub(super) fn place(&self) -> &R::Place {
        &self.place
    }

    pub fn record(&self) -> Option<&R> {
        self.record.as_ref()
    }

    /// For what stands beside a record and is not guarded by it.
    pub(super) fn into_parts(self) -> (Unit<M>, R::Place, Option<R>) {
        (self.unit, self.place, self.record)
    }

    /// Whether an operation of this policy would be let through now. A courtesy, before a large body is read: only
    /// what the commit stands on counts.
    pub fn judge<P: Judged>(self, policy: P, given: &R::Given) -> Result<(), Failure> {
        self.admitted::<P, Reads>(policy, given).map(|_| ())
    }

    fn admitted<P: Judged, N: Mode>(self, policy: P, given: &R::Given) -> Result<Admitted<R, N>, Failure> {
        let Self { unit, place, record } = self;
        let policy = policy.policy();
        let breaks = record
            .as_ref()
            .and_then(|found| R::breaks(policy, given, unit.account(), &place, found, unit.now()));
        let judged = R::judge(policy, given, record, unit.circumstances());
        if let Some(breaks) = breaks {
            let mut notes = unit.notes();
            match &judged {
                Ok(_) => notes.along.push(breaks),
                Err(failure) if failure.code == ErrorCode::ClientCacheFlushDelay => {
                    notes.waits_for.push(breaks)
                }
                Err(_) => {}
            }
        }
        let admitted = judged?;
        Ok(Admitted { unit: unit.in_mode(), place, policy, admitted })
    }
}

impl<R: Resource> Found<R, Writes> {
    /// Lets an operation of this policy through to the record, or says why not.
    pub fn admit<P: Judged>(self, policy: P, given: &R::Given) -> Result<Admitted<R, P::Mode>, Failure> {
        self.admitted(policy, given)
    }
}

impl<R: Resource> Found<R, Reads> {
    pub fn admit<P: Judged>(self, policy: P, given: &R::Given) -> Result<Admitted<R, Reads>, Failure> {
        self.admitted(policy, given)
    }
}

/// A record that passed every check, or a name that passed them and stands for nothing yet; bound to where it was found.
pub struct Admitted<R: Resource, M: Mode = Writes> {
    pub(super) unit: Unit<M>,
    pub(super) place: R::Place,
    pub(super) policy: &'static Policy,
    pub(super) admitted: admission::Admitted<R>,
}

impl<R: Resource, M: Mode> Admitted<R, M> {
    pub fn record(&self) -> Option<&R> {
        self.admitted.record()
    }

    /// The record, for operations that need one.
    pub fn present(self) -> Result<Present<R, M>, Failure> {
        let Self { unit, place, policy, admitted } = self;
        let record = admitted.into_record().ok_or(R::NOT_FOUND)?;
        Ok(Present { unit, place, policy, record })
    }

    /// The record, for operations that only look at it.
    pub fn into_record(self) -> Result<R, Failure> {
        Ok(self.admitted.into_record().ok_or(R::NOT_FOUND)?)
    }
}

/// An admitted record that exists. An operation changes it in place; putting it writes it where it was found.
pub struct Present<R: Resource, M: Mode = Writes> {
    pub(super) unit: Unit<M>,
    pub(super) place: R::Place,
    pub(super) policy: &'static Policy,
    pub(super) record: R,
}

impl<R: Resource> Present<R, Writes> {
    /// Whether what is put gets a new ETag.
    pub(super) fn changes_etag(&self) -> bool {
        self.policy.changes_etag_in(self.unit.version())
    }
}

impl<R: Resource, M: Mode> Present<R, M> {
    pub fn into_record(self) -> R {
        self.record
    }
}

impl<R: Resource, M: Mode> Deref for Present<R, M> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.record
    }
}

impl<R: Resource> DerefMut for Present<R, Writes> {
    fn deref_mut(&mut self) -> &mut R {
        &mut self.record
    }
}
