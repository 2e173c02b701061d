//! The source of a copy: found by its address, and read only by whom it may be read.
//!
//! A source of this server is not asked for over HTTP: a read of it is authorised as if its address had been sent in a
//! request of its own, and the service then looks at the blob itself. A source elsewhere is read only where the
//! configuration names its host.

mod address;
mod foreign;
mod kept;
mod public;

use std::net::SocketAddr;

use futures_util::future::BoxFuture;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use lazuli_model::access::ContainerAccess;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::name::TrailingDots;
use lazuli_model::operation::{Method, Op, Row, Service, Source};
use lazuli_service::blob::{
    Abroad, BlobAddress, CopySource, FileSource, ForeignAddress, ForeignSource, OwnSource, container_access,
};
use lazuli_service::file::{FileAddress, share_access};

pub(crate) use address::port_written;
pub use foreign::{BadSources, ForeignHosts};
pub(crate) use foreign::{ask, connector, is_inside};
pub use public::{BadAddresses, PublicAddresses};

use crate::auth::accounts::Accounts;
use crate::auth::sas;
use crate::authorize::{Grant, Held, authorize};
use crate::blob::properties::source_customer_key;
use crate::call::Call;
use crate::file;
use crate::head::Head;
use crate::headers;
use crate::preconditions;
use crate::query::Query;
use crate::target::Target;
use address::SourceUrl;
use foreign::SourceRequest;

/// Where sources may be.
#[derive(Default)]
pub struct Sources {
    /// What the Blob and the File service listen on.
    own: Vec<(Service, SocketAddr)>,
    /// By which clients reach them, where that is something else: a balancer's.
    public: PublicAddresses,
    foreign: ForeignHosts,
    /// By whose keys what a copy keeps of its source is sealed.
    accounts: Accounts,
}

impl Sources {
    pub fn new(own: Vec<(Service, SocketAddr)>, foreign: ForeignHosts, accounts: Accounts) -> Self {
        Self { own, public: PublicAddresses::default(), foreign, accounts }
    }

    pub fn with_public(self, public: PublicAddresses) -> Self {
        Self { public, ..self }
    }

    /// Whether an address is one that the File service of this server has.
    pub(crate) fn is_own_file(&self, text: &str, asked: &Head) -> bool {
        let url = SourceUrl::absolute(text);
        url.and_then(|url| self.service_of(&url, asked)) == Some(Service::File)
    }

    /// Which service of ours serves the source, if one does.
    fn service_of(&self, url: &SourceUrl, asked: &Head) -> Option<Service> {
        let named = self.public.service_of(url.host_name(), url.port(), url.is_secure());
        named.or_else(|| url.service_of(asked, &self.own))
    }
}

/// Copies that are begun again without their request.
impl Abroad for Sources {
    fn open<'a>(&'a self, source: &'a ForeignAddress) -> BoxFuture<'a, Result<ForeignSource, Failure>> {
        Box::pin(async move {
            let source = kept::open(&self.accounts, source)
                .ok_or_else(|| unverified(ErrorCode::AuthenticationFailed.into()))?;
            let asked = SourceRequest::again(&source)
                .ok_or_else(|| Failure::invalid_header(headers::X_MS_COPY_SOURCE, ""))?;
            self.foreign.open(&asked).await
        })
    }
}

/// What a request to copy names.
pub(crate) struct Asked {
    pub source: CopySource,
    /// As reads of the copy show it: without what a signature needs.
    pub shown: String,
}

/// Finds the source of a request and sees to it that the caller may read it. `with_tags`: its tags too.
pub(crate) async fn source(call: &Call, with_tags: bool) -> Result<Asked, Failure> {
    let text = call.head.required_header(headers::X_MS_COPY_SOURCE)?;
    let url = SourceUrl::parse(text, &call.head)
        .ok_or_else(|| Failure::invalid_header(headers::X_MS_COPY_SOURCE, text))?;
    let given = preconditions::source(&call.head)?;
    let customer_key = match takes_source_key(call.row.op) {
        true => source_customer_key(&call.head)?,
        false => None,
    };
    let shown = url.shown();
    let Some(service) = call.sources.service_of(&url, &call.head) else {
        // The layers of a snapshot elsewhere are not known.
        if call.row.op == Op::IncrementalCopyBlob {
            return Err(ErrorCode::InvalidSourceBlobUrl.into());
        }
        let mut foreign = call.sources.foreign.open(&SourceRequest::of(call, url)?).await?;
        let account = call.sources.accounts.get(&call.context.account);
        foreign.again = foreign.again.and_then(|again| kept::seal(account.as_deref()?, again));
        return Ok(Asked { source: CopySource::Foreign(foreign), shown });
    };
    let head = head_of(call, &url, service)?;
    let is_file = head.target.service == Service::File;
    // Recorded of Copy File.
    if call.row.op == Op::CopyFile && head.target.object.is_empty() {
        return Err(unverified(ErrorCode::InvalidQueryParameterValue.into()));
    }
    // Files have no tags, for a condition or to be copied.
    let reads_tags = !is_file && (with_tags || given.if_tags.is_some());
    let checked = match is_file {
        true => file::address::check(&head, Op::GetFile.row()),
        false => crate::address::check(&head, Op::GetBlob.row()),
    };
    checked.map_err(|failure| match is_looked_at(call, &head) {
        true => failure,
        false => unverified(failure),
    })?;
    authorised(call, &head, reads_tags).await.map_err(unverified)?;
    if is_file {
        let path = file::address::path(&head)?;
        let at = FileAddress {
            share: head.target.container.clone(),
            snapshot: file::address::share_snapshot(&head),
            path: path.names().to_vec(),
        };
        let source = FileSource { account: head.target.account.as_str().into(), at, preconditions: given };
        return Ok(Asked { source: CopySource::File(source), shown });
    }
    let source = OwnSource {
        account: head.target.account.as_str().into(),
        at: BlobAddress { container: head.target.container.clone(), blob: head.target.object.clone() },
        state: crate::address::state(&head),
        preconditions: given,
        customer_key,
    };
    Ok(Asked { source: CopySource::Own(source), shown })
}

