//! Copies to files, and of files, within one engine. No byte moves: the copy of a file, and of a page blob, is a layer of its own over that
//! of its source, which goes on with a new layer too (decision 0043).

use lazuli_model::blob::BlobType;
use lazuli_model::encryption::Encryption;
use lazuli_model::error::ErrorCode;

use super::create::Filled;
use super::path::Standing;
use super::source::SourceFile;
use crate::blob::{BlobProperties, Stamped};
use crate::fault::Answer;
use crate::file::{Described, NewPath};
use crate::store::blob::Bytes;
use crate::store::content;
use crate::store::copy::{CopyMark, CopyOf, SourceBlob};
use crate::store::copy_job::Pending;
use crate::store::found::Admitted;
use crate::store::key::{Incarnation, copy_job};
use crate::store::new_content::NewContent;
use crate::store::pages;
use crate::store::record::Record as _;
use crate::store::record::content::Content;
use crate::store::record::copy_job::{CopiedTo, CopyJob, CopyPlan};
use crate::store::record::existing::Existing;
use crate::store::record::path::{ExistingPath, PathRecord};
use crate::store::sparse;
use crate::store::tree::Entry as _;
use crate::store::unit::{Changes as _, Unit};

/// What a file becomes by a copy.
pub struct NewCopiedFile<'a> {
    /// Its length is that of the source.
    pub new: &'a NewPath,
    /// As SMB numbers them.
    pub attributes: u32,
    pub copy: &'a CopyOf,
}

impl NewCopiedFile<'_> {
    fn filled<'a>(&self, content: Content, permission_of: Option<&'a SourceFile>) -> Filled<'a> {
        Filled {
            copy: Some(self.copy.pending(content.length)),
            is_copied: true,
            content: Some(content),
            attributes: Some(self.attributes),
            permission_of,
            uploaded: None,
        }
    }
}

impl Admitted<ExistingPath> {
    /// Gives the name what another file has.
    pub async fn share_file(self, source: &SourceFile, file: &NewCopiedFile<'_>) -> Answer<Described> {
        let content = source.content()?;
        let own = self.record().and_then(|existing| existing.record.file()).map(|file| file.content.id);
        // A file that is copied onto itself, or restored from a snapshot since which it has not changed.
        let made = match own == Some(content.id) {
            true => content.clone(),
            false => self.unit.clone().layer_on_file(source).await?,
        };
        self.create_with(file.new, file.filled(made, Some(source))).await
    }

    /// Gives the name the pages of a blob.
    pub async fn share_pages(self, source: &SourceBlob, file: &NewCopiedFile<'_>) -> Answer<Described> {
        let made = self.unit.clone().layer_on(source).await?;
        self.create_with(file.new, file.filled(made, None)).await
    }

    /// Gives the name bytes that were copied.
    pub async fn fill_file(self, new: &NewContent, file: &NewCopiedFile<'_>) -> Answer<Described> {
        let made = pages::of_upload(&mut self.unit.clone(), new.uploaded());
        self.create_with(file.new, file.filled(made, None)).await
    }

    /// Makes the name a file of zeros that a copy is writing.
    pub async fn begin_file_copy(
        self,
        file: &NewCopiedFile<'_>,
        total: u64,
        server: Incarnation,
        plan: Option<CopyPlan>,
    ) -> Answer<(Described, Pending)> {
        let mut unit = self.unit.clone();
        let (share, generation) = (self.place.share_name.clone(), self.place.share.generation);
        let filled = Filled {
            copy: Some(file.copy.pending(total)),
            attributes: Some(file.attributes),
            ..Filled::default()
        };
        let made = self.create_with(file.new, filled).await?;
        let now = unit.now();
        let job = CopyJob {
            id: file.copy.id,
            account: unit.account().to_owned(),
            to: CopiedTo::File { share, generation, node: made.record.node },
            server: Some(server),
            tries: 1,
            began: now,
            due: now,
            plan,
        };
        unit.put(copy_job(job.id), job.encode());
        Ok((made, Pending(job)))
    }
}

impl Admitted<Existing> {
    /// Gives a blob the content of a file.
    pub async fn share_file(
        self,
        source: &SourceFile,
        properties: &BlobProperties,
        mark: &CopyMark,
    ) -> Answer<Stamped> {
        self.unit.check_sealed(&self.place, &Encryption::default())?;
        let made = self.unit.clone().layer_on_file(source).await?;
        let bytes = Bytes::Made { content: &made, took_over: None };
        self.replace_by(BlobType::Block, properties, bytes, |record| mark.leave(record)).await
    }
}

impl Unit {
    /// A layer for a copy of a file. A source that may be written to goes on with a new layer too: neither shows on the other.
    async fn layer_on_file(&mut self, source: &SourceFile) -> Answer<Content> {
        let (reader, now) = (self.reader().clone(), self.now());
        let (place, content) = (&source.place, source.content()?);
        let Standing::Entry(_, slot) = &place.at else { return Err(ErrorCode::ResourceNotFound.into()) };
        let (tree, live) = match place.snapshot {
            None => (place.tree(), Some(source.record.clone())),
            // What a snapshot shows may be the file as it still is.
            Some(_) => {
                let tree = self.share_in(&source.account, &place.share_name, None).await?.tree();
                let live = tree.look::<PathRecord>(&reader, slot, None).await?;
                (tree, live.filter(|live| live.file().is_some_and(|file| file.content.id == content.id)))
            }
        };
        let mut below = content.clone();
        match live {
            None => content::share(&reader, self, &below).await?,
            Some(before) => {
                let mut record = before.clone();
                if !tree.preserve_and_share(&reader, self, slot, &before, &mut record, now, 1).await? {
                    match self.below_untouched(content.id).await? {
                        Some(untouched) => below = untouched,
                        None => {
                            record.set_content(sparse::push_layer(&reader, self, content, true, now).await?);
                        }
                    }
                    content::share(&reader, self, &below).await?;
                }
                if record != before {
                    tree.put(self, slot, &record);
                }
            }
        }
        let layer = sparse::push_layer(&reader, self, &below, true, now).await?;
        Ok(Content { length: content.length, ..layer })
    }
}
