//! Scans, skip scans and counts, in a snapshot that is held.

use super::long_key::{is_long, lower, run_end, run_start, shared, upper};
use super::pinned::Pinned;
use super::sql::Sql;
use super::uuid::Uuid;
use super::view::RemoteView;
use crate::bounds::{group, narrowed, resumed, successor, visible};
use crate::error::EngineError;
use crate::key::{Key, KeyRange, Value, after_prefix};
use crate::txn::{
    Count, Counted, Entry, LookPage, Looks, Scan, ScanPage, SkipItem, SkipPage, SkipScan, Version,
};
use std::collections::VecDeque;

/// Rows that are fetched at a time: at first, and later.
const FIRST_ROWS: usize = 256;
const MOST_ROWS: usize = 1_024;
/// Bytes that are fetched at a time.
const MOST_BYTES: usize = 1 << 20;
/// Long keys that share their beginning, which are sorted here.
const RUN_ROWS: usize = 10_000;
const RUN_BYTES: usize = 32 << 20;

const LONG_RUN: EngineError = EngineError::TooLarge("long keys with the same beginning");

/// What a row of `skip_1` is.
const ENTRY: i32 = 0;
const GROUP: i32 = 1;
const RUN: i32 = 2;

impl RemoteView {
    pub async fn scan(&self, scan: &Scan) -> Result<ScanPage, EngineError> {
        let looks = Looks { rows: usize::MAX, bytes: usize::MAX };
        let LookPage { items, next } =
            self.walk_through(scan, looks, scan.keys_only, &mut |_, _| true).await?;
        Ok(ScanPage { items, more: next.is_some() })
    }

    pub async fn scan_filtered(
        &self,
        scan: &Scan,
        looks: Looks,
        wanted: &mut (dyn FnMut(&Key, &Value) -> bool + Send),
    ) -> Result<LookPage, EngineError> {
        self.walk_through(scan, looks, false, wanted).await
    }

    async fn walk_through(
        &self,
        scan: &Scan,
        looks: Looks,
        keys_only: bool,
        wanted: &mut (dyn FnMut(&Key, &Value) -> bool + Send),
    ) -> Result<LookPage, EngineError> {
        let pinned = self.pinned().await?;
        let mut walk = Walk::new(&pinned, narrowed(scan), scan.reverse, keys_only);
        walk.rows = scan.limit.min(looks.rows).saturating_add(1).min(FIRST_ROWS);
        let mut page = LookPage::default();
        let (mut bytes, mut looked) = (0_usize, Looks { rows: 0, bytes: 0 });
        loop {
            let room = scan.max_bytes.saturating_sub(bytes).min(looks.bytes.saturating_sub(looked.bytes));
            let Some((key, Entry { version, value })) = self.noticed(walk.next(room).await)? else { break };
            let full = page.items.len() >= scan.limit || (bytes >= scan.max_bytes && !page.items.is_empty());
            if full || looked.rows >= looks.rows || looked.bytes >= looks.bytes {
                page.next = Some(key);
                break;
            }
            looked.rows += 1;
            looked.bytes = looked.bytes.saturating_add(key.len() + value.len());
            if wanted(&key, &value) {
                let value = if scan.keys_only { Value::new() } else { value };
                bytes += key.len() + value.len();
                page.items.push((key, Entry { version, value }));
            }
        }
        self.answerable().await?;
        Ok(page)
    }

    pub async fn count(&self, count: &Count) -> Result<Counted, EngineError> {
        let pinned = self.pinned().await?;
        let range = visible(&count.range);
        let (from, to) = (lower(&range.start), upper(range.end.as_ref()));
        let (limit, above) = (count.limit as i64, count.value_above.as_deref());
        let rows = pinned.query(Sql::Count, &[&&from[..], &&to[..], &above, &limit]).await;
        let rows = self.noticed(rows)?;
        let Some(row) = rows.first() else { return Ok(Counted::default()) };
        let (counted, next, long) = counts(row)?;
        let counted = if long == 0 {
            Counted { count: counted, next }
        } else {
            // In the order of the keys, which is not that of the index.
            let mut counted = Counted::default();
            let mut walk = Walk::new(&pinned, range, false, above.is_none());
            let mut looked = 0;
            while let Some((key, entry)) = self.noticed(walk.next(MOST_BYTES).await)? {
                if looked >= count.limit {
                    counted.next = Some(key);
                    break;
                }
                looked += 1;
                counted.count += usize::from(above.is_none_or(|above| &entry.value[..] > above));
            }
            counted
        };
        self.answerable().await?;
        Ok(counted)
    }

