//! Everything that was told of every message, and what must be true of it. Counts of one message are the order of its
//! Gets: the service counts them, and no two may be told the same.

use std::collections::BTreeMap;

use crate::Trial;
use crate::arena::{Death, Moment};

/// Its text begins with it.
pub type Number = u64;

/// The two clocks, ours and the server's, are read at different moments.
const SLACK: Moment = 20_000_000;

#[derive(Clone, Copy, Debug)]
pub struct Got {
    pub count: u32,
    pub called: Moment,
    pub answered: Moment,
    /// Nobody else may get it before: the moment of the call and the time-out.
    pub hidden_until: Moment,
}

#[derive(Clone, Copy, Debug)]
struct Deletion {
    count: u32,
    answered: Moment,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Put {
    #[default]
    Never,
    Open,
    Acknowledged,
}

#[derive(Default)]
struct Entry {
    put: Put,
    id: String,
    gets: Vec<Got>,
    deleted: Option<Deletion>,
    /// Deletes that were never answered.
    open_deletes: u32,
    /// The count of a receipt that was refused, the highest.
    refused: u32,
}

#[derive(Default)]
pub struct Ledger {
    entries: Vec<Entry>,
    /// Gets that were never answered, and how many messages they asked for.
    open_gets: Vec<(Moment, usize)>,
    pub stale_refused: u64,
    pub updates: u64,
    pub abandoned: u64,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub messages: u64,
    pub deliveries: u64,
    /// Gets of which only the DequeueCount tells.
    pub unheard: u64,
    pub most: u32,
    pub open_puts: u64,
    pub open_gets: u64,
    pub open_deletes: u64,
}

impl Ledger {
    fn entry(&mut self, number: Number) -> &mut Entry {
        let place = number as usize;
        if self.entries.len() <= place {
            self.entries.resize_with(place + 1, Entry::default);
        }
        &mut self.entries[place]
    }

    /// No id: it was not answered.
    pub fn put(&mut self, number: Number, id: Option<String>) -> Trial {
        let entry = self.entry(number);
        entry.put = if id.is_some() { Put::Acknowledged } else { Put::Open };
        match id {
            Some(id) if !entry.id.is_empty() && entry.id != id => {
                Err(format!("message {number} was put as {id}, and got as {} before", entry.id))
            }
            Some(id) => {
                entry.id = id;
                Ok(())
            }
            None => Ok(()),
        }
    }

    pub fn got(&mut self, number: Number, id: &str, got: Got) -> Trial {
        let entry = self.entry(number);
        if entry.id.is_empty() {
            // The Put is still on its way, or was never answered.
            entry.id = id.to_owned();
        }
        if entry.id != id {
            return Err(format!("message {number} is {} and {id}", entry.id));
        }
        if let Some(deleted) = entry.deleted.filter(|deleted| deleted.answered < got.called) {
            return Err(format!("message {number} COMES BACK: {deleted:?}, {got:?}"));
        }
        if let Some(twin) = entry.gets.iter().find(|other| other.count == got.count) {
            return Err(format!("message {number} was GIVEN TO TWO: {twin:?}, {got:?}"));
        }
        entry.gets.push(got);
        Ok(())
    }

    pub fn open_get(&mut self, called: Moment, most: usize) {
        self.open_gets.push((called, most));
    }

    /// The highest DequeueCount that anybody was told.
    pub fn newest(&self, number: Number) -> u32 {
        let entry = self.entries.get(number as usize);
        entry.and_then(|entry| entry.gets.iter().map(|got| got.count).max()).unwrap_or(0)
    }

    /// From when on others may get it again: an update that was, or may have been, done at this moment.
    pub fn visible_from(&mut self, number: Number, count: u32, moment: Moment, known: bool) {
        let found = self.entry(number).gets.iter_mut().find(|got| got.count == count);
        if let Some(got) = found {
            got.hidden_until = if known { moment } else { got.hidden_until.min(moment) };
        }
    }

    /// `newest`: what anybody had been told when this was sent.
    pub fn accepted(&self, number: Number, count: u32, newest: u32) -> Trial {
        match newest > count {
            true => Err(format!("message {number}: TWO VALID RECEIPTS: of Get {count}, after Get {newest}")),
            false => Ok(()),
        }
    }

