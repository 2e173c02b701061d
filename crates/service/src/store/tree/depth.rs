//! How deep a directory is: so many directories stand in it, one in the other, at the most. A rename moves a directory with all
//! that stands below it, and must not make paths of it that no request can name.
//!
//! A row says it, of directories in which directories stand. A directory that is made or moved raises the rows of those
//! above it where they say less; they are mostly high enough already, so that two creations seldom write the same row. None is lowered: a
//! directory in which one was counts as one in which one is.

use lazuli_engine::{Reader, Value};

use super::{Chain, Entry, NodeId, Tree, key};
use crate::fault::Answer;
use crate::store::record::corrupt;
use crate::store::unit::Changes;

impl Tree {
    /// Before a directory, with those below it, is put where the chain leads. `from` is the number of names that led to it
    /// before; a directory that is moved up, or is new, makes no path longer.
    pub(in crate::store) async fn take_in<E: Entry, W: Changes>(
        &self,
        reader: &Reader,
        changes: &mut W,
        to: &Chain<E>,
        directory: &E,
        from: Option<usize>,
    ) -> Answer<()> {
        let Some(tag) = E::SPACE.depth.filter(|_| directory.is_directory()) else { return Ok(()) };
        let mut below = match from {
            None => 0,
            Some(_) => read(reader, tag, directory.node()).await?,
        };
        let names = to.ancestors.len() + 1;
        // The directory that stands deepest may hold files.
        if from.is_some_and(|from| names > from) && names + usize::from(below) + 1 > E::LONGEST_PATH {
            return Err(E::TOO_DEEP.into());
        }
        for above in to.ancestors.iter().rev() {
            below = below.saturating_add(1);
            if read(reader, tag, above.node()).await? >= below {
                break;
            }
            changes.put(key::depth(tag, above.node()), Value::copy_from_slice(&below.to_be_bytes()));
        }
        Ok(())
    }

    /// A directory goes.
    pub(super) async fn forget_depth<E: Entry, W: Changes>(
        &self,
        reader: &Reader,
        changes: &mut W,
        directory: &E,
    ) -> Answer<()> {
        if let Some(tag) = E::SPACE.depth.filter(|_| directory.is_directory())
            && read(reader, tag, directory.node()).await? > 0
        {
            changes.delete(key::depth(tag, directory.node()));
        }
        Ok(())
    }
}

/// As a check of the commit: of two that raise a row each sees the other.
async fn read(reader: &Reader, tag: &[u8], node: NodeId) -> Answer<u16> {
    let Some(found) = reader.get(key::depth(tag, node)).await? else { return Ok(0) };
    let bytes = <[u8; 2]>::try_from(&found.value[..]).map_err(|_| corrupt("depth", "damaged"))?;
    Ok(u16::from_be_bytes(bytes))
}
