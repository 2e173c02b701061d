//! How many file descriptors an engine holds at most. One that cannot be had when a table is written, or when the log goes
//! on in a new file, stops fjall for good.

use super::Options;
use super::table_reads::ASIDE;
use crate::local::commit::pending::GROUPS;

/// The lock of the directory and fjall's own, the superblock, the directory of the extents, and one that is synced.
const DIRECTORY: usize = 5;
/// fjall's, a handle for each group, and the one that makes room ahead; each again while the log goes on in a new file.
const LOG: usize = 2 * (GROUPS + 2);
/// The table that is written, the same opened, the list of tables, and the file that names the list.
const FLUSH: usize = 4;
/// New tables are merged from four on; with one of each level, and what a flush holds.
const MERGE: usize = 16 + 6 + FLUSH;
/// Tables are read where a request is served, aside and in the background, and one that is being read is not closed.
const READS: usize = 8 + ASIDE;
/// The collector's, and the one that is being opened.
const EXTENTS: usize = 2;
const FIXED: usize = DIRECTORY + LOG + FLUSH + MERGE + READS + EXTENTS;

/// fjall takes no fewer than ten.
const FEWEST_TABLES: usize = 12;
const FEWEST_EXTENTS: usize = 8;
const MOST_TABLES: usize = 512;
const MOST_EXTENTS: usize = 256;

impl Options {
    /// File descriptors that an engine with these options holds at most. As many extents may be read at a time as are
    /// kept open, and those that are read may be others.
    pub fn descriptors(&self) -> usize {
        FIXED + self.extents.writers + self.table_files + 2 * self.extents.open_files
    }

    /// Holds no more than so many. `Err` has the fewest that it takes.
    pub fn within(mut self, descriptors: usize) -> Result<Self, usize> {
        let fixed = FIXED + self.extents.writers;
        let fewest = fixed + FEWEST_TABLES + 2 * FEWEST_EXTENTS;
        let Some(spare) = descriptors.checked_sub(fewest) else { return Err(fewest) };
        self.table_files = (FEWEST_TABLES + spare / 2).min(MOST_TABLES);
        self.extents.open_files = ((descriptors - fixed - self.table_files) / 2).min(MOST_EXTENTS);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_there_are() {
        let Err(fewest) = Options::default().within(0) else { panic!("none is enough") };
        assert!((64..128).contains(&fewest), "{fewest}");
        assert_eq!(Options::default().within(fewest - 1).err(), Some(fewest));
        for descriptors in fewest..4_000 {
            let options = Options::default().within(descriptors).expect("enough");
            assert!(options.descriptors() <= descriptors);
            assert!(options.table_files >= FEWEST_TABLES && options.extents.open_files >= FEWEST_EXTENTS);
        }
        let plenty = Options::default().within(100_000).expect("enough");
        assert_eq!((plenty.table_files, plenty.extents.open_files), (MOST_TABLES, MOST_EXTENTS));
    }
}
