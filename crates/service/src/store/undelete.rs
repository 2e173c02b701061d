//! Undelete Blob: the soft-deleted base comes back, with its soft-deleted snapshots and versions.
//!
//! A name may have any number of them, so they come back in several commits, each of a bounded size. A crash between two
//! leaves some of them deleted, to be brought back by the next Undelete Blob.

use lazuli_engine::{Key, KeyRange, Scan};
use lazuli_model::error::ErrorCode;
use lazuli_model::time::Timestamp;

use super::blob::{BlobPlace, decode_blob};
use super::content;
use super::found::Admitted;
use super::indexed::forget_hold;
use super::key;
use super::record::Record as _;
use super::record::blob::BlobRecord;
use super::record::existing::Existing;
use super::unit::{Changes as _, Unit};
use crate::fault::Answer;

/// What one commit reads.
const STEP_BYTES: usize = 100_000;

/// How far it has come.
#[derive(Clone, Debug, Default)]
pub struct Undeleting {
    phase: Phase,
    after: Option<Key>,
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
    fn next(phase: Phase) -> Option<Self> {
        Some(Self { phase, after: None })
    }
}

impl Admitted<Existing> {
    /// One step; gives the next one.
    pub async fn undelete(self, at: &Undeleting) -> Answer<Option<Undeleting>> {
        let Self { mut unit, place, admitted, .. } = self;
        let base = admitted.into_record().and_then(Existing::blob);
        let Undeleting { phase, after } = at.clone();
        match phase {
            Phase::Clear => clear(&mut unit, &place, after).await,
            Phase::Base => restore_base(&mut unit, &place, base).await,
            Phase::Snapshots => restore_snapshots(&mut unit, &place, base, after).await,
            Phase::Versions => restore_versions(&mut unit, &place, after).await,
        }
    }
}

async fn clear(unit: &mut Unit, place: &BlobPlace, after: Option<Key>) -> Answer<Option<Undeleting>> {
    let (reader, now) = (unit.reader().clone(), unit.now());
    let read = unit.deleted_snapshots(place).await?;
    if !read.has_gone(now) {
        return Ok(Undeleting::next(Phase::Base));
    }
    let page = step(unit, key::snapshots_of(place.generation, &place.name), after).await?;
    let mut contents = Vec::new();
    for key in &page.keys {
        let Some(record) = decode_blob(reader.get(key.clone()).await?)? else { continue };
        if read.fate(key::snapshot_ticks(key).unwrap_or(0), record.extras().deletion).is_gone(now) {
            forget_hold(unit, key, &record);
            contents.push(record.content);
            unit.delete(key.clone());
        }
    }
    content::drop_holders(&reader, unit, &contents).await?;
    if let Some(after) = page.next {
        return Ok(Some(Undeleting { phase: Phase::Clear, after: Some(after) }));
    }
    let mut deleted = read.clone();
    deleted.forget_gone(now);
    deleted.write(unit, place.generation, &place.name, &read);
    Ok(Undeleting::next(Phase::Base))
}

async fn restore_base(
    unit: &mut Unit,
    place: &BlobPlace,
    base: Option<BlobRecord>,
) -> Answer<Option<Undeleting>> {
    let now = unit.now();
    let base = match base {
        Some(base) => Some(base),
        None => restored(unit, place, now).await?,
    };
    let Some(mut base) = base else {
        let versions = key::versions_of(place.generation, &place.name);
        let page = unit.reader().scan(Scan { limit: 1, keys_only: true, ..Scan::of(versions) }).await?;
        return match page.items.is_empty() {
            true => Err(ErrorCode::BlobNotFound.into()),
            false => Ok(Undeleting::next(Phase::Versions)),
        };
    };
    let read = unit.deleted_snapshots(place).await?;
    let mut deleted = read.clone();
    base.snapshots += deleted.restore(now);
    deleted.write(unit, place.generation, &place.name, &read);
    place.write(unit, &base);
    Ok(Undeleting::next(Phase::Snapshots))
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
    after: Option<Key>,
) -> Answer<Option<Undeleting>> {
    // Deleted again meanwhile: what that deletion kept is for another request.
    let Some(mut base) = base else { return Ok(None) };
    let page = step(unit, key::snapshots_of(place.generation, &place.name), after).await?;
    let count = restore_each(unit, &page.keys).await?;
    if count > 0 {
        base.snapshots += count;
        place.write(unit, &base);
    }
    Ok(match page.next {
        Some(after) => Some(Undeleting { phase: Phase::Snapshots, after: Some(after) }),
        None => Undeleting::next(Phase::Versions),
    })
}

async fn restore_versions(
    unit: &mut Unit,
    place: &BlobPlace,
    after: Option<Key>,
) -> Answer<Option<Undeleting>> {
    let page = step(unit, key::versions_of(place.generation, &place.name), after).await?;
    restore_each(unit, &page.keys).await?;
    Ok(page.next.map(|after| Undeleting { phase: Phase::Versions, after: Some(after) }))
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

async fn step(unit: &Unit, range: KeyRange, after: Option<Key>) -> Answer<Step> {
    let scan = Scan { after, max_bytes: STEP_BYTES, ..Scan::of(range) };
    let page = unit.reader().scan(scan).await?;
    let keys: Vec<Key> = page.items.into_iter().map(|(key, _)| key).collect();
    let next = keys.last().filter(|_| page.more).cloned();
    Ok(Step { keys, next })
}