    pub async fn skip_scan(&self, scan: &SkipScan) -> Result<SkipPage, EngineError> {
        let pinned = self.pinned().await?;
        let page = self.noticed(skip(&pinned, scan).await)?;
        self.answerable().await?;
        Ok(page)
    }
}

fn counts(row: &tokio_postgres::Row) -> Result<(usize, Option<Key>, i64), EngineError> {
    let (counted, next): (i64, Option<&[u8]>) = (row.try_get(0)?, row.try_get(1)?);
    let counted = usize::try_from(counted).unwrap_or_default();
    Ok((counted, next.map(Key::copy_from_slice), row.try_get(2)?))
}

type Found = (Key, Entry);

/// The rows of a range in order, fetched piece by piece.
struct Walk<'a> {
    pinned: &'a Pinned,
    range: KeyRange,
    reverse: bool,
    keys_only: bool,
    /// What is left of the range, as index keys.
    from: Key,
    to: Key,
    ended: bool,
    ready: VecDeque<Found>,
    /// Rows of a run of long keys that may not be complete.
    run: Vec<Found>,
    run_bytes: usize,
    rows: usize,
}

impl<'a> Walk<'a> {
    fn new(pinned: &'a Pinned, range: KeyRange, reverse: bool, keys_only: bool) -> Self {
        let (from, to) = (lower(&range.start), upper(range.end.as_ref()));
        Self {
            pinned,
            range,
            reverse,
            keys_only,
            from,
            to,
            ended: false,
            ready: VecDeque::new(),
            run: Vec::new(),
            run_bytes: 0,
            rows: FIRST_ROWS,
        }
    }

    /// `room` is about how many bytes will be wanted.
    async fn next(&mut self, room: usize) -> Result<Option<Found>, EngineError> {
        while self.ready.is_empty() && !self.ended {
            self.fetch(room).await?;
        }
        Ok(self.ready.pop_front())
    }

    async fn fetch(&mut self, room: usize) -> Result<(), EngineError> {
        let sql = match (self.reverse, self.keys_only) {
            (false, false) => Sql::ScanUp,
            (true, false) => Sql::ScanDown,
            (false, true) => Sql::KeysUp,
            (true, true) => Sql::KeysDown,
        };
        let (limit, bytes) = (self.rows as i64, room.clamp(1, MOST_BYTES) as i64);
        let rows = match self.keys_only {
            true => self.pinned.query(sql, &[&&self.from[..], &&self.to[..], &limit]).await?,
            false => self.pinned.query(sql, &[&&self.from[..], &&self.to[..], &limit, &bytes]).await?,
        };
        self.ended = rows.len() < self.rows;
        self.rows = (self.rows * 2).clamp(FIRST_ROWS, MOST_ROWS);
        for row in rows {
            if !self.take(&row)? {
                // Without its value: from here on it is fetched again.
                self.ended = false;
                break;
            }
        }
        if self.ended {
            self.end_run();
        }
        Ok(())
    }

    /// False when the row came without its value.
    fn take(&mut self, row: &tokio_postgres::Row) -> Result<bool, EngineError> {
        let (k, kx): (&[u8], Option<&[u8]>) = (row.try_get(0)?, row.try_get(1)?);
        let Some(value) = row.try_get::<_, Option<&[u8]>>(3)? else { return Ok(false) };
        let Uuid(version) = row.try_get(2)?;
        let index_key = Key::copy_from_slice(k);
        match self.reverse {
            false => self.from = successor(&index_key),
            true => self.to = index_key.clone(),
        }
        let key = kx.map_or_else(|| index_key.clone(), Key::copy_from_slice);
        if self.run.first().is_some_and(|(first, _)| !is_long(k) || shared(first) != shared(k)) {
            self.end_run();
        }
        let found = (key, Entry { version: Version(version), value: Value::copy_from_slice(value) });
        if is_long(k) {
            self.run_bytes += found.0.len() + found.1.value.len();
            self.run.push(found);
            if self.run.len() > RUN_ROWS || self.run_bytes > RUN_BYTES {
                return Err(LONG_RUN);
            }
        } else if self.range.contains(&found.0) {
            self.ready.push_back(found);
        }
        Ok(true)
    }

    fn end_run(&mut self) {
        self.run_bytes = 0;
        let mut run = std::mem::take(&mut self.run);
        run.retain(|(key, _)| self.range.contains(key));
        run.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        if self.reverse {
            run.reverse();
        }
        self.ready.extend(run);
    }
}

