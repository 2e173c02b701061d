//! Copy File: a whole file from a file or blob of this server, or from elsewhere.
//!
//! A file and a page blob of this server are not read: the copy stands on their content, in one commit that checks both.
//! Other bytes are copied, before the answer where they are few and by a job otherwise, as those of Copy Blob are.

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::{BlobType, ContentHeaders, CopyStatus};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::policy;
use lazuli_model::smb::{FileAttributes, FileMode, PosixWishes, SmbWishes, Wish};
use lazuli_model::time::Timestamp;
use lazuli_model::version::ApiVersion;
use uuid::Uuid;

use super::{Described, FileAddress, NewBody, NewPath, PathRecord};
use crate::blob::copy_job::{self, AT_ONCE, PAGES_COPIED, Target, Try, check_length};
use crate::blob::{BlobRecord, CopySource, FileSource, ForeignSource, OwnSource, Stamped, refuse_archived};
use crate::body::{Body, too_large};
use crate::download::Download;
use crate::fault::Answer;
use crate::store::{CopiedFrom, CopyMark, CopyOf, CopyPlan, NewCopiedFile, Sealing};
use crate::{Context, Services, fresh_uuid};

/// The longest file.
const LONGEST: u64 = 4 << 40;

pub struct CopyFile {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    pub source: CopySource,
    /// The source as reads of the copy show it.
    pub shown_source: String,
    pub given: GivenFile,
}

/// What the request gives the copy in place of what its source has.
#[derive(Clone, Debug)]
pub struct GivenFile {
    pub smb: SmbWishes,
    /// The copy is marked for the next backup, whatever its attributes are.
    pub sets_archive: bool,
    /// None: the source's.
    pub metadata: Option<Metadata>,
    pub posix: PosixWishes,
    /// The mode of the source, of a share for NFS.
    pub mode_of_source: bool,
    /// The owner and the group of the source.
    pub owner_of_source: bool,
}

#[derive(Clone, Debug)]
pub struct FileCopied {
    pub stamped: Stamped,
    pub id: Uuid,
    pub status: CopyStatus,
}

impl CopyFile {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<FileCopied> {
        let Self { at, preconditions, source, shown_source, given } = self;
        let (place, conditions) = (&at, &preconditions);
        services
            .look(
                context,
                |view| async move { Ok(view.path(place).await?.judge(policy::CopyFile, conditions)?) },
            )
            .await?;
        let of = CopyOf { id: fresh_uuid(), source: shown_source };
        let copy = Copy { at: &at, preconditions: &preconditions, given: &given, of };
        match source {
            CopySource::File(file) => copy.copy_file(services, context, &file).await,
            CopySource::Own(own) => copy.copy_blob(services, context, &own).await,
            CopySource::Foreign(foreign) => {
                let ForeignSource { headers, metadata, body, length, again, .. } = foreign;
                let described = Source { headers: &headers, metadata: &metadata, record: None, length };
                let bytes = Bytes { body, length, again: again.map(CopiedFrom::Foreign) };
                copy.copy_bytes(services, context, bytes, &copy.file(described)?).await
            }
        }
    }
}

struct Copy<'a> {
    at: &'a FileAddress,
    preconditions: &'a Preconditions,
    given: &'a GivenFile,
    of: CopyOf,
}

/// What a source says of itself.
struct Source<'a> {
    headers: &'a ContentHeaders,
    metadata: &'a Metadata,
    /// Of a file.
    record: Option<&'a PathRecord>,
    length: u64,
}

impl<'a> From<&'a BlobRecord> for Source<'a> {
    fn from(blob: &'a BlobRecord) -> Self {
        let (headers, metadata) = (&blob.headers, &blob.metadata);
        Self { headers, metadata, record: None, length: blob.length() }
    }
}

/// The file that the copy becomes.
struct Copied {
    new: NewPath,
    attributes: u32,
}

/// What is to be copied, and where it is found again.
struct Bytes {
    body: Body,
    length: u64,
    again: Option<CopiedFrom>,
}

