//! A file that is the source of a copy.

use std::sync::Arc;

use lazuli_model::admission::{Preconditions, Subject as _, admit_source};
use lazuli_model::blob::{ContentHeaders, CopyStatus};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Judged, Mode, Op, Source};

use super::path::PathPlace;
use crate::blob::FileSource;
use crate::fault::{Answer, Fault};
use crate::store::found::Resource as _;
use crate::store::record::content::Content;
use crate::store::record::path::{ExistingPath, FileBody, PathRecord};
use crate::store::unit::Unit;

/// A file that may be read.
pub struct SourceFile {
    pub(super) account: Arc<str>,
    pub(super) place: PathPlace,
    pub(super) record: PathRecord,
}

impl SourceFile {
    fn file(&self) -> Result<&FileBody, Failure> {
        Ok(self.record.file().ok_or(ErrorCode::ResourceNotFound)?)
    }

    pub fn record(&self) -> &PathRecord {
        &self.record
    }

    pub fn content(&self) -> Result<&Content, Failure> {
        Ok(&self.file()?.content)
    }

    pub fn headers(&self) -> Result<&ContentHeaders, Failure> {
        Ok(&self.file()?.headers)
    }

    pub fn metadata(&self) -> &Metadata {
        &self.record.metadata
    }
}

impl<M: Mode> Unit<M> {
    /// The source of an operation of this policy, if it is the one that the request means and those who have it open let it
    /// be read. In a unit that writes it is a check of the commit.
    pub async fn file_source<P: Judged>(&self, from: &FileSource, policy: P) -> Answer<SourceFile> {
        let policy = policy.policy();
        // The service looks at a source of the same account itself; any other it reads as a client would.
        let is_looked_at = policy.source == Source::Looked && *from.account == *self.account();
        let absent = |code: ErrorCode| match is_looked_at {
            true => Failure::new(code),
            false => Failure::new(ErrorCode::CannotVerifyCopySource)
                .with_status(code.status())
                .with_message(code.message()),
        };
        let found = self.path_in(&from.account, &from.at).await.map_err(|fault| match fault.0.code {
            // What the directory of a source is, is no matter of the request.
            ErrorCode::ParentNotFound => Fault(absent(ErrorCode::ResourceNotFound)),
            ErrorCode::ShareNotFound => Fault(absent(ErrorCode::ShareNotFound)),
            _ => fault,
        })?;
        let (_, place, existing) = found.into_parts();
        let existing = existing.filter(|existing| existing.record.file().is_some());
        let existing = existing.ok_or_else(|| absent(ErrorCode::ResourceNotFound))?;
        admit_source(policy, &from.preconditions, &existing.target(), self.now())?;
        let read = &Op::GetFile.row().policy;
        let given = Preconditions::default();
        let breaks = ExistingPath::breaks(read, &given, &from.account, &place, &existing, self.now());
        let read = ExistingPath::judge(read, &given, Some(existing), self.circumstances());
        // A client of SMB may have to write what it keeps of the source first.
        if let (Err(failure), Some(breaks)) = (&read, breaks)
            && failure.code == ErrorCode::ClientCacheFlushDelay
        {
            self.notes().waits_for.push(breaks);
        }
        let record = read?.into_record().ok_or(ErrorCode::ResourceNotFound)?.record;
        let copy = record.file().and_then(|file| file.copy.as_ref());
        if copy.is_some_and(|copy| copy.status == CopyStatus::Pending) {
            return Err(ErrorCode::PendingCopyOperation.into());
        }
        Ok(SourceFile { account: Arc::clone(&from.account), place, record })
    }
}