    pub fn deleted(&mut self, number: Number, count: u32, newest: u32, answered: Moment) -> Trial {
        self.accepted(number, count, newest)?;
        let entry = self.entry(number);
        if let Some(before) = entry.deleted {
            return Err(format!("message {number} was DELETED TWICE: {before:?}, and by Get {count}"));
        }
        entry.deleted = Some(Deletion { count, answered });
        Ok(())
    }

    pub fn open_delete(&mut self, number: Number) {
        self.entry(number).open_deletes += 1;
    }

    /// A receipt that was not known to be old was refused at this moment.
    pub fn refused(&mut self, number: Number, count: u32, answered: Moment) -> Trial {
        let entry = self.entry(number);
        entry.refused = entry.refused.max(count);
        let held = entry.gets.iter().find(|got| got.count == count);
        match held.filter(|got| answered + SLACK < got.hidden_until) {
            // A deletion of ours that was not answered may have been done.
            Some(got) if entry.open_deletes == 0 => {
                Err(format!("message {number}: a VALID RECEIPT was refused: {got:?} at {answered}"))
            }
            _ => Ok(()),
        }
    }

    /// When the queue is empty. `deaths`: of the servers.
    pub fn judge(&self, deaths: &[Death]) -> Trial<Summary> {
        // What was asked in an epoch ends with it, when the death at its end is settled.
        let epoch = |moment: Moment| deaths.partition_point(|death| death.killed < moment);
        let first_open = |moment: Moment| deaths.partition_point(|death| death.settled < moment);
        let mut open: BTreeMap<usize, usize> = BTreeMap::new();
        for (called, _) in &self.open_gets {
            *open.entry(epoch(*called)).or_default() += 1;
        }
        let mut summary = Summary { open_gets: self.open_gets.len() as u64, ..Summary::default() };
        for (number, entry) in self.entries.iter().enumerate() {
            let unheard = |from: Moment, to: Moment| -> usize {
                open.range(first_open(from)..=epoch(to)).map(|(_, gets)| gets).sum()
            };
            entry.judge(unheard, &mut summary).map_err(|reason| format!("message {number}: {reason}"))?;
        }
        let room: usize = self.open_gets.iter().map(|(_, most)| most).sum();
        if summary.unheard > room as u64 {
            return Err(format!("{} Gets are counted that nobody made", summary.unheard));
        }
        Ok(summary)
    }
}

impl Entry {
    /// `unheard`: how many Gets between two moments may have been done and not been answered.
    fn judge(&self, unheard: impl Fn(Moment, Moment) -> usize, summary: &mut Summary) -> Trial {
        summary.open_puts += u64::from(self.put == Put::Open);
        summary.open_deletes += u64::from(self.open_deletes);
        let mut gets = self.gets.clone();
        gets.sort_unstable_by_key(|got| got.count);
        let Some(last) = gets.last() else {
            return match self.put {
                Put::Acknowledged => Err("LOST: never delivered".to_owned()),
                _ => Ok(()),
            };
        };
        if self.put == Put::Never {
            return Err(format!("delivered, and never put: {last:?}"));
        }
        let mut before = Got { count: 0, called: 0, answered: 0, hidden_until: 0 };
        for got in &gets {
            if got.answered + SLACK < before.hidden_until {
                return Err(format!("TWO VALID RECEIPTS: {before:?}, {got:?}"));
            }
            let gap = (got.count - before.count).saturating_sub(1) as usize;
            if gap > unheard(before.called, got.answered) {
                return Err(format!("its DequeueCount is NOT EXACT: {before:?}, then {got:?}"));
            }
            summary.unheard += gap as u64;
            before = *got;
        }
        match self.deleted {
            Some(deleted) if deleted.count != last.count => {
                return Err(format!("an OLD RECEIPT deleted it: {deleted:?}, {last:?}"));
            }
            None if self.open_deletes == 0 => return Err("LOST: gone, and nobody deleted it".to_owned()),
            _ => {}
        }
        let explained =
            self.deleted.is_some() || self.open_deletes > 0 || unheard(last.called, Moment::MAX) > 0;
        if self.refused >= last.count && !explained {
            return Err(format!("its newest receipt was refused: {last:?}"));
        }
        summary.messages += 1;
        summary.deliveries += gets.len() as u64;
        summary.most = summary.most.max(last.count);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