impl Copy<'_> {
    async fn copy_file(
        &self,
        services: &Services,
        context: &Context,
        from: &FileSource,
    ) -> Answer<FileCopied> {
        let made = services
            .commit(context, |unit| async move {
                let admitted = unit.path(self.at).await?.admit(policy::CopyFile, self.preconditions)?;
                let source = unit.file_source(from, policy::CopyFile).await?;
                let length = source.content()?.length;
                let (headers, metadata) = (source.headers()?, source.metadata());
                let record = Some(source.record());
                let file = self.file(Source { headers, metadata, record, length })?;
                admitted.share_file(&source, &self.becomes(&file)).await
            })
            .await?;
        Ok(self.copied(&made, CopyStatus::Success))
    }

    async fn copy_blob(&self, services: &Services, context: &Context, own: &OwnSource) -> Answer<FileCopied> {
        let active = services.readers().enter();
        let view = services.view(context).await?;
        let source = view.copy_source(own, policy::CopyFile).await?;
        check_source(&source)?;
        view.check_readable(&own.account, &source, None)?;
        if is_shared(&source) {
            let made = services
                .commit(context, |unit| async move {
                    let admitted = unit.path(self.at).await?.admit(policy::CopyFile, self.preconditions)?;
                    let source = unit.copy_source(own, policy::CopyFile).await?;
                    check_source(&source)?;
                    if !is_shared(&source) {
                        return Err(Failure::new(ErrorCode::ServerBusy).cause("the source changed").into());
                    }
                    let file = self.file((&*source).into())?;
                    admitted.share_pages(&source, &self.becomes(&file)).await
                })
                .await?;
            return Ok(self.copied(&made, CopyStatus::Success));
        }
        let length = source.length();
        let origin = own.origin(source.etag);
        let download =
            Download::open(services, active, &view, &source.content, 0..length, None, origin).await?;
        // Copying takes long, and what it reads it reads by itself.
        drop(view);
        let file = self.file((&*source).into())?;
        let again = CopiedFrom::Own {
            account: own.account.to_string(),
            at: own.at.clone(),
            state: own.state,
            etag: source.etag,
        };
        let bytes = Bytes { body: download.into_body(), length, again: Some(again) };
        self.copy_bytes(services, context, bytes, &file).await
    }

    /// Copies bytes: here and now, or as a job.
    async fn copy_bytes(
        &self,
        services: &Services,
        context: &Context,
        source: Bytes,
        file: &Copied,
    ) -> Answer<FileCopied> {
        let length = source.length;
        if length > PAGES_COPIED {
            return Err(too_large(PAGES_COPIED));
        }
        if length > AT_ONCE {
            return self.begin(services, context, source, file).await;
        }
        let sealing = Sealing::default();
        let uploaded =
            copy_job::receive(services, BlobType::Page, source.body, length, false, &sealing).await?;
        check_length(&uploaded, length)?;
        let mut content = copy_job::new_content(services, BlobType::Page, uploaded).await?;
        let new = &content;
        let made = services
            .commit(context, |unit| async move {
                let admitted = unit.path(self.at).await?.admit(policy::CopyFile, self.preconditions)?;
                admitted.fill_file(new, &self.becomes(file)).await
            })
            .await?;
        content.settle();
        Ok(self.copied(&made, CopyStatus::Success))
    }

    async fn begin(
        &self,
        services: &Services,
        context: &Context,
        source: Bytes,
        file: &Copied,
    ) -> Answer<FileCopied> {
        let turn = services.copies().take().await?;
        let Bytes { body, length, again } = source;
        let at_work = services.running_copies().begin(self.of.id).ok_or(ErrorCode::ServerBusy)?;
        let plan = again.map(|source| CopyPlan {
            source,
            length,
            kind: BlobType::Page,
            sequence_number: 0,
            seals: false,
            blocks: None,
            cause: None,
        });
        let (plan, server) = (&plan, services.incarnation());
        let (made, job) = services
            .commit(context, |unit| async move {
                let admitted = unit.path(self.at).await?.admit(policy::CopyFile, self.preconditions)?;
                admitted.begin_file_copy(&self.becomes(file), length, server, plan.clone()).await
            })
            .await?;
        let owner = Context::of_owner(&context.account, ApiVersion::NEWEST);
        let target = Target { kind: BlobType::Page, mark: CopyMark::default() };
        let this = Try { job, target, length, sealing: Sealing::default() };
        copy_job::start(services.clone(), owner, body, this, (at_work, turn));
        Ok(self.copied(&made, CopyStatus::Pending))
    }

    fn becomes<'a>(&'a self, file: &'a Copied) -> NewCopiedFile<'a> {
        NewCopiedFile { new: &file.new, attributes: file.attributes, copy: &self.of }
    }

    fn copied(&self, made: &Described, status: CopyStatus) -> FileCopied {
        FileCopied { stamped: made.record.stamped(), id: self.of.id, status }
    }

    /// What is made of a source. Only a file has what is asked for by the word `source`.
    fn file(&self, source: Source<'_>) -> Result<Copied, Failure> {
        let Source { headers, metadata, record, length } = source;
        if length > LONGEST {
            return Err(too_large(LONGEST).0);
        }
        let given = self.given;
        let smb = &given.smb;
        let attributes = match &smb.attributes {
            Wish::Value(attributes) => *attributes,
            Wish::Source => FileAttributes::from_bits(of_file(record, "x-ms-file-attributes")?.attributes),
            _ => FileAttributes::NONE,
        };
        let attributes = attributes.without(FileAttributes::DIRECTORY);
        let attributes =
            if given.sets_archive { attributes.and(FileAttributes::ARCHIVE) } else { attributes };
        let time = |wish: &Wish<Timestamp>, header, theirs: fn(&PathRecord) -> Timestamp| match wish {
            Wish::Source => of_file(record, header).map(|file| Wish::Value(theirs(file))),
            wish => Ok(wish.clone()),
        };
        if smb.permission == Wish::Source {
            of_file(record, "x-ms-file-permission-copy-mode")?;
        }
        let smb = SmbWishes {
            attributes: Wish::Value(attributes),
            creation_time: time(&smb.creation_time, "x-ms-file-creation-time", |file| file.times.created)?,
            last_write_time: time(&smb.last_write_time, "x-ms-file-last-write-time", |file| {
                file.times.last_written
            })?,
            change_time: time(&smb.change_time, "x-ms-file-change-time", |file| file.times.changed)?,
            permission: smb.permission.clone(),
        };
        let new = NewPath {
            smb,
            restores: false,
            metadata: given.metadata.clone().unwrap_or_else(|| metadata.clone()),
            posix: self.posix(record)?,
            body: NewBody::File { length, headers: headers.clone() },
        };
        Ok(Copied { new, attributes: attributes.bits() })
    }

    fn posix(&self, record: Option<&PathRecord>) -> Result<PosixWishes, Failure> {
        let GivenFile { mut posix, mode_of_source, owner_of_source, .. } = *self.given;
        if !mode_of_source && !owner_of_source {
            return Ok(posix);
        }
        let theirs = record.and_then(|record| record.posix.as_ref()).ok_or(ErrorCode::UnsupportedHeader)?;
        if mode_of_source {
            posix.mode = FileMode::from_bits(theirs.mode & 0o7777);
        }
        if owner_of_source {
            (posix.owner, posix.group) = (Some(theirs.owner), Some(theirs.group));
        }
        Ok(posix)
    }
}

fn of_file<'a>(record: Option<&'a PathRecord>, header: &'static str) -> Result<&'a PathRecord, Failure> {
    record.ok_or_else(|| Failure::invalid_header(header, "source"))
}

fn check_source(source: &BlobRecord) -> Result<(), Failure> {
    if source.pending_copy().is_some() {
        return Err(ErrorCode::PendingCopyOperation.into());
    }
    refuse_archived(source)
}

/// Pages that are stored as the bytes of files are.
fn is_shared(source: &BlobRecord) -> bool {
    source.kind == BlobType::Page && Sealing::default().is_of(source)
}
