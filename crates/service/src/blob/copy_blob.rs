//! Copy Blob, Copy Blob From URL and Put Blob From URL: a whole blob from a source.
//!
//! A blob of this server is not read: the copy stands on its content, in one commit that checks both blobs. Where that
//! cannot be, the bytes are copied; Copy Blob then answers at once, and a job goes on (`copy_job.rs`).

use lazuli_model::admission::{Hold, Preconditions};
use lazuli_model::blob::{BlobType, ContentHeaders, CopyStatus, CustomerKey, Tier};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::WritingOp;
use lazuli_model::tags::Tags;
use lazuli_model::version::ApiVersion;
use md5::{Digest as _, Md5};
use uuid::Uuid;

use super::copy_form::{Form, Target, check_target};
use super::copy_job::{AT_ONCE, FILES_COPIED, PAGES_COPIED, check_length};
use super::copy_source::{CopySource, FileSource, ForeignSource, OwnSource, SourceType};
use super::put_blob::BlobProperties;
use super::write::{check_customer_key, refuse_archived};
use super::{BlobAddress, BlobRecord, Digests, Stamped, copy_job};
use crate::body::{Body, too_large};
use crate::download::Download;
use crate::fault::{Answer, Fault};
use crate::store::{CopiedFrom, CopyMark, CopyOf, CopyPlan, NewCopy, Sealing, View};
use crate::upload::Uploaded;
use crate::{Context, Services, fresh_uuid};

pub struct CopyBlob {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    pub source: CopySource,
    /// The source as reads of the copy show it.
    pub shown_source: String,
    pub given: GivenProperties,
    /// What the bytes of the source hash to, as the caller says.
    pub md5: Option<[u8; 16]>,
    /// The answer names an MD5 in any case.
    pub tells_md5: bool,
    /// The largest source.
    pub limit: u64,
}

/// What the request gives the copy in place of what its source has.
#[derive(Clone, Debug, Default)]
pub struct GivenProperties {
    /// Each that is given replaces the source's.
    pub headers: ContentHeaders,
    /// The source's count for nothing.
    pub only_given_headers: bool,
    /// None: the source's.
    pub metadata: Option<Metadata>,
    pub tags: CopiedTags,
    pub tier: Option<Tier>,
    pub customer_key: Option<CustomerKey>,
    /// The copy of an append blob is sealed; otherwise it is not, whatever its source is.
    pub seals: bool,
    /// What protects the copy from the beginning. What protects the source does not.
    pub hold: Hold,
}

#[derive(Clone, Debug)]
pub enum CopiedTags {
    Given(Tags),
    /// Those of the source.
    Same,
}

impl Default for CopiedTags {
    fn default() -> Self {
        Self::Given(Tags::default())
    }
}

#[derive(Clone, Debug)]
pub struct Copied {
    pub stamped: Stamped,
    pub id: Uuid,
    pub status: CopyStatus,
    /// Of an operation that tells it.
    pub crc64: Option<u64>,
    /// Of the bytes, if it was given or is to be told.
    pub md5: Option<[u8; 16]>,
}

/// So often a copy begins again when its source was replaced meanwhile.
const TRIES: usize = 20;

impl CopyBlob {
    /// `op` is one of the three.
    pub async fn execute(self, services: &Services, context: &Context, op: WritingOp) -> Answer<Copied> {
        services.judge_early(context, &self.at, op, &self.preconditions).await?;
        let key = self.given.customer_key.as_ref();
        let sealing = services.sealing(context, &self.at.container, key).await?;
        let copy = Copy {
            at: &self.at,
            preconditions: &self.preconditions,
            given: &self.given,
            sealing,
            md5: self.md5,
            with_md5: self.tells_md5 || self.md5.is_some(),
            limit: self.limit,
            op,
            form: Form::of(op),
            of: CopyOf { id: fresh_uuid(), source: self.shown_source.clone() },
        };
        match self.source {
            CopySource::Own(own) => copy.copy_own(services, context, &own).await,
            CopySource::File(file) => copy.copy_file(services, context, &file).await,
            CopySource::Foreign(foreign) => {
                let ForeignSource { headers, metadata, body, length, of, again } = foreign;
                let described = Described { headers: &headers, metadata: &metadata, tags: None };
                let target = copy.target(of)?;
                let source = Bytes { body, length, again: again.map(CopiedFrom::Foreign) };
                copy.copy_bytes(services, context, source, &target, copy.properties(described)).await
            }
        }
    }
}

