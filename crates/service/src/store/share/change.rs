//! What is changed of directories and files that are there: properties, headers, metadata, names.

use lazuli_model::blob::ContentHeaders;
use lazuli_model::error::ErrorCode;
use lazuli_model::metadata::Metadata;
use lazuli_model::smb::{FileAttributes, FileMode, PosixWishes, SmbWishes, Wish};

use super::changed;
use super::path::{PathPlace, Standing};
use super::permission::Wanted;
use crate::fault::Answer;
use crate::file::{Described, Renamed};
use crate::open_file::ChangeAction;
use crate::store::found::{Admitted, Present};
use crate::store::record::path::{ExistingPath, FileTimes, PathRecord};
use crate::store::unit::Unit;

/// Changes what clients of SMB see of a record that stands, or will stand, at this place.
async fn set_smb(unit: &mut Unit, place: &PathPlace, record: &mut PathRecord, smb: &SmbWishes) -> Answer<()> {
    super::create::refuse_smb(place, smb)?;
    let (now, is_directory) = (unit.now(), record.is_directory());
    if let Wish::Value(attributes) = smb.attributes {
        record.attributes = match is_directory {
            true => attributes.and(FileAttributes::DIRECTORY).bits(),
            false => attributes.without(FileAttributes::DIRECTORY).bits(),
        };
    }
    let FileTimes { created, last_written, changed, last_accessed } = record.times;
    record.times = FileTimes {
        created: smb.creation_time.time(now, created),
        last_written: smb.last_write_time.time(now, last_written),
        changed: smb.change_time.time(now, changed),
        last_accessed,
    };
    let wanted = Wanted {
        wish: &smb.permission,
        kept: record.permission,
        parent: place.parent_record(),
        directory: is_directory,
        completes: false,
    };
    record.permission = unit.choose_permission(place.share.generation, wanted).await?;
    Ok(())
}

impl Present<ExistingPath> {
    /// What clients of SMB and of NFS see.
    pub async fn set_properties(&mut self, smb: &SmbWishes, posix: PosixWishes) -> Answer<()> {
        let Self { unit, place, record, .. } = self;
        set_smb(unit, place, &mut record.record, smb).await?;
        let PosixWishes { owner, group, mode } = posix;
        match &mut record.record.posix {
            None if posix != PosixWishes::NONE => return Err(ErrorCode::UnsupportedHeader.into()),
            None => {}
            Some(own) => {
                own.owner = owner.unwrap_or(own.owner);
                own.group = group.unwrap_or(own.group);
                own.mode = mode.map_or(own.mode, FileMode::bits);
            }
        }
        Ok(())
    }

    /// The headers that a file keeps for its readers, all of them.
    pub fn set_headers(&mut self, headers: &ContentHeaders) -> Answer<()> {
        let file = self.record.record.file_mut().ok_or(ErrorCode::ResourceTypeMismatch)?;
        file.headers.clone_from(headers);
        Ok(())
    }

    /// In place of what there was. It counts as a change, and not as a write (recorded).
    pub fn set_metadata(&mut self, metadata: &Metadata) {
        self.record.record.metadata.clone_from(metadata);
        self.record.record.times.changed = self.unit.now();
    }

    /// Gives it the name and the directory that `to` stands for, with everything below it. A file that stands there goes, if
    /// `replaces` says so. Both were found by one unit.
    pub async fn rename(
        self,
        to: Admitted<ExistingPath>,
        replaces: bool,
        renamed: &Renamed,
    ) -> Answer<Described> {
        let changes_etag = self.changes_etag();
        let Self { mut unit, place, record, .. } = self;
        place.writable()?;
        let Admitted { place: mut to, .. } = to;
        to.writable()?;
        if place.share.generation != to.share.generation {
            return Err(ErrorCode::InvalidInput.into());
        }
        let (Standing::Entry(from, own), Standing::Entry(chain, _)) = (&place.at, &to.at) else {
            return Err(ErrorCode::ResourceAlreadyExists.into());
        };
        let Some(before) = &from.found else { return Err(ErrorCode::ResourceNotFound.into()) };
        if chain.found.is_none() {
            to.admit_new_name(&unit, &chain.name).await?;
        }
        let source = place.named.as_ref().map_or(own, |named| &named.slot);
        if let Some(there) = chain.found.as_ref().filter(|_| chain.slot().as_ref() != Some(source)) {
            match (replaces, before.is_directory(), there.is_directory()) {
                // Of two names of one file, both stay: so does rename of POSIX.
                (true, ..) if there.node == before.node => return Ok(place.described(record.record)),
                // A directory may take the place of a file (recorded), and replaces no directory.
                (true, _, false) => {}
                (true, false, true) => return Err(ErrorCode::ResourceTypeMismatch.into()),
                _ => return Err(ErrorCode::ResourceAlreadyExists.into()),
            }
            // One of several names goes by itself, and counts its file if that goes too.
            if to.named.is_none() {
                place.count(&mut unit, there.node, there.length(), 0).await?;
            }
        }
        let now = unit.now();
        let mut record = record.record;
        if changes_etag {
            record.touch(now);
        }
        set_smb(&mut unit, &to, &mut record, &renamed.smb).await?;
        if let Some(metadata) = &renamed.metadata {
            record.metadata.clone_from(metadata);
        }
        if let (Some(content_type), Some(file)) = (&renamed.content_type, record.file_mut()) {
            file.headers.content_type = Some(content_type.clone());
        }
        let (tree, reader) = (place.tree(), unit.reader().clone());
        to.give_way(&mut unit, source).await?;
        let Standing::Entry(chain, _) = &to.at else { return Err(ErrorCode::InternalError.into()) };
        // Asked of a directory that goes into another one: a file may stand as deep as a path reaches.
        let goes_elsewhere = before.is_directory() && place.parent() != to.parent();
        let names = if goes_elsewhere { place.names_above(&reader).await? + 1 } else { 1 };
        match &place.named {
            None => {
                let was = (own, before, names);
                tree.relink(&reader, &mut unit, was, chain, &mut record, now).await?;
            }
            Some(named) => {
                // The name moves; what else changes is the file's.
                let mut entry = named.entry.clone();
                let was = (source, &named.entry, names);
                tree.relink(&reader, &mut unit, was, chain, &mut entry, now).await?;
                tree.preserve(&reader, &mut unit, own, before, &mut record, now).await?;
                record.name = entry.name;
                tree.put(&mut unit, own, &record);
            }
        }
        to.note_rename(&mut unit, &place, &record, before).await?;
        Ok(to.described(record))
    }
}

impl PathPlace {
    /// Within one directory a name becomes another; between two, one loses what the other gets.
    async fn note_rename(
        &self,
        unit: &mut Unit,
        from: &PathPlace,
        record: &PathRecord,
        before: &PathRecord,
    ) -> Answer<()> {
        let (tree, filter) = (self.tree(), changed::name_filter(record));
        let (old, new) = match self.parent() == from.parent() {
            true => (ChangeAction::RenamedOldName, ChangeAction::RenamedNewName),
            false => (ChangeAction::Removed, ChangeAction::Added),
        };
        unit.note_change(&tree, from.parent(), &before.name, old, filter).await?;
        unit.note_change(&tree, self.parent(), &record.name, new, filter).await
    }
}
