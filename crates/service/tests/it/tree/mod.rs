//! Directories and files of a share: against a model, and many clients at once.

mod cases;
mod copies;
mod crowd;
mod deleted_shares;
mod history;
mod opens;
mod shares;
mod usage;

use std::ops::Range;

use bytes::Bytes;
use lazuli_model::admission::{LeaseId, Needs, Preconditions};
use lazuli_model::blob::ContentHeaders;
use lazuli_model::error::ErrorCode;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Conditions, Judged, LeaseUse, Op, Policy, Reads, Service, Writes};
use lazuli_model::service_properties::RetentionPolicy;
use lazuli_model::smb::{PosixWishes, SmbWishes};
use lazuli_model::time::Timestamp;
use lazuli_service::blob::{CopySource, FileSource};
use lazuli_service::file::*;
use lazuli_service::shared::service_properties::SetServiceProperties;
use lazuli_service::store::Sealing;
use lazuli_service::upload::upload;
use lazuli_service::{Answer, Body, Fault};

use crate::support::{Bench, drain};

/// The operations of these tests, as admission judges them.
macro_rules! operations {
    ($($name:ident: $mode:ty = $policy:expr;)*) => {$(
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Judged for $name {
            type Mode = $mode;

            fn policy(self) -> &'static Policy {
                static POLICY: Policy = $policy;
                &POLICY
            }
        }
    )*};
}

const WRITE: Policy = Policy {
    conditions: Conditions::NONE,
    lease: LeaseUse::Write,
    changes_etag: true,
    creates: false,
    ..Op::SetContainerMetadata.row().policy
};
const READ: Policy = Policy {
    conditions: Conditions::NONE,
    lease: LeaseUse::Read,
    creates: false,
    ..Op::GetContainerProperties.row().policy
};

operations! {
    Look: Reads = READ;
    Read: Reads = Policy { needs: Needs::Read, ..READ };
    Create: Writes = Policy { creates: true, needs: Needs::Replace, ..WRITE };
    Change: Writes = Policy { needs: Needs::Write, ..WRITE };
    Rename: Writes = Policy { needs: Needs::Rename, ..WRITE };
    Delete: Writes = Policy { needs: Needs::Delete, ..WRITE };
    // What SMB clients do to their opens: nothing of the file itself.
    Attend: Writes = Policy { changes_etag: false, lease: LeaseUse::None, ..WRITE };
    Lease: Writes = Policy { changes_etag: false, lease: LeaseUse::Manage, needs: Needs::Lease, ..WRITE };
}

pub fn given() -> Preconditions {
    Preconditions::default()
}