/// What is to be copied, and where it is found again.
struct Bytes {
    body: Body,
    length: u64,
    again: Option<CopiedFrom>,
}

struct Copy<'a> {
    at: &'a BlobAddress,
    preconditions: &'a Preconditions,
    given: &'a GivenProperties,
    /// Of the bytes that are copied, where they cannot be shared.
    sealing: Sealing,
    md5: Option<[u8; 16]>,
    with_md5: bool,
    limit: u64,
    op: WritingOp,
    form: Form,
    of: CopyOf,
}

/// Of the bytes, as far as they are known.
#[derive(Default)]
struct Hashes {
    crc64: Option<u64>,
    md5: Option<[u8; 16]>,
}

/// What a source says of itself.
struct Described<'a> {
    headers: &'a ContentHeaders,
    metadata: &'a Metadata,
    tags: Option<&'a Tags>,
}

impl<'a> From<&'a BlobRecord> for Described<'a> {
    fn from(blob: &'a BlobRecord) -> Self {
        Self { headers: &blob.headers, metadata: &blob.metadata, tags: Some(&blob.tags) }
    }
}

impl Copy<'_> {
    async fn copy_own(&self, services: &Services, context: &Context, own: &OwnSource) -> Answer<Copied> {
        for _ in 0..TRIES {
            let active = services.readers().enter();
            let view = services.view(context).await?;
            let source = view.copy_source(own, self.op).await?;
            self.check_source(&source, own, context)?;
            view.check_readable(&own.account, &source, own.customer_key.as_ref())?;
            let target = self.target(SourceType::of(&source))?;
            let is_shared = target.kind == source.kind
                && self.sealing.is_of(&source)
                && (own.account == context.account || source.encryption_scope.is_none())
                && view.may_share(&source).await?;
            if !is_shared {
                let length = source.length();
                let (key, origin) = (own.customer_key.as_ref(), own.origin(source.etag));
                let download =
                    Download::open(services, active, &view, &source.content, 0..length, key, origin).await?;
                // Copying takes long, and what it reads it reads by itself.
                drop(view);
                let properties = self.properties((&*source).into());
                let again = CopiedFrom::Own {
                    account: own.account.to_string(),
                    at: own.at.clone(),
                    state: own.state,
                    etag: source.etag,
                };
                let source = Bytes { body: download.into_body(), length, again: Some(again) };
                return self.copy_bytes(services, context, source, &target, properties).await;
            }
            let hashes = match self.form.tells_hash {
                true => self.hash(services, active, view, &source, own).await?,
                false => Hashes::default(),
            };
            let seen = &source;
            let shared = services
                .commit(context, |unit| async move {
                    let admitted = unit.blob(self.at).await?.admit(self.op, self.preconditions)?;
                    let source = unit.copy_source(own, self.op).await?;
                    self.check_source(&source, own, context)?;
                    let target = self.target(SourceType::of(&source))?;
                    check_target(admitted.record(), target.kind)?;
                    // Pages are written into one content; of the others the old bytes were looked at.
                    let is_seen = source.content.id == seen.content.id || source.kind == BlobType::Page;
                    if source.kind != seen.kind || !is_seen {
                        return Ok(None);
                    }
                    let properties = self.properties((&*source).into());
                    let shared = admitted.share(&source, self.form.keeps_blocks, &properties, &target.mark);
                    shared.await.map(Some)
                })
                .await?;
            if let Some(stamped) = shared {
                return Ok(self.copied(stamped, CopyStatus::Success, hashes));
            }
        }
        Err(ErrorCode::ServerBusy.into())
    }

    /// A file becomes a block blob: it stands on the file's content, or has its bytes where they are to be hashed or encrypted.
    async fn copy_file(&self, services: &Services, context: &Context, file: &FileSource) -> Answer<Copied> {
        let target = self.target(SourceType::BLOCK)?;
        let is_shared = !self.form.tells_hash && !self.with_md5 && self.sealing.is_none();
        if is_shared && target.kind == BlobType::Block {
            let target = &target;
            let stamped = services
                .commit(context, |unit| async move {
                    let admitted = unit.blob(self.at).await?.admit(self.op, self.preconditions)?;
                    let source = unit.file_source(file, self.op).await?;
                    check_target(admitted.record(), target.kind)?;
                    if source.content()?.length > self.limit {
                        return Err(too_large(self.limit));
                    }
                    let (headers, metadata) = (source.headers()?, source.metadata());
                    let properties = self.properties(Described { headers, metadata, tags: None });
                    admitted.share_file(&source, &properties, &target.mark).await
                })
                .await?;
            return Ok(self.copied(stamped, CopyStatus::Success, Hashes::default()));
        }
        let (source, length, download) = services
            .look(context, |view| async move {
                let active = services.readers().enter();
                let source = view.file_source(file, self.op).await?;
                let content = source.content()?;
                let length = content.length;
                let origin = file.origin(source.record().etag);
                let download =
                    Download::open(services, active, &view, content, 0..length, None, origin).await?;
                Ok((source, length, download))
            })
            .await?;
        if length > FILES_COPIED {
            return Err(too_large(FILES_COPIED));
        }
        let (headers, metadata) = (source.headers()?, source.metadata());
        let properties = self.properties(Described { headers, metadata, tags: None });
        // A file may be written to while it is copied: it is not read a second time.
        let bytes = Bytes { body: download.into_body(), length, again: None };
        self.copy_bytes(services, context, bytes, &target, properties).await
    }

    /// The CRC-64 of the source, and its MD5 where that is to be checked: only then its bytes are read.
    async fn hash(
        &self,
        services: &Services,
        active: crate::store::ActiveReader,
        view: View,
        source: &BlobRecord,
        own: &OwnSource,
    ) -> Answer<Hashes> {
        let (content, whole, origin) = (&source.content, 0..source.length(), own.origin(source.etag));
        let mut download = Download::open(services, active, &view, content, whole, None, origin).await?;
        drop(view);
        if !self.with_md5 {
            return Ok(Hashes { crc64: Some(download.crc64().await?), md5: None });
        }
        let reading = async move {
            let (mut md5, mut crc64) = (Md5::new(), lazuli_engine::Crc64::new());
            while let Some(bytes) = download.next().await {
                let bytes = bytes?;
                md5.update(&bytes);
                crc64.update(&bytes);
            }
            Ok::<_, Fault>((<[u8; 16]>::from(md5.finalize()), crc64.value()))
        };
        let (found, crc64) = services.aside(reading).await??;
        check_md5(self.md5, Some(found))?;
        Ok(Hashes { crc64: Some(crc64), md5: Some(found) })
    }

    /// Copies bytes: here and now, or as a job.
    async fn copy_bytes(
        &self,
        services: &Services,
        context: &Context,
        source: Bytes,
        target: &Target,
        properties: BlobProperties,
    ) -> Answer<Copied> {
        let length = source.length;
        let limit = match target.kind {
            BlobType::Page => self.limit.min(PAGES_COPIED),
            BlobType::Block | BlobType::Append => self.limit,
        };
        if length > limit {
            return Err(too_large(limit));
        }
        if self.form.may_be_pending && length > AT_ONCE {
            return self.begin(services, context, source, target, properties).await;
        }
        let uploaded =
            copy_job::receive(services, target.kind, source.body, limit, self.with_md5, &self.sealing)
                .await?;
        check_md5(self.md5, uploaded.md5)?;
        check_length(&uploaded, length)?;
        let mut content = copy_job::new_content(services, target.kind, uploaded).await?;
        let (new, properties) = (&content, &properties);
        let stamped = services
            .commit(context, |unit| async move {
                let admitted = unit.blob(self.at).await?.admit(self.op, self.preconditions)?;
                check_target(admitted.record(), target.kind)?;
                admitted.fill(target.kind, new, properties, &target.mark).await
            })
            .await?;
        content.settle();
        let Uploaded { crc64, md5, .. } = content.uploaded();
        Ok(self.copied(stamped, CopyStatus::Success, Hashes { crc64: Some(*crc64), md5: *md5 }))
    }

    async fn begin(
        &self,
        services: &Services,
        context: &Context,
        source: Bytes,
        target: &Target,
        properties: BlobProperties,
    ) -> Answer<Copied> {
        let turn = services.copies().take().await?;
        let Bytes { body, length, again } = source;
        let at_work = services.running_copies().begin(self.of.id).ok_or(ErrorCode::ServerBusy)?;
        let CopyMark { sequence_number, seals, blocks, .. } = target.mark;
        let plan = again.map(|source| CopyPlan {
            source,
            length,
            kind: target.kind,
            sequence_number,
            seals,
            blocks,
            cause: context.cause.clone(),
        });
        let (properties, plan, server) = (&properties, &plan, services.incarnation());
        let (stamped, pending) = services
            .commit(context, |unit| async move {
                let admitted = unit.blob(self.at).await?.admit(self.op, self.preconditions)?;
                check_target(admitted.record(), target.kind)?;
                let new = NewCopy {
                    at: self.at,
                    kind: target.kind,
                    copy: &self.of,
                    total: length,
                    server,
                    plan: plan.clone(),
                };
                admitted.begin_copy(new, properties).await
            })
            .await?;
        let owner = Context::of_owner(&context.account, ApiVersion::NEWEST);
        let owner = Context { cause: context.cause.clone(), ..owner };
        let (target, sealing) = (target.clone(), self.sealing.clone());
        let this = copy_job::Try { job: pending, target, length, sealing };
        copy_job::start(services.clone(), owner, body, this, (at_work, turn));
        Ok(self.copied(stamped, CopyStatus::Pending, Hashes::default()))
    }

    fn copied(&self, stamped: Stamped, status: CopyStatus, Hashes { crc64, md5 }: Hashes) -> Copied {
        Copied { stamped, id: self.of.id, status, crc64, md5 }
    }

    /// What is made of a source of this type.
    fn target(&self, source: SourceType) -> Result<Target, Failure> {
        let SourceType { kind, sequence_number, blocks } = source;
        let kind = self.form.kind(kind)?;
        let Self { given, form, of, .. } = self;
        if given.tier.is_some() && kind != BlobType::Block {
            return Err(ErrorCode::InvalidBlobTier.into());
        }
        // Nothing else can be sealed, and the caller counts on it.
        if given.seals && kind != BlobType::Append {
            return Err(ErrorCode::InvalidBlobType.into());
        }
        let copy = form.marks.then(|| of.clone());
        let mark = CopyMark { copy, creates: form.creates, sequence_number, seals: given.seals, blocks };
        Ok(Target { kind, mark })
    }

    fn check_source(&self, source: &BlobRecord, own: &OwnSource, context: &Context) -> Result<(), Failure> {
        if source.pending_copy().is_some() {
            return Err(ErrorCode::PendingCopyOperation.into());
        }
        if source.length() > self.limit {
            return Err(too_large(self.limit).0);
        }
        let is_online = self.given.tier.is_some_and(|tier| tier != Tier::Archive);
        if !(self.form.rehydrates && is_online && own.account == context.account) {
            refuse_archived(source)?;
        }
        check_customer_key(source, own.customer_key.as_ref())
    }

    fn properties(&self, source: Described<'_>) -> BlobProperties {
        let given = self.given;
        let tags = match &given.tags {
            CopiedTags::Given(tags) => tags.clone(),
            CopiedTags::Same => source.tags.cloned().unwrap_or_default(),
        };
        BlobProperties {
            headers: headers(given, source.headers),
            metadata: given.metadata.clone().unwrap_or_else(|| source.metadata.clone()),
            tags,
            tier: given.tier,
            customer_key: given.customer_key.clone(),
            hold: given.hold,
        }
    }
}

/// The MD5 belongs to the bytes, which are the same.
fn headers(given: &GivenProperties, source: &ContentHeaders) -> ContentHeaders {
    use lazuli_model::blob::ContentMd5;
    let own = &given.headers;
    let content_md5 = match &own.content_md5 {
        ContentMd5::None => source.content_md5.clone(),
        md5 => md5.clone(),
    };
    if given.only_given_headers {
        return ContentHeaders { content_md5, ..own.clone() };
    }
    let either = |own: &Option<String>, source: &Option<String>| own.clone().or_else(|| source.clone());
    ContentHeaders {
        content_type: either(&own.content_type, &source.content_type),
        content_encoding: either(&own.content_encoding, &source.content_encoding),
        content_language: either(&own.content_language, &source.content_language),
        content_disposition: either(&own.content_disposition, &source.content_disposition),
        cache_control: either(&own.cache_control, &source.cache_control),
        content_md5,
    }
}

fn check_md5(wanted: Option<[u8; 16]>, found: Option<[u8; 16]>) -> Result<(), Failure> {
    Digests { md5: wanted, crc64: None }.compare(found, 0)
}
