//! The opens of files and directories as those see them who administrate a share: one by one, with their paths.

use lazuli_engine::{KeyRange, Scan};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Mode;

use super::key;
use super::path::PathPlace;
use crate::fault::Answer;
use crate::store::found::Found;
use crate::store::record::Record as _;
use crate::store::record::open::OpenRecord;
use crate::store::record::path::{ExistingPath, PathRecord};
use crate::store::record::place::PlaceRecord;
use crate::store::tree::{self, Entry as _, NodeId, Slot};
use crate::store::unit::Unit;

/// An open of a file or directory.
#[derive(Clone, Debug)]
pub struct Held {
    pub node: NodeId,
    pub handle: u64,
    pub open: OpenRecord,
}

impl Held {
    /// Where a list goes on that ends here.
    pub fn place(&self) -> (NodeId, u64) {
        (self.node, self.handle)
    }
}

/// Opens, and where to go on if there are more.
pub type HeldPage = (Vec<Held>, Option<(NodeId, u64)>);

/// A file or directory of which the opens are looked at. A file that is pending deletion can be asked for them too: those
/// who have it open are why it is still there.
pub struct Watched<M: Mode> {
    unit: Unit<M>,
    place: PathPlace,
    record: PathRecord,
}

impl<M: Mode> Found<ExistingPath, M> {
    /// To look at its opens.
    pub fn watch(self) -> Result<Watched<M>, Failure> {
        let (unit, place, existing) = self.into_parts();
        let record = existing.ok_or(ErrorCode::ResourceNotFound)?.record;
        Ok(Watched { unit, place, record })
    }
}

impl<M: Mode> Watched<M> {
    pub fn is_directory(&self) -> bool {
        self.record.is_directory()
    }

    /// The opens of the file or directory itself, in the order of the handles: so many behind this place.
    pub async fn handles(&self, after: Option<(NodeId, u64)>, limit: usize) -> Answer<HeldPage> {
        if self.place.snapshot.is_some() {
            return Ok((Vec::new(), None));
        }
        let (generation, node) = (self.place.share.generation, self.record.node);
        let after = after.map(|(_, handle)| handle);
        let (opens, _) = self.unit.opens_of(generation, node).await?;
        let behind = opens.into_iter().filter(|(handle, _)| after.is_none_or(|after| *handle > after));
        let mut held: Vec<Held> = behind.map(|(handle, open)| Held { node, handle, open }).collect();
        let more = held.len() > limit;
        held.truncate(limit);
        let next = held.last().filter(|_| more).map(Held::place);
        Ok((held, next))
    }

    /// The opens of a directory and of all that stands below it, wherever it has been moved since: behind this place in
    /// the order of the rows, up to so many rows of the share. The place where to go on, if there are more.
    pub async fn handles_below(&self, after: Option<(NodeId, u64)>, limit: usize) -> Answer<HeldPage> {
        if self.place.snapshot.is_some() {
            return Ok((Vec::new(), None));
        }
        let (reader, tree) = (self.unit.reader(), self.place.tree());
        let Some(own) = tree.path_of::<PathRecord>(reader, self.record.node).await? else {
            return Ok((Vec::new(), None));
        };
        let after = after.map(|(node, handle)| key::open(tree.generation, node, handle));
        let range = KeyRange::prefix(key::all_opens(tree.generation));
        let page = reader.scan(Scan { after, limit, ..Scan::of(range) }).await?;
        let (mut held, mut last) = (Vec::new(), None);
        for (at, entry) in &page.items {
            let Some((_, node, handle)) = key::open_of(at) else {
                // The row that stands for all opens of its node stands before them.
                last = key::node_of_opens(at).map(|node| (node, 0));
                continue;
            };
            last = Some((node, handle));
            let open = OpenRecord::decode(&entry.value)?;
            if open.is_over(self.unit.now()) {
                continue;
            }
            let path = tree.path_of::<PathRecord>(reader, node).await?;
            if path.is_some_and(|path| path.starts_with(&own)) {
                held.push(Held { node, handle, open });
            }
        }
        Ok((held, last.filter(|_| page.more)))
    }

    /// The path of a node as it is spelt, and the numbers that clients know it and its directory by. None for one that
    /// stands nowhere any more.
    pub async fn path_of(&self, node: NodeId) -> Answer<Option<(String, u64, u64)>> {
        let (reader, tree) = (self.unit.reader(), self.place.tree());
        let Some(tag) = PathRecord::SPACE.place else { return Ok(None) };
        let number = |node: NodeId| if node == tree.root { 0 } else { node.number() };
        let (mut names, mut at, mut parent_of_node) = (Vec::new(), node, NodeId::NONE);
        while at != tree.root {
            let Some(entry) = reader.get(tree::key::place(tag, at)).await? else { return Ok(None) };
            let PlaceRecord { parent, folded } = PlaceRecord::decode(&entry.value)?;
            let slot = Slot { parent, folded };
            let Some(found) = tree.look::<PathRecord>(reader, &slot, None).await? else { return Ok(None) };
            if at == node {
                parent_of_node = parent;
            }
            names.push(found.name);
            at = parent;
            if names.len() > DEEPEST {
                return Err(ErrorCode::InternalError.into());
            }
        }
        names.reverse();
        let parent = if node == tree.root { 0 } else { number(parent_of_node) };
        Ok(Some((names.join("/"), number(node), parent)))
    }
}

/// No path is longer: its names and what separates them are 2,048 characters at the most.
const DEEPEST: usize = 2_048;
