//! A request from its first line to its answer, the same for every service.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http::Response;
use lazuli_model::access::ContainerAccess;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{self, Method, Row, Service};
use lazuli_model::version::ApiVersion;
use lazuli_service::event::{Cause, api};
use lazuli_service::shared::service_properties::get_service_properties;
use lazuli_service::{Context, Services};
use tracing::Instrument;

use crate::auth::Auth;
use crate::authorize::authorize;
use crate::call::Call;
use crate::copy::Sources;
use crate::head::Head;
use crate::not_built::not_built;
use crate::reply::Reply;
use crate::request_head::Arrival;
use crate::response_body::ResponseBody;
use crate::response_head::{HttpDate, ResponseHead};
use crate::web::WebAddress;
use crate::{address, cors, dfs, headers, operations, request_body, table, web};

/// What addresses of the account's containers begin with, for the client of this request.
fn endpoint(head: &Head) -> String {
    let scheme = if head.secure { "https" } else { "http" };
    let host = head.header(headers::HOST).unwrap_or_default();
    match head.target.path_style {
        true => format!("{scheme}://{host}/{}", head.target.account),
        false => format!("{scheme}://{host}"),
    }
}

/// An answer, and what logs and metrics say about its request.
pub struct Served {
    pub response: Response<ResponseBody>,
    /// The name of the operation's row, or a word for a request that never found one: the set is small.
    pub operation: &'static str,
    /// Of the request's body, as announced.
    pub bytes_in: u64,
}

/// What listeners hand their requests to.
pub struct Gateway {
    pub services: Services,
    pub auth: Arc<Auth>,
    pub(crate) sources: Arc<Sources>,
    pub(crate) date: HttpDate,
    /// Of requests inside of another one's body: where that came to.
    endpoint: Option<String>,
}

impl Gateway {
    pub fn new(services: Services, auth: Auth) -> Self {
        let (sources, date) = (Arc::default(), HttpDate::default());
        Self { services, auth: Arc::new(auth), sources, date, endpoint: None }
    }

    /// Where copies may come from, beside the address that a request itself came to.
    #[must_use]
    pub fn with_sources(mut self, sources: Arc<Sources>) -> Self {
        self.sources = sources;
        self
    }

    /// The gateway of the requests inside of a request's body.
    pub(crate) fn inside(call: &Call) -> Self {
        let (services, auth) = (call.services.clone(), Arc::clone(&call.auth));
        let has_events = !services.options().features.of(&call.context.account).events.is_empty();
        let endpoint = has_events.then(|| endpoint(&call.head));
        Self { services, auth, sources: Arc::clone(&call.sources), date: HttpDate::default(), endpoint }
    }