/// A page that is put together from what `skip_1` finds, and from runs of long keys.
struct Skipping<'a> {
    scan: &'a SkipScan,
    page: SkipPage,
    bytes: usize,
}

impl Skipping<'_> {
    fn is_full(&self) -> bool {
        self.page.items.len() >= self.scan.limit
            || (self.bytes >= self.scan.max_bytes && !self.page.items.is_empty())
    }

    fn add(&mut self, item: SkipItem) {
        self.bytes += match &item {
            SkipItem::Entry(key, entry) => key.len() + entry.value.len(),
            SkipItem::Group(prefix) => prefix.len(),
        };
        self.page.items.push(item);
    }

    /// The rows of a run; false when the page is full before its end.
    async fn add_run(&mut self, pinned: &Pinned, range: KeyRange) -> Result<bool, EngineError> {
        let mut walk = Walk::new(pinned, range, false, false);
        while let Some((key, entry)) = walk.next(MOST_BYTES).await? {
            if let Some(SkipItem::Group(open)) = self.page.items.last()
                && key.starts_with(open)
            {
                continue;
            }
            if self.is_full() {
                self.page.more = true;
                return Ok(false);
            }
            match group(&key, self.scan) {
                Some(end) => self.add(SkipItem::Group(key.slice(..end))),
                None => self.add(SkipItem::Entry(key, entry)),
            }
        }
        Ok(true)
    }
}

async fn skip(pinned: &Pinned, scan: &SkipScan) -> Result<SkipPage, EngineError> {
    let mut skipping = Skipping { scan, page: SkipPage::default(), bytes: 0 };
    let Some(range) = resumed(scan) else { return Ok(skipping.page) };
    let to = upper(range.end.as_ref());
    let mut from = range.start.clone();
    if is_long(&from) {
        // Part of a run may stand before it.
        let run = run_in(&range, from.clone());
        if !skipping.add_run(pinned, run).await? {
            return Ok(skipping.page);
        }
        from = run_end(&from);
    }
    loop {
        let most = scan.limit.saturating_sub(skipping.page.items.len()).min(MOST_ROWS) as i64;
        let bytes = scan.max_bytes.saturating_sub(skipping.bytes).min(MOST_BYTES);
        // Of a page that has its bytes, the next row alone is wanted.
        let (most, bytes) = if skipping.is_full() { (0, 0) } else { (most, bytes as i64) };
        let prefix = scan.prefix.len() as i32;
        let params: super::connection::Params<'_> =
            &[&&from[..], &&to[..], &prefix, &&scan.delimiter[..], &most, &bytes];
        let rows = pinned.query(Sql::Skip, params).await?;
        let mut next = None;
        for row in &rows {
            let (kind, key, entry) = skipped(row)?;
            match (kind, entry) {
                (ENTRY, Some(entry)) => skipping.add(SkipItem::Entry(key, entry)),
                (GROUP, _) => skipping.add(SkipItem::Group(key)),
                (kind, _) => next = Some((kind, key)),
            }
        }
        match next {
            None => return Ok(skipping.page),
            Some((RUN, key)) => {
                let run = run_in(&range, run_start(&key));
                if !skipping.add_run(pinned, run).await? {
                    return Ok(skipping.page);
                }
                from = run_end(&key);
            }
            Some(_) if skipping.is_full() => {
                skipping.page.more = true;
                return Ok(skipping.page);
            }
            Some((_, key)) => from = key,
        }
    }
}

/// The keys from this one on that share its beginning, as far as they are in the range.
fn run_in(range: &KeyRange, start: Key) -> KeyRange {
    let end = match (after_prefix(shared(&start)), &range.end) {
        (Some(end), Some(bound)) => Some(end.min(bound.clone())),
        (end, bound) => end.or_else(|| bound.clone()),
    };
    KeyRange { start, end }
}

fn skipped(row: &tokio_postgres::Row) -> Result<(i32, Key, Option<Entry>), EngineError> {
    let (kind, key): (i32, &[u8]) = (row.try_get(0)?, row.try_get(1)?);
    let (version, value): (Option<Uuid>, Option<&[u8]>) = (row.try_get(2)?, row.try_get(3)?);
    let entry = version.zip(value).map(|(Uuid(version), value)| Entry {
        version: Version(version),
        value: Value::copy_from_slice(value),
    });
    Ok((kind, Key::copy_from_slice(key), entry))
}
