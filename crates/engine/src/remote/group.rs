//! A group as the arguments of `commit_2`, and its verdicts.

use super::connection::Connection;
use super::fault::Fault;
use super::member::{Member, lock_of, version_of};
use super::shared::Shared;
use super::sql::Sql;
use super::uuid::Uuid;
use crate::key::Key;
use crate::remote::options::Dialect;
use crate::txn::Ticks;
use std::time::Instant;
use tokio_postgres::Row;

/// What became of a group that was committed.
pub(super) struct Verdicts {
    /// The time of the commit, moved along with the test clock.
    pub now: Ticks,
    /// For each member: why it was not committed.
    pub refused: Vec<Option<Reason>>,
}

pub(super) enum Reason {
    /// Another transaction has written this.
    Lost(Key),
    Late,
}

impl Verdicts {
    /// As the row of the group tells them: which key was lost is not known any more.
    pub fn known_later(members: &[Member], now: Ticks, refused: &[i32]) -> Self {
        let verdict =
            |(m, member): (i32, &Member)| refused.contains(&m).then(|| Reason::Lost(member.any_key()));
        Self { now, refused: (0..).zip(members).map(verdict).collect() }
    }
}

/// The arguments, member after member. Arrays that belong together have the same length.
#[derive(Default)]
struct Arguments<'a> {
    ids: Vec<Uuid>,
    until: Vec<i64>,
    locks: Vec<(i64, bool)>,
    check_m: Vec<i32>,
    check_k: Vec<&'a [u8]>,
    check_v: Vec<Option<Uuid>>,
    made_m: Vec<i32>,
    made_c: Vec<i32>,
    made_h: Vec<i64>,
    made_since: Vec<i64>,
    range_m: Vec<i32>,
    range_from: Vec<&'a [u8]>,
    range_to: Vec<&'a [u8]>,
    range_v: Vec<Option<Uuid>>,
    delete_m: Vec<i32>,
    delete_k: Vec<&'a [u8]>,
    gone_m: Vec<i32>,
    gone_h: Vec<i64>,
    put_m: Vec<i32>,
    put_k: Vec<&'a [u8]>,
    put_v: Vec<&'a [u8]>,
    put_whole: Vec<Option<&'a [u8]>>,
}

impl<'a> Arguments<'a> {
    fn of(members: &'a [Member], seed: u64, until: impl Fn(Instant) -> i64) -> Self {
        let mut all = Self::default();
        for (m, member) in (0..).zip(members) {
            all.ids.push(Uuid(version_of(member.id).0));
            all.until.push(until(member.until));
            for check in &member.checks {
                let lock = lock_of(&check.key, seed);
                all.locks.push((lock, false));
                if let Some(since) = check.absent_since {
                    all.made_m.push(m);
                    all.made_c.push(i32::try_from(all.check_m.len()).unwrap_or(i32::MAX));
                    all.made_h.push(lock);
                    all.made_since.push(since.0.cast_signed());
                }
                all.check_m.push(m);
                all.check_k.push(&check.index_key);
                all.check_v.push(check.expected.map(|version| Uuid(version.0)));
            }
            for range in &member.ranges {
                all.range_m.push(m);
                all.range_from.push(&range.from);
                all.range_to.push(&range.to);
                all.range_v.push(range.digest.map(Uuid));
            }
            all.locks.extend(member.alone().map(|key| (lock_of(key, seed), true)));
            for change in member.writes.iter().chain(&member.private) {
                match &change.value {
                    Some(value) => {
                        all.put_m.push(m);
                        all.put_k.push(&change.index_key);
                        all.put_v.push(value);
                        all.put_whole.push(change.whole());
                    }
                    None => {
                        all.delete_m.push(m);
                        all.delete_k.push(&change.index_key);
                        if change.leaves_trace {
                            all.gone_m.push(m);
                            all.gone_h.push(lock_of(&change.key, seed));
                        }
                    }
                }
            }
        }
        all
    }
}

