//! From a path to a place: one entry for each name on the way.

use lazuli_engine::Reader;

use super::{Entry, NodeId, Slot, Tree};
use crate::fault::Answer;
use crate::store::unit::Changes;

/// What a path leads through and to.
pub(in crate::store) struct Chain<E> {
    /// The directories on the way that are there, from below the root to the last.
    pub ancestors: Vec<E>,
    /// The names of those that are not there. The last one is the parent.
    pub missing: Vec<String>,
    /// Something that is no directory stands where the first of them should be.
    pub blocked: bool,
    /// The last directory on the way that is there.
    pub nearest: NodeId,
    /// The last name of the path.
    pub name: String,
    /// What stands there.
    pub found: Option<E>,
}

impl Tree {
    /// `at` is the moment of a snapshot; without it every entry on the way becomes a check of the commit. `None` for the
    /// path of no name, which is the root.
    pub async fn resolve<E: Entry>(
        &self,
        reader: &Reader,
        path: &[String],
        at: Option<u64>,
    ) -> Answer<Option<Chain<E>>> {
        let Some((name, parents)) = path.split_last() else { return Ok(None) };
        let mut chain = Chain {
            ancestors: Vec::with_capacity(parents.len()),
            missing: Vec::new(),
            blocked: false,
            nearest: self.root,
            name: name.clone(),
            found: None,
        };
        for (depth, parent) in parents.iter().enumerate() {
            let slot = Slot::of::<E>(chain.nearest, parent);
            match self.look::<E>(reader, &slot, at).await? {
                Some(entry) if entry.is_directory() => {
                    chain.nearest = entry.node();
                    chain.ancestors.push(entry);
                }
                found => {
                    chain.blocked = found.is_some();
                    chain.missing = parents.get(depth..).unwrap_or_default().to_vec();
                    return Ok(Some(chain));
                }
            }
        }
        chain.found = self.look(reader, &Slot::of::<E>(chain.nearest, name), at).await?;
        Ok(Some(chain))
    }
}

impl<E: Entry> Chain<E> {
    /// Where the last name stands or would; `None` while a directory on the way is missing.
    pub fn slot(&self) -> Option<Slot> {
        self.missing.is_empty().then(|| Slot::of::<E>(self.nearest, &self.name))
    }

    /// Whether the path leads through this node.
    pub fn leads_through(&self, node: NodeId) -> bool {
        self.ancestors.iter().any(|ancestor| ancestor.node() == node)
    }

    #[cfg_attr(not(test), expect(dead_code, reason = "hierarchical accounts come with Data Lake"))]
    /// Creates the directories that are missing, each by its name, and tells where the last name stands. To be called
    /// only where nothing blocks the way.
    pub fn make_parents<W: Changes>(
        &mut self,
        tree: &Tree,
        changes: &mut W,
        make: impl Fn(&str) -> E,
    ) -> Slot {
        for name in std::mem::take(&mut self.missing) {
            let mut entry = make(&name);
            tree.insert(changes, &Slot::of::<E>(self.nearest, &name), &mut entry);
            self.nearest = entry.node();
            self.ancestors.push(entry);
        }
        Slot::of::<E>(self.nearest, &self.name)
    }
}