    /// The answer alone.
    pub async fn serve<B>(
        &self,
        listener: Service,
        peer: Option<std::net::IpAddr>,
        secure: bool,
        request: http::Request<B>,
    ) -> Response<ResponseBody>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.serve_named(listener, peer, secure, request).await.response
    }

    /// `listener` is the service of the port, `secure` says that the request came over TLS.
    pub async fn serve_named<B>(
        &self,
        listener: Service,
        peer: Option<std::net::IpAddr>,
        secure: bool,
        request: http::Request<B>,
    ) -> Served
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if listener == Service::Blob && web::account(&request, WebAddress::ByHost).is_some() {
            return self.serve_web(WebAddress::ByHost, peer, secure, request).await;
        }
        let now = self.services.wall_now();
        let (parts, body) = request.into_parts();
        let arrival = Arrival { listener, peer, secure, now };
        let (mut response_head, head) = ResponseHead::open(&arrival, parts);
        let length = response_head.content_length;
        let span = response_head.span();
        let reply = match head {
            Ok(head) => {
                let body = request_body::service_body(body, length, head.header(headers::EXPECT).is_some());
                self.answer(head, body, &mut response_head).instrument(span.clone()).await
            }
            Err(failure) => {
                drop(request_body::service_body(body, length, false));
                failure.into()
            }
        };
        let response = span.in_scope(|| response_head.seal(reply, &self.date, &self.auth));
        Served { response, operation: response_head.operation(), bytes_in: length.unwrap_or(0) }
    }

    async fn answer(
        &self,
        mut head: Box<Head>,
        body: lazuli_service::Body,
        response_head: &mut ResponseHead,
    ) -> Reply {
        if let Err(failure) = head.check_headers() {
            return failure.into();
        }
        let served = self.serves(&head);
        if served {
            self.default_version(&mut head, response_head).await;
        }
        if head.method == Method::Options {
            if !served {
                return Failure::new(ErrorCode::CorsPreflightFailure).into();
            }
            return cors::preflight(&self.services, &head).await.unwrap_or_else(Reply::from);
        }
        if head.target.service == Service::Dfs {
            return dfs::refuse(&self.auth, &head, self.services.wall_now()).into();
        }
        let row = match find_row(&head) {
            Ok(row) => row,
            Err(failure) => return refuse_route(failure, &head),
        };
        response_head.row = Some(row);
        tracing::Span::current().record("operation", row.name());
        let cors = cors::Actual::of(&head).filter(|_| served);
        // A bug in one operation must not take the connection, or anybody else's request, with it.
        let reply = match AssertUnwindSafe(self.perform(head, row, body)).catch_unwind().await {
            Ok(Ok(reply)) => reply,
            Ok(Err(failure)) => failure.into(),
            Err(_) => Failure::new(ErrorCode::InternalError).cause("the operation panicked").into(),
        };
        match cors {
            Some(cors) => cors.decorate(&self.services, reply).await,
            None => reply,
        }
    }

    /// Nothing is looked up of an account that is not configured, whatever it left behind when it was.
    fn serves(&self, head: &Head) -> bool {
        self.auth.accounts.get(&head.target.account).is_some()
    }

    /// A request to the Blob service that names no version gets the one that the account's owner chose.
    async fn default_version(&self, head: &mut Head, response_head: &mut ResponseHead) {
        if response_head.names_version || head.target.service != Service::Blob {
            return;
        }
        let found = get_service_properties(&self.services, &head.target.account, Service::Blob).await;
        let chosen = found.ok().and_then(|properties| properties.default_service_version);
        if let Some(version) = chosen.as_deref().and_then(ApiVersion::parse) {
            head.version = version;
            response_head.choose_version(version);
        }
    }

    /// Authenticate, authorise by the row, act.
    pub(crate) async fn perform(
        &self,
        head: Box<Head>,
        row: &'static Row,
        body: lazuli_service::Body,
    ) -> Result<Reply, Failure> {
        let handler = operations::handler(row.op).ok_or_else(|| not_built(row.route.title))?;
        let now = self.services.wall_now();
        let credential = self.auth.authenticate(&head, now)?;
        let container = match credential.needs_container(row) && self.serves(&head) {
            true => self.container_access(&head).await?,
            false => None,
        };
        let grant = authorize(&credential, row, &head, container.as_ref(), now)?;
        address::check(&head, row)?;
        let (account, version) = (head.target.account.as_str().into(), head.version);
        let scope = head.header(headers::X_MS_ENCRYPTION_SCOPE).or(grant.encryption_scope.as_deref());
        let encryption_scope = scope.map(Into::into);
        let cause = self.cause(&head, row);
        let (principal, patience) = (grant.principal(), timeout(&head)?);
        let context = Context { account, version, principal, encryption_scope, cause, patience };
        check_body(&head, row)?;
        let (services, auth) = (self.services.clone(), Arc::clone(&self.auth));
        let sources = Arc::clone(&self.sources);
        let call = Call { services, auth, sources, head, row, context, grant: Box::new(grant), body };
        let reply = match row.route.service {
            Service::Table => table::preferred(call, handler).await,
            _ => handler(call).await,
        }?;
        self.count(reply, row).await
    }

    /// What events tell of a request; None where there are none to be raised.
    fn cause(&self, head: &Head, row: &Row) -> Option<Arc<Cause>> {
        api(row.op)?;
        if self.services.options().features.of(&head.target.account).events.is_empty() {
            return None;
        }
        let endpoint = self.endpoint.clone().unwrap_or_else(|| endpoint(head));
        let client_request_id = head.headers.find(headers::X_MS_CLIENT_REQUEST_ID);
        let client_request_id = client_request_id.and_then(|id| id.to_str().ok()).map(str::to_owned);
        Some(Arc::new(Cause { op: row.op, request_id: head.request_id, client_request_id, endpoint }))
    }

    /// Counts the body of an answer until its client has taken it. What only reads is refused when there is no memory
    /// for its answer; what has changed something is answered in any case.
    pub(crate) async fn count(&self, mut reply: Reply, row: &Row) -> Result<Reply, Failure> {
        let ResponseBody::Full(Some(bytes)) = &mut reply.body else { return Ok(reply) };
        let (bytes, outgoing) = (std::mem::take(bytes), self.services.outgoing());
        reply.body = ResponseBody::full(match row.op.writes() {
            true => outgoing.count_done(bytes, reply.share.take()),
            false => outgoing.count(bytes, reply.share.take()).await?,
        });
        Ok(reply)
    }

    async fn container_access(&self, head: &Head) -> Result<Option<ContainerAccess>, Failure> {
        let target = &head.target;
        let (services, account) = (&self.services, &target.account);
        // A batch names its table only in its parts, and in the token.
        let name = match target.service {
            Service::Table => head.query("tn").unwrap_or(&target.container),
            _ => &target.container,
        };
        if name.is_empty() {
            return Ok(None);
        }
        Ok(match target.service {
            Service::Blob => {
                let found = lazuli_service::blob::container_access(services, account, name);
                found.await?
            }
            Service::Queue => {
                let found = lazuli_service::queue::queue_access(services, account, name);
                found.await?
            }
            Service::Table => {
                let found = lazuli_service::table::table_access(services, account, name);
                found.await?
            }
            Service::File => {
                let found = lazuli_service::file::share_access(services, account, name);
                found.await?
            }
            Service::Dfs => None,
        })
    }
}