/// The locks in the order in which every group takes them. The lock of the whole schema comes first: shared, and exclusive
/// instead of all others where these are too many for the database.
fn in_order(mut locks: Vec<(i64, bool)>, whole: i64, instead: bool) -> (Vec<i64>, Vec<bool>) {
    if instead {
        return (vec![whole], vec![true]);
    }
    // Of the same lock, the exclusive one stands first and stays.
    locks.sort_unstable_by_key(|(lock, alone)| (*lock, !alone));
    locks.dedup_by_key(|(lock, _)| *lock);
    // It is a lock of its own, unless a key happens to have its number.
    locks.retain(|(lock, _)| *lock != whole);
    std::iter::once((whole, false)).chain(locks).unzip()
}

impl Shared {
    /// The seed of the numbers of locks: two schemas of a database do not wait for each other.
    fn seed(&self) -> u64 {
        lock_of(self.settings.schema.as_bytes(), 0).cast_unsigned()
    }

    /// Sends the group and waits for its verdicts.
    pub async fn commit_group(
        &self,
        connection: &Connection,
        group: Uuid,
        members: &[Member],
        whole: bool,
    ) -> Result<Verdicts, Fault> {
        let (fixed, seen) = self.clock.sent();
        let moved = i64::try_from(self.clock.offset().0).unwrap_or(i64::MAX);
        let now = Instant::now();
        let until = |until: Instant| match fixed {
            // A clock that stands still says nothing about patience.
            true => i64::MAX,
            false => {
                let left = until.saturating_duration_since(now).as_micros();
                i64::try_from(left).unwrap_or(i64::MAX).saturating_mul(10).saturating_add(seen)
            }
        };
        let seed = self.seed();
        let mut all = Arguments::of(members, seed, until);
        let (locks, alone) = match self.settings.dialect {
            Dialect::Locks => in_order(std::mem::take(&mut all.locks), lock_of(b"", seed), whole),
            Dialect::Serializable => Default::default(),
        };
        let row = connection
            .query_one(
                Sql::Commit,
                &[
                    &group,
                    &all.ids,
                    &fixed,
                    &seen,
                    &moved,
                    &all.until,
                    &locks,
                    &alone,
                    &all.check_m,
                    &all.check_k,
                    &all.check_v,
                    &all.made_m,
                    &all.made_c,
                    &all.made_h,
                    &all.made_since,
                    &all.range_m,
                    &all.range_from,
                    &all.range_to,
                    &all.range_v,
                    &all.delete_m,
                    &all.delete_k,
                    &all.gone_m,
                    &all.gone_h,
                    &all.put_m,
                    &all.put_k,
                    &all.put_v,
                    &all.put_whole,
                ],
            )
            .await?;
        // It is committed: an answer that cannot be read leaves open for whom.
        let (now, refused, lost) = read(&row).map_err(|error| Fault::Lost(error.to_string()))?;
        let now = Ticks(self.clock.told(now).0 + moved.cast_unsigned());
        let mut verdicts = Verdicts { now, refused: members.iter().map(|_| None).collect() };
        let checks: Vec<&Key> =
            members.iter().flat_map(|member| &member.checks).map(|check| &check.key).collect();
        let guards: Vec<&Key> =
            members.iter().flat_map(|member| &member.ranges).map(|range| &range.guard).collect();
        for (member, why) in refused.into_iter().zip(lost) {
            let key = usize::try_from(why).ok().and_then(|at| checks.iter().chain(&guards).nth(at));
            if let Some(verdict) = usize::try_from(member).ok().and_then(|at| verdicts.refused.get_mut(at)) {
                *verdict = Some(key.map_or(Reason::Late, |key| Reason::Lost((*key).clone())));
            }
        }
        Ok(verdicts)
    }
}

fn read(row: &Row) -> Result<(i64, Vec<i32>, Vec<i32>), tokio_postgres::Error> {
    Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_taken_once_in_one_order_and_exclusively_where_one_wants_it() {
        let (locks, alone) =
            in_order(vec![(5, false), (-3, true), (5, true), (5, false), (9, false)], 7, false);
        assert_eq!(locks, [7, -3, 5, 9]);
        assert_eq!(alone, [false, true, true, false]);
        assert_eq!(in_order(vec![(5, false)], 7, true), (vec![7], vec![true]));
    }
}