pub fn path(text: &str) -> Vec<String> {
    text.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

pub fn at(text: &str, snapshot: Option<Timestamp>) -> FileAddress {
    FileAddress { share: "s".into(), snapshot, path: path(text) }
}

pub fn share(snapshot: Option<Timestamp>) -> ShareAddress {
    ShareAddress { share: "s".into(), snapshot }
}

pub fn new_path(body: NewBody) -> NewPath {
    NewPath {
        smb: SmbWishes::NEW,
        restores: false,
        metadata: Metadata::default(),
        posix: PosixWishes::NONE,
        body,
    }
}

/// Another name, and nothing else.
pub fn renamed() -> Renamed {
    Renamed { smb: SmbWishes::UNCHANGED, metadata: None, content_type: None }
}

/// A copy that is given nothing.
pub fn copying(source: CopySource, to: &str) -> CopyFile {
    let given_file = GivenFile {
        smb: SmbWishes::NEW,
        sets_archive: false,
        metadata: None,
        posix: PosixWishes::NONE,
        mode_of_source: false,
        owner_of_source: false,
    };
    let shown_source = "there".to_owned();
    CopyFile { at: at(to, None), preconditions: given(), source, shown_source, given: given_file }
}

pub fn code<T>(answer: Answer<T>) -> Result<T, ErrorCode> {
    answer.map_err(|fault| fault.0.code)
}

impl Bench {
    pub async fn create_share(&self) {
        self.create_share_for(ShareProtocol::Smb).await;
    }

    pub async fn create_share_for(&self, protocol: ShareProtocol) {
        let create = |unit: lazuli_service::store::Unit| async move {
            let new = NewShare {
                settings: ShareSettings { protocol, ..ShareSettings::default() },
                ..NewShare::default()
            };
            Ok::<_, Fault>(unit.share(&share(None)).await?.admit(Create, &given())?.create(&new)?)
        };
        self.services.commit(&self.context, create).await.unwrap();
    }

    pub async fn snapshot_share(&self) -> Timestamp {
        let take = |unit: lazuli_service::store::Unit| async move {
            let share = unit.share(&share(None)).await?.admit(Attend, &given())?.present()?;
            Ok::<_, Fault>(share.snapshot(&Metadata::default())?.0)
        };
        self.services.commit(&self.context, take).await.unwrap()
    }

    pub async fn delete_share(
        &self,
        snapshot: Option<Timestamp>,
        snapshots: Option<DeleteShareSnapshots>,
    ) -> Answer<()> {
        let delete = |unit: lazuli_service::store::Unit| async move {
            let share = unit.share(&share(snapshot)).await?.admit(Delete, &given())?.present()?;
            share.delete(snapshots).await.map(drop)
        };
        self.services.commit(&self.context, delete).await
    }

    pub async fn usage(&self) -> u64 {
        let input = GetShareStats { at: share(None), preconditions: given() };
        input.execute(&self.services, &self.context).await.unwrap()
    }

    /// In GiB.
    pub async fn set_quota(&self, quota: u32) {
        let choices = ShareChoices { quota: Some(quota), ..ShareChoices::default() };
        let input = SetShareProperties { at: share(None), preconditions: given(), choices };
        input.execute(&self.services, &self.context).await.unwrap();
    }

    /// From now on deleted shares are kept for so many days.
    pub async fn keep_deleted_shares(&self, days: u32) {
        let policy = RetentionPolicy { enabled: true, days: Some(days), ..RetentionPolicy::default() };
        let input = SetServiceProperties { delete_retention: Some(policy), ..Default::default() };
        input.execute(&self.services, &self.context, Service::File).await.unwrap();
    }

    pub async fn list_shares(&self, asked: &ListShares) -> Vec<ListedShare> {
        let (mut all, mut marker) = (Vec::new(), None);
        loop {
            let page = ListShares { marker, ..asked.clone() };
            let list = page.execute(&self.services, &self.context).await.unwrap();
            assert!(list.items.len() <= asked.max_results);
            all.extend(list.items);
            match list.next {
                Some(next) => marker = Some(next),
                None => return all,
            }
        }
    }

    pub async fn restore_share(&self, version: Timestamp) -> Answer<()> {
        let input = RestoreShare { at: share(None), preconditions: given(), version };
        input.execute(&self.services, &self.context).await.map(drop)
    }

    pub async fn create_path(&self, at: &FileAddress, body: NewBody) -> Answer<PathRecord> {
        let new = &new_path(body);
        let create = |unit: lazuli_service::store::Unit| async move {
            Ok(unit.path(at).await?.admit(Create, &given())?.create(new).await?.record)
        };
        self.services.commit(&self.context, create).await
    }

    pub async fn make_directory(&self, name: &str) -> Answer<PathRecord> {
        self.create_path(&at(name, None), NewBody::Directory).await
    }

    pub async fn make_file(&self, name: &str, length: u64) -> Answer<PathRecord> {
        let body = NewBody::File { length, headers: ContentHeaders::default() };
        self.create_path(&at(name, None), body).await
    }

    pub async fn delete_path(&self, name: &str) -> Answer<()> {
        let at = &at(name, None);
        let delete = |unit: lazuli_service::store::Unit| async move {
            unit.path(at).await?.admit(Delete, &given())?.present()?.delete().await.map(drop)
        };
        self.services.commit(&self.context, delete).await
    }

    pub async fn rename_path(&self, from: &str, to: &str, replaces: bool) -> Answer<PathRecord> {
        let (from, to) = (&at(from, None), &at(to, None));
        let rename = |unit: lazuli_service::store::Unit| async move {
            let source = unit.path(from).await?.admit(Rename, &given())?.present()?;
            let target = unit.path(to).await?.admit(Create, &given())?;
            Ok(source.rename(target, replaces, &renamed()).await?.record)
        };
        self.services.commit(&self.context, rename).await
    }

    pub async fn copy_path(&self, from: &FileAddress, to: &str) -> Answer<FileCopied> {
        let source = FileSource { account: "acct".into(), at: from.clone(), preconditions: given() };
        self.copy_to(CopySource::File(source), to).await
    }

    pub async fn copy_to(&self, source: CopySource, to: &str) -> Answer<FileCopied> {
        copying(source, to).execute(&self.services, &self.context).await
    }

    pub async fn link_path(&self, target: &str, name: &str) -> Answer<PathRecord> {
        let (target, at) = (at(target, None), at(name, None));
        let input = CreateHardLink { at, target, preconditions: given() };
        Ok(input.execute(&self.services, &self.context).await?.record)
    }

    pub async fn describe(&self, name: &str, text: &str) -> Answer<PathRecord> {
        let at = &at(name, None);
        let metadata = &Metadata::from_pairs([("m".to_owned(), text.to_owned())]).unwrap();
        let change = |unit: lazuli_service::store::Unit| async move {
            let mut path = unit.path(at).await?.admit(Change, &given())?.present()?;
            path.record.metadata.clone_from(metadata);
            path.put().await
        };
        self.services.commit(&self.context, change).await
    }

    pub async fn write_range(&self, name: &str, range: Range<u64>, fill: u8) -> Answer<PathRecord> {
        let body = Body::from(Bytes::from(vec![fill; (range.end - range.start) as usize]));
        let uploaded = &upload(&self.services, body, u64::MAX, false, &Sealing::default()).await?;
        let (at, range) = (&at(name, None), &range);
        let write = |unit: lazuli_service::store::Unit| async move {
            let file = unit.path(at).await?.admit(Change, &given())?.file()?;
            file.write_range(range.clone(), uploaded).await
        };
        self.services.commit(&self.context, write).await
    }

    pub async fn clear_range(&self, name: &str, range: Range<u64>) -> Answer<PathRecord> {
        let (at, range) = (&at(name, None), &range);
        let clear = |unit: lazuli_service::store::Unit| async move {
            unit.path(at).await?.admit(Change, &given())?.file()?.clear_range(range.clone()).await
        };
        self.services.commit(&self.context, clear).await
    }

    pub async fn resize_file(&self, name: &str, length: u64) -> Answer<PathRecord> {
        let at = &at(name, None);
        let resize = |unit: lazuli_service::store::Unit| async move {
            unit.path(at).await?.admit(Change, &given())?.file()?.resize(length).await
        };
        self.services.commit(&self.context, resize).await
    }

    pub async fn read_file(&self, at: &FileAddress) -> Answer<Vec<u8>> {
        let input = GetFile { at: at.clone(), preconditions: given(), range: None };
        let bytes = input.execute(&self.services, &self.context, Read).await?.content;
        drain(bytes.map_err(Fault)?.1).await
    }

    pub async fn look(&self, at: &FileAddress) -> Answer<PathRecord> {
        let view = self.services.view(&self.context).await?;
        Ok(view.path(at).await?.admit(Look, &given())?.present()?.into_record().record)
    }

    /// The names of a directory as they are spelt, read in small pages.
    pub async fn names(&self, at: &FileAddress, prefix: &str) -> Answer<Vec<String>> {
        let (mut names, mut after) = (Vec::new(), None);
        loop {
            let view = self.services.view(&self.context).await?;
            let directory = view.path(at).await?.admit(Look, &given())?.directory()?;
            let page = directory.list(prefix, after.as_deref(), 2, 1 << 20).await?;
            names.extend(page.entries.into_iter().map(|entry| entry.name));
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(names),
            }
        }
    }

    /// Everything in the share, read in small pages, each with its path as names are compared.
    pub async fn everything(&self, snapshot: Option<Timestamp>) -> Answer<Vec<(Vec<String>, PathRecord)>> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let view = self.services.view(&self.context).await?;
            let root = view.path(&at("", snapshot)).await?.admit(Look, &given())?.directory()?;
            let (items, next) = root.walk(after.as_deref(), 3).await?;
            all.extend(items);
            match next {
                Some(next) => after = Some(next),
                None => return Ok(all),
            }
        }
    }
}
