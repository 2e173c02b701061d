//! New directories, files and symbolic links.

use lazuli_model::blob::{CopyState, CopyStatus};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::etag::ETag;
use lazuli_model::smb::{FileAttributes, FileMode, PosixWishes, SmbWishes, Wish, parse_gmt_token};
use lazuli_model::time::Timestamp;

use super::links::NFS_ONLY;
use super::path::{PathPlace, Standing};
use super::permission::Wanted;
use super::source::SourceFile;
use super::{changed, key};
use crate::fault::Answer;
use crate::file::{Described, NewBody, NewPath};
use crate::open_file::ChangeAction;
use crate::store::found::Admitted;
use crate::store::key::ContentId;
use crate::store::record::content::{Content, Shape};
use crate::store::record::path::{ExistingPath, FileBody, FileTimes, PathBody, PathRecord, Posix};
use crate::store::record::share::ShareProtocol;
use crate::store::sparse;
use crate::store::tree::NodeId;
use crate::store::unit::{Changes as _, Unit};
use crate::store::upload::Uploaded;

/// The modes of what is created in a share for NFS without one.
const FILE_MODE: u16 = 0o664;
const DIRECTORY_MODE: u16 = 0o755;
const LINK_MODE: u16 = 0o777;

/// What a new file has beside its length and headers.
#[derive(Default)]
pub struct Filled<'a> {
    /// The bytes that it begins with.
    pub uploaded: Option<&'a Uploaded>,
    /// In place of zeros.
    pub content: Option<Content>,
    /// How it was copied, or is being copied.
    pub copy: Option<CopyState>,
    /// The copy is done with this commit.
    pub is_copied: bool,
    /// As SMB numbers them, in place of those that a new file has.
    pub attributes: Option<u32>,
    /// The file whose permission it has, if it is to have that of its source.
    pub permission_of: Option<&'a SourceFile>,
}

impl Filled<'_> {
    fn fill(self, unit: &mut Unit, file: &mut FileBody, at: Timestamp) {
        file.copy = self.copy;
        if let Some(copy) = file.copy.as_mut().filter(|_| self.is_copied) {
            (copy.status, copy.copied, copy.completed) = (CopyStatus::Success, copy.total, Some(at));
        }
        if let Some(content) = self.content {
            file.content = content;
        }
        if let Some(uploaded) = self.uploaded.filter(|uploaded| uploaded.length > 0) {
            for interval in sparse::intervals(0, uploaded) {
                unit.put(interval.key(file.content.id), interval.value());
            }
            unit.publish(uploaded.chunks());
        }
    }
}

impl Admitted<ExistingPath> {
    /// Makes a directory, a file of zeros or a symbolic link. A file may be put in the place of one: it keeps its identity
    /// and its lease.
    pub async fn create(self, new: &NewPath) -> Answer<Described> {
        self.create_with(new, Filled::default()).await
    }

    /// The same, of a file that holds more than zeros.
    pub async fn create_with(self, new: &NewPath, filled: Filled<'_>) -> Answer<Described> {
        let Self { mut unit, place, admitted, .. } = self;
        place.writable()?;
        let now = unit.now();
        let old = admitted.into_record().map(|existing| existing.record);
        match (&new.body, old.as_ref().map(|old| &old.body)) {
            (_, None) | (NewBody::File { .. }, Some(PathBody::File(_))) => {}
            (NewBody::File { .. }, Some(PathBody::Directory)) => {
                return Err(ErrorCode::ResourceTypeMismatch.into());
            }
            _ => return Err(ErrorCode::ResourceAlreadyExists.into()),
        }
        let Standing::Entry(chain, slot) = &place.at else {
            return Err(ErrorCode::ResourceAlreadyExists.into());
        };
        refuse_smb(&place, &new.smb)?;
        if matches!(new.body, NewBody::SymbolicLink { .. })
            && place.share.settings.protocol != ShareProtocol::Nfs
        {
            return Err(Failure::new(ErrorCode::InvalidInput).with_message(NFS_ONLY).into());
        }
        let etag = ETag(old.as_ref().map_or(now.0, |old| now.0.max(old.etag.0 + 1)));
        let mut record = PathRecord {
            node: old.as_ref().map_or_else(|| NodeId::fresh(now), |old| old.node),
            name: String::new(),
            since: 0,
            etag,
            last_modified: Timestamp(etag.0),
            times: new_times(&new.smb, now),
            attributes: filled.attributes.unwrap_or_else(|| new_attributes(new)),
            permission: match (&new.smb.permission, filled.permission_of) {
                (Wish::Source, Some(source)) => unit.take_permission(place.share.generation, source).await?,
                _ => place.new_permission(&mut unit, new).await?,
            },
            metadata: new.metadata.clone(),
            posix: place.new_posix(new)?,
            body: body(&new.body, now),
        };
        let at = record.last_modified;
        if let Some(file) = record.file_mut() {
            filled.fill(&mut unit, file, at);
        }
        place
            .count(&mut unit, record.node, old.as_ref().map_or(0, PathRecord::length), record.length())
            .await?;
        let Some(old) = old else {
            place.admit_new_name(&unit, &chain.name).await?;
            record.name.clone_from(&chain.name);
            let reader = unit.reader().clone();
            place.tree().take_in(&reader, &mut unit, chain, &record, None).await?;
            place.tree().insert(&mut unit, slot, &mut record);
            let filter = changed::name_filter(&record);
            let (tree, name) = (place.tree(), record.name.clone());
            unit.note_change(&tree, slot.parent, &name, ChangeAction::Added, filter).await?;
            return Ok(place.described(record));
        };
        record.name.clone_from(&old.name);
        if let (Some(file), Some(old)) = (record.file_mut(), old.file()) {
            file.lease.clone_from(&old.lease);
            file.links = old.links;
        }
        let Some(before) = &chain.found else { return Err(ErrorCode::ResourceNotFound.into()) };
        let (tree, reader) = (place.tree(), unit.reader().clone());
        let content = |record: &PathRecord| record.file().map(|file| file.content.id);
        if content(&record) == content(before) {
            // Copied onto itself.
            record.since = before.since;
            tree.preserve(&reader, &mut unit, slot, before, &mut record, now).await?;
            tree.put(&mut unit, slot, &record);
        } else {
            tree.replace(&reader, &mut unit, slot, before, &mut record).await?;
        }
        let (name, filter) = (record.name.clone(), changed::difference(&old, &record));
        unit.note_change(&tree, place.parent(), &name, ChangeAction::Modified, filter).await?;
        Ok(place.described(record))
    }
}