/// Whether the operation reads sources that are encrypted with a key of the customer's.
fn takes_source_key(op: Op) -> bool {
    matches!(op, Op::PutBlobFromUrl | Op::PutBlockFromUrl | Op::PutPageFromUrl | Op::AppendBlockFromUrl)
}

/// Copy Blob looks at a source of its own account itself.
fn is_looked_at(call: &Call, head: &Head) -> bool {
    call.row.policy.source == Source::Looked && head.target.account == *call.context.account
}

/// What the read of a source is told becomes what the copy is told.
fn unverified(failure: Failure) -> Failure {
    let status = failure.status();
    let message = failure.message().to_owned();
    Failure { cause: failure.cause, ..Failure::new(ErrorCode::CannotVerifyCopySource) }
        .with_status(status)
        .with_message(message)
}

/// The read of the source, as a request of its own.
fn head_of(call: &Call, url: &SourceUrl, service: Service) -> Result<Head, Failure> {
    let refuse = || Failure::invalid_header(headers::X_MS_COPY_SOURCE, url.text());
    let query = Query::parse(url.query()).map_err(|_| refuse())?;
    let target = Target::parse(service, url.host(), url.path(), &query).map_err(|_| refuse())?;
    let mut headers = HeaderMap::new();
    // Copy Blob does not take a token for its source.
    if call.row.policy.source != Source::Looked
        && let Some(value) = call.head.headers.find(headers::X_MS_COPY_SOURCE_AUTHORIZATION)
    {
        headers.insert(AUTHORIZATION, value.clone());
        // A file is read by a token only for this, which the request says of both.
        if let Some(intent) = call.head.headers.find(headers::X_MS_FILE_REQUEST_INTENT) {
            headers.insert(headers::X_MS_FILE_REQUEST_INTENT, intent.clone());
        }
    }
    // What the request says of dots in its source's name is what a request for that file would say itself.
    let dots = file::address::trailing_dots(&call.head, headers::X_MS_SOURCE_ALLOW_TRAILING_DOT)?;
    if service == Service::File && dots == TrailingDots::Kept {
        headers.insert(headers::X_MS_ALLOW_TRAILING_DOT, HeaderValue::from_static("true"));
    }
    Ok(Head {
        method: Method::Get,
        raw_path: url.path().to_owned(),
        query,
        headers: headers.into(),
        target,
        peer: call.head.peer,
        secure: url.is_secure(),
        request_id: call.head.request_id,
        version: call.head.version,
        version_sent: None,
        metadata_names: Vec::new(),
    })
}

async fn authorised(call: &Call, head: &Head, reads_tags: bool) -> Result<(), Failure> {
    let row = match head.target.service {
        Service::Blob => Op::GetBlob.row(),
        Service::File => Op::GetFile.row(),
        _ => return Err(ErrorCode::ResourceNotFound.into()),
    };
    if head.target.object.is_empty() {
        return Err(ErrorCode::ResourceNotFound.into());
    }
    // The holder of an account may copy inside of it. The operations that read their source as a client would need a
    // credential for it in any case (recorded).
    if is_looked_at(call, head) && call.grant.held == Held::Everything && !sas::is_sas(&head.query) {
        return Ok(());
    }
    let now = call.services.wall_now();
    let credential = call.auth.authenticate(head, now)?;
    let account = call.auth.accounts.get(&head.target.account);
    let container = match credential.needs_container(row) && account.is_some() {
        true => container_of(call, head, row).await?,
        false => None,
    };
    let Grant { may_read_tags, .. } = authorize(&credential, row, head, container.as_ref(), now)?;
    if reads_tags && !may_read_tags {
        return Err(ErrorCode::AuthorizationPermissionMismatch.into());
    }
    Ok(())
}

/// What the container or share of the source says of its readers.
async fn container_of(call: &Call, head: &Head, row: &Row) -> Result<Option<ContainerAccess>, Failure> {
    let (account, name) = (&head.target.account, &head.target.container);
    Ok(match row.route.service {
        Service::File => share_access(&call.services, account, name).await?,
        _ => container_access(&call.services, account, name).await?,
    })
}
