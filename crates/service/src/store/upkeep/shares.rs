//! Shares: those that are gone, directories that died with them, snapshots that are gone.

use lazuli_engine::{Key, KeyRange, Plan, Scan};

use super::Work;
use crate::fault::{Answer, Fault};
use crate::store::key::{self as keys, Generation};
use crate::store::record::path::PathRecord;
use crate::store::share::key;
use crate::store::tree::{self, Entry as _};

const ITEMS_IN_PASS: usize = 100;
/// Of one item: a large one does not keep the sweeper from everything else.
const COMMITS_IN_PASS: usize = 20;

/// A kind of item of this work, by the keys of its items.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Directories,
    Snapshots,
    Shares,
}

pub const KINDS: [Kind; 3] = [Kind::Directories, Kind::Snapshots, Kind::Shares];

impl Kind {
    fn range(self) -> KeyRange {
        match self {
            Self::Directories => tree::key::all_dead(PathRecord::SPACE),
            Self::Snapshots => key::gone_snapshots(),
            Self::Shares => key::dead_shares(),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Directories => "directory",
            Self::Snapshots => "snapshot of a share",
            Self::Shares => "share",
        }
    }
}

pub async fn list(work: &Work, kind: Kind, after: Option<Key>) -> Answer<Vec<Key>> {
    let reader = work.engine().reader().await?;
    let scan = Scan { after, limit: ITEMS_IN_PASS, keys_only: true, ..Scan::of(kind.range()) };
    Ok(reader.scan(scan).await?.items.into_iter().map(|(key, _)| key).collect())
}

/// Does some of an item's work; true when nothing of it is left.
pub async fn sweep(work: &Work, kind: Kind, item: &Key) -> Answer<bool> {
    for _ in 0..COMMITS_IN_PASS {
        if !sweep_some(work, kind, item).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn sweep_some(work: &Work, kind: Kind, item: &Key) -> Answer<bool> {
    match kind {
        Kind::Directories => match tree::key::node_of(item) {
            Some(node) => tree::sweep_directory::<PathRecord>(work, node).await,
            None => Ok(false),
        },
        Kind::Snapshots => match (keys::generation_of(item), tree::key::moment_of(item)) {
            (Some(generation), Some(moment)) => {
                tree::sweep_moment::<PathRecord>(work, generation, moment, item).await
            }
            _ => Ok(false),
        },
        Kind::Shares => match keys::generation_of(item) {
            Some(generation) => sweep_share(work, generation, item).await,
            None => Ok(false),
        },
    }
}

/// What is filed under the generation of a share. Its directories are items of their own.
async fn sweep_share(work: &Work, generation: Generation, item: &Key) -> Answer<bool> {
    if tree::sweep_earlier::<PathRecord>(work, generation).await? {
        return Ok(true);
    }
    let spaces = &[
        tree::key::snapshots(PathRecord::SPACE, generation),
        KeyRange::prefix(key::gone_snapshots_of(generation)),
        KeyRange::prefix(key::usage_allowed(generation)),
        KeyRange::prefix(key::all_opens(generation)),
        KeyRange::prefix(key::all_pending(generation)),
        KeyRange::prefix(key::all_durable(generation)),
        KeyRange::prefix(key::watchers(generation)),
        KeyRange::prefix(key::permissions(generation)),
    ];
    work.run(|reader| async move {
        for space in spaces {
            let scan = Scan { max_bytes: 300_000, keys_only: true, ..Scan::of(space.clone()) };
            let page = reader.scan(scan).await?;
            if !page.items.is_empty() {
                let mut plan = Plan::new(true);
                page.items.into_iter().for_each(|(key, _)| plan.delete(key));
                return Ok(plan);
            }
        }
        let mut plan = Plan::new(false);
        plan.delete(item.clone());
        Ok::<_, Fault>(plan)
    })
    .await
}