/// Attributes and security descriptors are not for shares that clients of NFS use.
pub(super) fn refuse_smb(place: &PathPlace, smb: &SmbWishes) -> Result<(), Failure> {
    let plain = FileAttributes::DIRECTORY.and(FileAttributes::ARCHIVE);
    let is_smb = matches!(smb.attributes, Wish::Value(set) if !plain.has(set))
        || matches!(smb.permission, Wish::Value(_));
    match place.share.settings.protocol {
        ShareProtocol::Nfs if is_smb => Err(ErrorCode::UnsupportedHeader.into()),
        _ => Ok(()),
    }
}

impl PathPlace {
    /// A name that SMB clients take for a snapshot is given to nothing that they are to open, and nothing is put into a directory
    /// that goes when they close it.
    pub(super) async fn admit_new_name(&self, unit: &Unit, name: &str) -> Answer<()> {
        if self.share.settings.protocol != ShareProtocol::Smb {
            return Ok(());
        }
        if parse_gmt_token(name).is_some() {
            return Err(ErrorCode::InvalidResourceName.into());
        }
        let (generation, parent) = (self.share.generation, self.parent());
        // What is asked for when the change is told to those who watch goes with it.
        unit.reader().near(|| vec![key::pending(generation, parent), key::watchers(generation)]).await?;
        match unit.reader().get(key::pending(generation, parent)).await? {
            Some(_) => Err(ErrorCode::DeletePending.into()),
            None => Ok(()),
        }
    }

    async fn new_permission(&self, unit: &mut Unit, new: &NewPath) -> Answer<Option<u128>> {
        let wanted = Wanted {
            wish: &new.smb.permission,
            kept: None,
            parent: self.parent_record(),
            directory: matches!(new.body, NewBody::Directory),
            completes: !new.restores,
        };
        unit.choose_permission(self.share.generation, wanted).await
    }

    /// Shares for NFS have owners and modes in place of security descriptors.
    fn new_posix(&self, new: &NewPath) -> Result<Option<Posix>, Failure> {
        let PosixWishes { owner, group, mode } = new.posix;
        match self.share.settings.protocol {
            ShareProtocol::Smb if new.posix != PosixWishes::NONE => Err(ErrorCode::UnsupportedHeader.into()),
            ShareProtocol::Smb => Ok(None),
            ShareProtocol::Nfs => {
                let default = match new.body {
                    NewBody::Directory => DIRECTORY_MODE,
                    NewBody::File { .. } => FILE_MODE,
                    NewBody::SymbolicLink { .. } => LINK_MODE,
                };
                let mode = mode.map_or(default, FileMode::bits);
                Ok(Some(Posix { owner: owner.unwrap_or(0), group: group.unwrap_or(0), mode }))
            }
        }
    }
}

fn new_times(wishes: &SmbWishes, now: Timestamp) -> FileTimes {
    FileTimes {
        created: wishes.creation_time.time(now, now),
        last_written: wishes.last_write_time.time(now, now),
        changed: wishes.change_time.time(now, now),
        last_accessed: now,
    }
}

/// A file is marked for the next backup, whatever the request says (recorded); a directory is one.
fn new_attributes(new: &NewPath) -> u32 {
    let given = match &new.smb.attributes {
        Wish::Value(attributes) => *attributes,
        _ => FileAttributes::NONE,
    };
    match new.body {
        NewBody::Directory => given.and(FileAttributes::DIRECTORY).bits(),
        NewBody::File { .. } | NewBody::SymbolicLink { .. } => {
            let given = given.without(FileAttributes::DIRECTORY);
            if new.restores { given.bits() } else { given.and(FileAttributes::ARCHIVE).bits() }
        }
    }
}

fn body(new: &NewBody, now: Timestamp) -> PathBody {
    match new {
        NewBody::Directory => PathBody::Directory,
        NewBody::SymbolicLink { target } => PathBody::SymbolicLink { target: target.clone() },
        NewBody::File { length, headers } => PathBody::File(Box::new(FileBody {
            content: Content { id: ContentId::fresh(now), length: *length, shape: Shape::Sparse },
            headers: headers.clone(),
            lease: None,
            copy: None,
            links: 1,
        })),
    }
}