fn find_row(head: &Head) -> Result<&'static Row, Failure> {
    let target = &head.target;
    match target.service {
        Service::Dfs => return Err(not_built("The Data Lake (dfs) endpoint")),
        Service::Blob | Service::Queue | Service::Table | Service::File => {}
    }
    let query = |name: &str| head.query.get(name);
    if target.service == Service::Table {
        // An empty If-Match is there, and will be refused.
        let header = |name: &str| head.raw_header(name);
        return operation::route(target.service, target.resource, table::method(head)?, &query, &header);
    }
    let header = |name: &str| head.header(name);
    operation::route(target.service, target.resource, head.method, &query, &header)
}

/// A refused verb comes with the list of those that would do.
fn refuse_route(failure: Failure, head: &Head) -> Reply {
    if failure.status() != 405 {
        return failure.into();
    }
    let allowed = operation::allowed(head.target.service, head.target.resource);
    let allowed: Vec<&str> = allowed.into_iter().map(Method::as_str).collect();
    Reply::refused(failure).header(headers::ALLOW, allowed.join(", "))
}

/// A body must say how long it is before it begins.
fn check_body(head: &Head, row: &Row) -> Result<(), Failure> {
    let length = head.content_length()?;
    let carries = row.route.body != operation::Body::None;
    if carries && length.is_none() && head.method != Method::Get {
        return Err(ErrorCode::MissingContentLengthHeader.into());
    }
    Ok(())
}

/// `timeout` is a number of seconds; 0 is none. It bounds what waits for clients of SMB; the server's other limits are shorter
/// than any that clients ask for.
fn timeout(head: &Head) -> Result<Option<Duration>, Failure> {
    let Some(text) = head.query("timeout") else { return Ok(None) };
    let seconds = text.parse::<u32>().map_err(|_| Failure::invalid_query("timeout", text, ""))?;
    Ok(Some(seconds).filter(|seconds| *seconds > 0).map(|seconds| Duration::from_secs(seconds.into())))
}
