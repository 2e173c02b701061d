//! What is told of an open file, and what of it is set.

use std::sync::atomic::Ordering;

use lazuli_model::admission::caching::Act;
use lazuli_model::sddl::SecurityDescriptor;
use lazuli_model::time::Timestamp;

use super::attempt::Step;
use super::{AccessMask, FileAttributes, OpenFile, Outcome, Refusal};
use crate::file::PathRecord;
use crate::store::share::InTheWay;

/// All that the information classes are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// As it is spelt; empty for the root.
    pub name: String,
    /// The number that the file is known by, here and over REST, whatever its name.
    pub file_id: u64,
    pub parent_id: u64,
    pub is_directory: bool,
    pub attributes: FileAttributes,
    pub created: Timestamp,
    pub last_accessed: Timestamp,
    pub last_written: Timestamp,
    pub changed: Timestamp,
    pub length: u64,
    pub allocation: u64,
    /// 0 for one that is pending deletion and has no other name.
    pub links: u32,
    pub delete_pending: bool,
}

/// `FileBasicInformation`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BasicInfo {
    pub created: TimeWish,
    pub last_accessed: TimeWish,
    pub last_written: TimeWish,
    pub changed: TimeWish,
    /// None (0 on the wire) leaves them; `Some(NONE)` is `FILE_ATTRIBUTE_NORMAL`.
    pub attributes: Option<FileAttributes>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeWish {
    /// 0
    #[default]
    Keep,
    Set(Timestamp),
    /// -1: what is done through this open does not change it any more.
    Freeze,
    /// -2: it does again.
    Thaw,
}

/// `FileRenameInformation`
#[derive(Clone, Debug)]
pub struct Rename {
    /// The whole path in the share.
    pub to: Vec<String>,
    pub replaces: bool,
}

/// Which parts of a security descriptor are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecurityParts {
    pub owner: bool,
    pub group: bool,
    pub dacl: bool,
    pub sacl: bool,
}

/// Times that what is done through an open leaves as they are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frozen {
    created: bool,
    last_accessed: bool,
    last_written: bool,
    changed: bool,
}

impl TimeWish {
    /// The time there is then, and whether it is left alone from now on.
    fn apply(self, time: &mut Timestamp, frozen: &mut bool) {
        match self {
            Self::Keep => {}
            Self::Set(new) => (*time, *frozen) = (new, true),
            Self::Freeze => *frozen = true,
            Self::Thaw => *frozen = false,
        }
    }
}

pub(super) const CLUSTER: u64 = 4_096;

impl FileInfo {
    pub(super) fn of(record: &PathRecord, parent: u64, delete_pending: bool) -> Self {
        let attributes = FileAttributes::from_bits(record.attributes);
        Self {
            name: record.name.clone(),
            file_id: record.node.number(),
            parent_id: parent,
            is_directory: record.is_directory(),
            attributes,
            created: record.times.created,
            last_accessed: record.times.last_accessed,
            last_written: record.times.last_written,
            changed: record.times.changed,
            length: record.length(),
            allocation: record.length().next_multiple_of(CLUSTER),
            links: record.file().map_or(1, |file| file.links) - u32::from(delete_pending),
            delete_pending,
        }
    }
}

impl OpenFile {
    pub async fn info(&self) -> Outcome<FileInfo> {
        let view = self.client().services().view(self.client().context()).await?;
        let opened = view.opened(self.key()).await?;
        let mut info = FileInfo::of(&opened.record, opened.parent_number(), opened.delete_pending());
        info.allocation = info.allocation.max(self.aside().load(Ordering::Relaxed));
        Ok(info)
    }

    /// The client is told, through this open, that so many bytes are set aside for the file.
    pub(super) fn set_aside(&self, size: u64, info: &mut FileInfo) {
        let size = size.next_multiple_of(CLUSTER);
        self.aside().store(size, Ordering::Relaxed);
        info.allocation = info.allocation.max(size);
    }

    /// The path as it is now, with backslashes, each name as it is spelt.
    pub async fn path(&self) -> Outcome<String> {
        let view = self.client().services().view(self.client().context()).await?;
        Ok(view.opened(self.key()).await?.names().await?.join("\\"))
    }

    /// Whether a write through this open leaves the times of the last write and of the last change as they are.
    pub(super) fn kept_times(&self) -> (bool, bool) {
        let frozen = self.frozen().lock();
        (frozen.last_written, frozen.changed)
    }

    /// What a write through this open does to the times, and that the file is to be backed up.
    pub(super) fn note_write(&self, record: &mut PathRecord, now: Timestamp) {
        let frozen = *self.frozen().lock();
        if !frozen.last_written {
            record.times.last_written = now;
        }
        if !frozen.changed {
            record.times.changed = now;
        }
        record.attributes |= FileAttributes::ARCHIVE.bits();
    }

