//! What stands in an open directory, part by part.

use super::{AccessMask, DosPattern, FileInfo, OpenFile, Outcome, Refusal};

/// Where a listing goes on: behind an entry, whether that still is there or not. The client's connection keeps it with its open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DirectoryCursor {
    #[default]
    Start,
    /// Behind `.`
    Own,
    /// Behind `..`
    Parent,
    /// Behind this name, as names are compared.
    Name(String),
}

#[derive(Clone, Debug)]
pub struct DirectoryEntry {
    /// `.` and `..` among them.
    pub info: FileInfo,
    /// Where to go on if this is the last entry that fits.
    pub cursor: DirectoryCursor,
}

#[derive(Clone, Debug)]
pub struct DirectoryPart {
    pub entries: Vec<DirectoryEntry>,
    /// Where the next part begins, if there may be more.
    pub next: Option<DirectoryCursor>,
}

/// Names that one call passes over at the most.
const LOOKS: usize = 4_000;
/// Names that are read at a time.
const BATCH: usize = 500;
const BATCH_BYTES: usize = 512 * 1024;

impl OpenFile {
    /// Up to `limit` entries that match. A part may be empty and not be the last one: many names were passed over.
    pub async fn list(
        &self,
        pattern: &DosPattern,
        after: &DirectoryCursor,
        limit: usize,
    ) -> Outcome<DirectoryPart> {
        if !self.is_directory() {
            return Err(Refusal::InvalidParameter);
        }
        self.needs(AccessMask::READ_DATA)?;
        let view = self.client().services().view(self.client().context()).await?;
        let opened = view.opened(self.key()).await?;
        let own = FileInfo::of(&opened.record, opened.parent_number(), false);
        let mut part = DirectoryPart { entries: Vec::new(), next: None };
        let mut push =
            |info: FileInfo, cursor: DirectoryCursor| part.entries.push(DirectoryEntry { info, cursor });
        // Both stand before all names, and match what any name would.
        if *after == DirectoryCursor::Start && pattern.matches(".") {
            push(FileInfo { name: ".".into(), ..own.clone() }, DirectoryCursor::Own);
        }
        if matches!(after, DirectoryCursor::Start | DirectoryCursor::Own) && pattern.matches("..") {
            let above = FileInfo { name: "..".into(), file_id: own.parent_id, ..own.clone() };
            push(above, DirectoryCursor::Parent);
        }
        if part.entries.len() >= limit {
            part.entries.truncate(limit);
            part.next = part.entries.last().map(|entry| entry.cursor.clone());
            return Ok(part);
        }
        let mut behind = match after {
            DirectoryCursor::Name(name) => Some(name.clone()),
            _ => None,
        };
        let (directory, prefix) = (opened.look(), pattern.prefix());
        let mut looks = 0;
        loop {
            let batch = if pattern.is_all() { (limit - part.entries.len()).clamp(1, BATCH) } else { BATCH };
            let page = directory.list(&prefix, behind.as_deref(), batch, BATCH_BYTES).await?;
            looks += page.entries.len().max(1);
            for record in &page.entries {
                let folded = record.folded().into_owned();
                if !pattern.matches(&folded) {
                    continue;
                }
                let cursor = DirectoryCursor::Name(folded);
                part.entries.push(DirectoryEntry { info: FileInfo::of(record, own.file_id, false), cursor });
                if part.entries.len() >= limit {
                    part.next = part.entries.last().map(|entry| entry.cursor.clone());
                    return Ok(part);
                }
            }
            match page.next {
                None => return Ok(part),
                Some(next) if looks >= LOOKS => {
                    part.next = Some(DirectoryCursor::Name(next));
                    return Ok(part);
                }
                Some(next) => behind = Some(next),
            }
        }
    }

    /// A pattern as it is compared: in upper case as names are.
    pub fn pattern(text: &str) -> Outcome<DosPattern> {
        DosPattern::new(&crate::store::tree::fold(text)).ok_or(Refusal::ObjectNameInvalid)
    }
}
