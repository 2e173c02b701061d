//! Undelete Blob: the soft-deleted base comes back, with its soft-deleted snapshots and versions.
//!
//! A name may have any number of them, so they come back in several commits, each of a bounded size. A crash between two
//! leaves some of them deleted, to be brought back by the next Undelete Blob.

use lazuli_engine::{Key, KeyRange, Scan};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::time::Timestamp;

use super::blob::{BlobPlace, decode_blob};
use super::deleted_snapshots::DeletedSnapshots;
use super::found::Admitted;
use super::key;
use super::record::Record as _;
use super::record::blob::BlobRecord;
use super::record::existing::Existing;
use super::unit::{Changes as _, Unit};
use crate::fault::Answer;

/// What one commit reads.
const STEP_BYTES: usize = 100_000;

/// How often what others delete meanwhile may send it back to its beginning.
const RETURNS_MAX: u32 = 100;

/// How far it has come.
#[derive(Clone, Debug, Default)]
pub struct Undeleting {
    phase: Phase,
    after: Option<Key>,
    /// How often it was sent back to its beginning.
    returned: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Those that are gone for good are taken away, so that what hides them can be.
    #[default]
    Clear,
    /// The base, and the snapshots that were deleted together.
    Base,
    Snapshots,
    Versions,
}

impl Undeleting {
    fn next(&self, phase: Phase) -> Option<Self> {
        Some(Self { phase, after: None, ..*self })
    }

    fn behind(&self, after: Key) -> Option<Self> {
        Some(Self { after: Some(after), ..*self })
    }

    /// Others were deleted for good since they were taken away: what hides them would hide what comes back.
    fn begin_again(&self) -> Answer<Option<Self>> {
        if self.returned == RETURNS_MAX {
            return Err(Failure::new(ErrorCode::ServerBusy).cause("snapshots are deleted meanwhile").into());
        }
        Ok(Some(Self { returned: self.returned + 1, ..Self::default() }))
    }
}

impl Admitted<Existing> {
    /// One step; gives the next one.
    pub async fn undelete(self, at: &Undeleting) -> Answer<Option<Undeleting>> {
        let Self { mut unit, place, admitted, .. } = self;
        let base = admitted.into_record().and_then(Existing::blob);
        match at.phase {
            Phase::Clear => clear(&mut unit, &place, at).await,
            Phase::Base => restore_base(&mut unit, &place, base, at).await,
            Phase::Snapshots => restore_snapshots(&mut unit, &place, base, at).await,
            Phase::Versions => restore_versions(&mut unit, &place, at).await,
        }
    }
}

async fn clear(unit: &mut Unit, place: &BlobPlace, at: &Undeleting) -> Answer<Option<Undeleting>> {
    let (reader, now) = (unit.reader().clone(), unit.now());
    let more = DeletedSnapshots::clear_some(&reader, unit, place.generation, &place.name, now).await?;
    Ok(at.next(if more { Phase::Clear } else { Phase::Base }))
}

async fn restore_base(
    unit: &mut Unit,
    place: &BlobPlace,
    base: Option<BlobRecord>,
    at: &Undeleting,
) -> Answer<Option<Undeleting>> {
    let now = unit.now();
    let read = unit.deleted_snapshots(place).await?;
    if read.has_gone(now) {
        return at.begin_again();
    }
    let base = match base {
        Some(base) => Some(base),
        None => restored(unit, place, now).await?,
    };
    let Some(mut base) = base else {
        let versions = key::versions_of(place.generation, &place.name);
        let page = unit.reader().scan(Scan { limit: 1, keys_only: true, ..Scan::of(versions) }).await?;
        return match page.items.is_empty() {
            true => Err(ErrorCode::BlobNotFound.into()),
            false => Ok(at.next(Phase::Versions)),
        };
    };
    base.snapshots += restore_together(unit, place, &read);
    place.write(unit, &base);
    Ok(at.next(Phase::Snapshots))
}

/// The snapshots of which it is said together that they are soft deleted, while none of them is gone for good. Gives how
/// many they are.
fn restore_together(unit: &mut Unit, place: &BlobPlace, read: &DeletedSnapshots) -> u32 {
    let mut deleted = read.clone();
    let count = deleted.restore();
    deleted.write(unit, place.generation, &place.name, read);
    count
}

/// The soft-deleted base of a name, no longer so.
async fn restored(unit: &mut Unit, place: &BlobPlace, now: Timestamp) -> Answer<Option<BlobRecord>> {
    let key = key::deleted_blob(place.generation, &place.name);
    let Some(mut kept) = decode_blob(unit.reader().get(key.clone()).await?)? else { return Ok(None) };
    if kept.extras().deletion.is_none_or(|deletion| deletion.until <= now) {
        return Ok(None);
    }
    unit.delete(key);
    kept.set_deletion(None);
    Ok(Some(kept))
}

async fn restore_snapshots(
    unit: &mut Unit,
    place: &BlobPlace,
    base: Option<BlobRecord>,
    at: &Undeleting,
) -> Answer<Option<Undeleting>> {
    // Deleted again meanwhile: what that deletion kept is for another request.
    let Some(mut base) = base else { return Ok(None) };
    let read = unit.deleted_snapshots(place).await?;
    if read.has_gone(unit.now()) {
        return at.begin_again();
    }
    let page = step(unit, key::snapshots_of(place.generation, &place.name), &at.after).await?;
    // What was deleted together meanwhile comes back too: it may be said of those that come back here.
    let count = restore_each(unit, &page.keys).await? + restore_together(unit, place, &read);
    if count > 0 {
        base.snapshots += count;
        place.write(unit, &base);
    }
    Ok(match page.next {
        Some(after) => at.behind(after),
        None => at.next(Phase::Versions),
    })
}

async fn restore_versions(unit: &mut Unit, place: &BlobPlace, at: &Undeleting) -> Answer<Option<Undeleting>> {
    let page = step(unit, key::versions_of(place.generation, &place.name), &at.after).await?;
    restore_each(unit, &page.keys).await?;
    Ok(page.next.and_then(|after| at.behind(after)))
}

/// Brings back those that say of themselves that they are soft deleted, and tells how many.
async fn restore_each(unit: &mut Unit, keys: &[Key]) -> Answer<u32> {
    let (reader, now) = (unit.reader().clone(), unit.now());
    let mut count = 0;
    for key in keys {
        let Some(mut record) = decode_blob(reader.get(key.clone()).await?)? else { continue };
        if record.extras().deletion.is_some_and(|deletion| deletion.until > now) {
            record.set_deletion(None);
            unit.put(key.clone(), record.encode());
            count += 1;
        }
    }
    Ok(count)
}

struct Step {
    keys: Vec<Key>,
    /// Where the next one begins.
    next: Option<Key>,
}

async fn step(unit: &Unit, range: KeyRange, after: &Option<Key>) -> Answer<Step> {
    let scan = Scan { after: after.clone(), max_bytes: STEP_BYTES, ..Scan::of(range) };
    let page = unit.reader().scan(scan).await?;
    let keys: Vec<Key> = page.items.into_iter().map(|(key, _)| key).collect();
    let next = keys.last().filter(|_| page.more).cloned();
    Ok(Step { keys, next })
}

#[cfg(test)]
mod tests;