    pub async fn set_basic_info(&self, wanted: BasicInfo) -> Outcome<()> {
        self.needs(AccessMask::WRITE_ATTRIBUTES)?;
        self.writable()?;
        let is_directory = self.is_directory();
        let bad = |attributes: FileAttributes| match is_directory {
            true => attributes.has(FileAttributes::TEMPORARY),
            false => attributes.has(FileAttributes::DIRECTORY),
        };
        if wanted.attributes.is_some_and(bad) {
            return Err(Refusal::InvalidParameter);
        }
        let before = *self.frozen().lock();
        let frozen = self
            .work(|unit| async move {
                let mut file = unit.opened(self.key()).await?.present();
                let (record, mut frozen) = (&mut file.record, before);
                if let Some(attributes) = wanted.attributes {
                    record.attributes = match is_directory {
                        true => attributes.and(FileAttributes::DIRECTORY).bits(),
                        false => attributes.bits(),
                    };
                }
                if !frozen.changed {
                    record.times.changed = unit.now();
                }
                let times = &mut record.times;
                wanted.created.apply(&mut times.created, &mut frozen.created);
                wanted.last_accessed.apply(&mut times.last_accessed, &mut frozen.last_accessed);
                wanted.last_written.apply(&mut times.last_written, &mut frozen.last_written);
                wanted.changed.apply(&mut times.changed, &mut frozen.changed);
                file.put().await?;
                Ok(Step::Done(frozen))
            })
            .await?;
        *self.frozen().lock() = frozen;
        Ok(())
    }

    /// `FileDispositionInformation`: the file goes when it is closed, or stays. `ignores_read_only` is a flag of the extended class.
    pub async fn set_disposition(&self, delete: bool, ignores_read_only: bool) -> Outcome<()> {
        self.needs(AccessMask::DELETE)?;
        self.writable()?;
        self.work(|unit| async move {
            let mut opened = unit.opened(self.key()).await?;
            let is_read_only = opened.record.attributes & FileAttributes::READ_ONLY.bits() != 0;
            if delete && (opened.is_root() || is_read_only && !ignores_read_only) {
                return Err(Refusal::CannotDelete);
            }
            if delete && opened.must_wait(Act::Move).await? {
                return Ok(Step::Wait);
            }
            opened.set_pending(delete).await?;
            Ok(Step::Done(()))
        })
        .await
    }

    /// What is open below a directory keeps it where it is.
    pub async fn rename(&self, rename: Rename) -> Outcome<()> {
        self.needs(AccessMask::DELETE)?;
        self.writable()?;
        let rename = &rename;
        self.work(|unit| async move {
            let mut opened = unit.opened(self.key()).await?;
            if opened.is_root() || rename.to.is_empty() {
                return Err(Refusal::AccessDenied);
            }
            if opened.delete_pending() {
                return Err(Refusal::DeletePending);
            }
            if opened.has_opens_below().await? {
                return Err(Refusal::AccessDenied);
            }
            if opened.must_wait(Act::Move).await? {
                return Ok(Step::Wait);
            }
            match opened.destination(&rename.to, rename.replaces).await? {
                InTheWay::Wait => Ok(Step::Wait),
                InTheWay::Nothing(to) => {
                    opened.rename(*to, rename.replaces).await?;
                    Ok(Step::Done(()))
                }
            }
        })
        .await
    }

    /// The parts that are asked for. The right to read them is judged.
    pub async fn security(&self, parts: SecurityParts) -> Outcome<SecurityDescriptor> {
        if parts.owner || parts.group || parts.dacl {
            self.needs(AccessMask::READ_CONTROL)?;
        }
        if parts.sacl {
            self.needs(AccessMask::ACCESS_SYSTEM_SECURITY)?;
        }
        let view = self.client().services().view(self.client().context()).await?;
        let SecurityDescriptor { owner, group, dacl, sacl } =
            view.opened(self.key()).await?.security().await?;
        Ok(SecurityDescriptor {
            owner: owner.filter(|_| parts.owner),
            group: group.filter(|_| parts.group),
            dacl: dacl.filter(|_| parts.dacl),
            sacl: sacl.filter(|_| parts.sacl),
        })
    }

    pub async fn set_security(&self, parts: SecurityParts, new: SecurityDescriptor) -> Outcome<()> {
        self.writable()?;
        if parts.owner || parts.group {
            self.needs(AccessMask::WRITE_OWNER)?;
        }
        if parts.dacl {
            self.needs(AccessMask::WRITE_DAC)?;
        }
        if parts.sacl {
            self.needs(AccessMask::ACCESS_SYSTEM_SECURITY)?;
        }
        let new = &new;
        self.work(|unit| async move {
            let opened = unit.opened(self.key()).await?;
            let old = opened.security().await?;
            let chosen = SecurityDescriptor {
                owner: if parts.owner { new.owner.clone() } else { old.owner },
                group: if parts.group { new.group.clone() } else { old.group },
                dacl: if parts.dacl { new.dacl.clone() } else { old.dacl },
                sacl: if parts.sacl { new.sacl.clone() } else { old.sacl },
            };
            let mut file = opened.present();
            file.set_security(&chosen).await?;
            if !self.frozen().lock().changed {
                file.record.times.changed = unit.now();
            }
            file.put().await?;
            Ok(Step::Done(()))
        })
        .await
    }
}
