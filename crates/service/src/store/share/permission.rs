//! The security descriptors of files and directories: each is kept once in a share, under a digest of its bytes, as long
//! as the share is there. Nothing changes such a row, so those who read it never meet.
//!
//! A record that names none has the default of its kind: what the root of a share has, and what is inherited from that.

use std::sync::LazyLock;

use aws_lc_rs::digest;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Mode;
use lazuli_model::sddl::{DESCRIPTOR_MAX, PermissionKey, SecurityDescriptor};
use lazuli_model::smb::{Permission, Wish};

use super::key;
use super::source::SourceFile;
use crate::fault::Answer;
use crate::store::found::Present;
use crate::store::key::Generation;
use crate::store::record::Record;
use crate::store::record::path::PathRecord;
use crate::store::record::permission::PermissionRecord;
use crate::store::record::share::ShareRecord;
use crate::store::unit::{Changes as _, Unit};

struct Defaults {
    root: u128,
    directory: u128,
    file: u128,
    all: [(u128, SecurityDescriptor); 3],
}

static DEFAULTS: LazyLock<Defaults> = LazyLock::new(|| {
    let root = SecurityDescriptor::default_root();
    let all = [root.clone(), root.inherited(true), root.inherited(false)];
    let all = all.map(|descriptor| (number(&descriptor.to_bytes().unwrap_or_default()), descriptor));
    let [(root, _), (directory, _), (file, _)] = all;
    Defaults { root, directory, file, all }
});

/// The same bytes have the same number, in every share.
fn number(bytes: &[u8]) -> u128 {
    let digest = digest::digest(&digest::SHA256, bytes);
    digest.as_ref().first_chunk().map_or(0, |first| u128::from_be_bytes(*first))
}

impl PathRecord {
    /// The key of its security descriptor.
    pub fn permission_key(&self) -> PermissionKey {
        PermissionKey::from_number(self.permission.unwrap_or_else(|| match self.is_directory() {
            _ if self.name.is_empty() => DEFAULTS.root,
            true => DEFAULTS.directory,
            false => DEFAULTS.file,
        }))
    }
}

impl<M: Mode> Present<ShareRecord, M> {
    /// A security descriptor that is kept in the share.
    pub async fn permission(&self, key: PermissionKey) -> Answer<Option<SecurityDescriptor>> {
        self.unit.find_permission(self.record.generation, key).await
    }
}

impl Present<ShareRecord> {
    /// Keeps a security descriptor in the share.
    pub async fn keep_permission(mut self, descriptor: &SecurityDescriptor) -> Answer<PermissionKey> {
        self.unit.keep_permission(self.record.generation, descriptor).await
    }
}

/// What a directory or file is to have, and where it stands.
pub(in crate::store) struct Wanted<'a> {
    pub wish: &'a Wish<Permission>,
    /// What there is already, or what the source of a copy has.
    pub kept: Option<u128>,
    /// None above the root.
    pub parent: Option<&'a PathRecord>,
    pub directory: bool,
    /// What the parent hands on is added to what is given, unless that says that it does not want it.
    pub completes: bool,
}

impl<M: Mode> Unit<M> {
    /// A security descriptor of a share.
    pub(in crate::store) async fn find_permission(
        &self,
        generation: Generation,
        key: PermissionKey,
    ) -> Answer<Option<SecurityDescriptor>> {
        let wanted = key.to_number();
        if let Some((_, descriptor)) = DEFAULTS.all.iter().find(|(number, _)| *number == wanted) {
            return Ok(Some(descriptor.clone()));
        }
        let Some(entry) = self.reader().get(key::permission(generation, wanted)).await? else {
            return Ok(None);
        };
        let kept = PermissionRecord::decode(&entry.value)?;
        let read = SecurityDescriptor::parse_bytes(&kept.descriptor);
        let read = read
            .map_err(|_| Failure::new(ErrorCode::InternalError).cause("a permission that cannot be read"))?;
        Ok(Some(read))
    }
}

impl Unit {
    /// Keeps a security descriptor in a share, once; tells its key.
    pub(in crate::store) async fn keep_permission(
        &mut self,
        generation: Generation,
        descriptor: &SecurityDescriptor,
    ) -> Answer<PermissionKey> {
        let bytes = descriptor.to_bytes().map_err(|bad| Failure::from(bad.code()))?;
        if bytes.len() > DESCRIPTOR_MAX {
            return Err(ErrorCode::FileInvalidPermission.into());
        }
        let number = number(&bytes);
        let is_default = DEFAULTS.all.iter().any(|(own, _)| *own == number);
        let at = key::permission(generation, number);
        if !is_default && self.reader().get(at.clone()).await?.is_none() {
            self.put(at, PermissionRecord { descriptor: bytes }.encode());
        }
        Ok(PermissionKey::from_number(number))
    }

    /// The number that the security descriptor of a file, of this share or another, has in this share.
    pub(in crate::store) async fn take_permission(
        &mut self,
        generation: Generation,
        source: &SourceFile,
    ) -> Answer<Option<u128>> {
        let theirs = source.place.share.generation;
        let Some(number) = source.record.permission.filter(|_| theirs != generation) else {
            return Ok(source.record.permission);
        };
        let found = self.find_permission(theirs, PermissionKey::from_number(number)).await?;
        let found = found.ok_or(ErrorCode::FileInvalidPermissionKey)?;
        Ok(Some(self.keep_permission(generation, &found).await?.to_number()))
    }

    /// The number of what a directory or file is to have; none for the default of its kind.
    pub(in crate::store) async fn choose_permission(
        &mut self,
        generation: Generation,
        wanted: Wanted<'_>,
    ) -> Answer<Option<u128>> {
        let given = match wanted.wish {
            Wish::Preserve | Wish::Source | Wish::Now => return Ok(wanted.kept),
            Wish::Inherit => None,
            Wish::Value(Permission::Descriptor(descriptor)) => Some(descriptor.clone()),
            Wish::Value(Permission::Key(key)) => {
                let found = self.find_permission(generation, *key).await?;
                let found = found.ok_or(ErrorCode::FileInvalidPermissionKey)?;
                if !wanted.completes {
                    return Ok(Some(key.to_number()));
                }
                Some(found)
            }
        };
        let inherits = given.is_none() || wanted.completes;
        let parent = match wanted.parent.filter(|_| inherits) {
            None if given.is_none() => return Ok(None),
            // The default hands on the default.
            Some(parent) if given.is_none() && parent.permission.is_none() => return Ok(None),
            None => None,
            Some(parent) => self.find_permission(generation, parent.permission_key()).await?,
        };
        let chosen = match (given, parent) {
            (Some(given), Some(parent)) => given.completed(&parent, wanted.directory),
            (Some(given), None) => given,
            (None, Some(parent)) => parent.inherited(wanted.directory),
            (None, None) => return Ok(None),
        };
        let key = self.keep_permission(generation, &chosen).await?;
        Ok(Some(key.to_number()))
    }
}
