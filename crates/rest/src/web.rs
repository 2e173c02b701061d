//! The static website of an account: its container `$web`, served to browsers. Reading only, without credentials, and with
//! errors as pages.

use std::net::IpAddr;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use lazuli_model::access::Principal;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Op, Service};
use lazuli_model::service_properties::StaticWebsite;
use lazuli_model::version::ApiVersion;
use lazuli_service::shared::service_properties::get_service_properties;
use lazuli_service::{Body, Context};
use uuid::Uuid;

use crate::authorize::{Grant, Held};
use crate::blob::get_blob::{get_blob, get_blob_properties};
use crate::call::Call;
use crate::headers::{self, name};
use crate::reply::Reply;
use crate::request_body;
use crate::request_head::{Arrival, Malformed};
use crate::response_body::ResponseBody;
use crate::response_head::{ResponseHead, request_id};
use crate::serve::{Gateway, Served};
use crate::{target, xml};

const CONTAINER: &str = "$web";
/// What metrics and logs call every request here.
const OPERATION: &str = "StaticWebsite";
/// The version that the service's own web endpoint names.
const VERSION: HeaderValue = HeaderValue::from_static("2018-03-28");
const SERVER: HeaderValue = HeaderValue::from_static("Windows-Azure-Web/1.0 Microsoft-HTTPAPI/2.0");

/// Of a request, what is asked of the blob as well.
const ASKED: [HeaderName; 5] =
    [name::RANGE, name::IF_MATCH, name::IF_NONE_MATCH, name::IF_MODIFIED_SINCE, name::IF_UNMODIFIED_SINCE];
/// Of a blob, what browsers are told.
const TOLD: [HeaderName; 12] = [
    name::ACCEPT_RANGES,
    name::CACHE_CONTROL,
    name::CONTENT_DISPOSITION,
    name::CONTENT_ENCODING,
    name::CONTENT_LANGUAGE,
    name::CONTENT_LENGTH,
    name::CONTENT_MD5,
    name::CONTENT_RANGE,
    name::CONTENT_TYPE,
    name::ETAG,
    name::LAST_MODIFIED,
    name::ALLOW,
];

/// How a request names the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebAddress {
    /// `ACCOUNT.web.anything`, or with a zone: `ACCOUNT.z6.web.anything`.
    ByHost,
    /// The same, or `/ACCOUNT/` before the path: what comes to the port of the website.
    ByHostOrPath,
}

/// The account, and the path below its root, both as sent.
pub(crate) fn account<B>(request: &Request<B>, by: WebAddress) -> Option<(&str, &str)> {
    let path = request.uri().path();
    let path = path.strip_prefix('/').unwrap_or(path);
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let host = host.or(request.uri().authority().map(|authority| authority.as_str())).unwrap_or_default();
    if let Some(account) = of_host(host) {
        return Some((account, path));
    }
    match by {
        WebAddress::ByHost => None,
        WebAddress::ByHostOrPath => Some(path.split_once('/').unwrap_or((path, ""))),
    }
}

fn of_host(host: &str) -> Option<&str> {
    let (account, rest) = target::host_name(host)?.split_once('.')?;
    let (first, behind) = rest.split_once('.')?;
    let is_web = |label: &str, behind: &str| label.eq_ignore_ascii_case("web") && !behind.is_empty();
    let is_zone = |label: &str| {
        let digits = label.strip_prefix(['z', 'Z']).unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let zoned =
        || is_zone(first) && behind.split_once('.').is_some_and(|(label, behind)| is_web(label, behind));
    (!account.is_empty() && (is_web(first, behind) || zoned())).then_some(account)
}

impl Gateway {
    /// Answers a request to the website of an account.
    pub async fn serve_web<B>(
        &self,
        by: WebAddress,
        peer: Option<IpAddr>,
        secure: bool,
        request: Request<B>,
    ) -> Served
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
    {
        let (account, path) = match account(&request, by) {
            Some((account, path)) => (account.to_ascii_lowercase(), path.to_owned()),
            None => (String::new(), String::new()),
        };
        let (parts, body) = request.into_parts();
        let length = parts.headers.get(http::header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
        drop(request_body::service_body(body, length, false));
        let page =
            Page { gateway: self, account, path, method: parts.method, sent: parts.headers, peer, secure };
        let (id, is_head) = (lazuli_service::fresh_uuid(), page.method == Method::HEAD);
        let found = match parts.extensions.get::<Malformed>() {
            Some(malformed) => Err(malformed.failure()),
            None => page.find().await,
        };
        let reply = found.unwrap_or_else(Reply::from);
        let response = self.seal_web(reply, id, is_head);
        Served { response, operation: OPERATION, bytes_in: length.unwrap_or(0) }
    }

    fn seal_web(&self, mut reply: Reply, id: Uuid, is_head: bool) -> Response<ResponseBody> {
        let now = self.services.wall_now();
        let mut error = None;
        if let Some(failure) = reply.refusal.take() {
            reply.status = failure.status();
            error = Some(failure.code.name());
            if reply.status != 304 {
                let page = page_of(&failure, &id, &now.iso7());
                reply = reply.header(headers::CONTENT_TYPE, "text/html").bytes(page.into());
            }
        }
        let mut told = HeaderMap::with_capacity(16);
        for name in TOLD {
            if let Some(value) = reply.headers.remove(&name) {
                told.insert(name, value);
            }
        }
        if let Some(length) = reply.body.length()
            && !told.contains_key(name::CONTENT_LENGTH)
            && reply.status != 304
        {
            told.insert(name::CONTENT_LENGTH, length.into());
        }
        told.insert(name::SERVER, SERVER);
        told.insert(name::DATE, self.date.at(now));
        told.insert(name::X_MS_REQUEST_ID, request_id(id));
        told.insert(name::X_MS_VERSION, VERSION);
        if let Some(code) = error.or(reply.web_error) {
            told.insert(name::X_MS_ERROR_CODE, HeaderValue::from_static(code));
        }
        let mut response = Response::new(if is_head { ResponseBody::Empty } else { reply.body });
        *response.status_mut() =
            StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        *response.headers_mut() = told;
        response
    }
}

struct Page<'a> {
    gateway: &'a Gateway,
    account: String,
    /// As sent.
    path: String,
    method: Method,
    sent: HeaderMap,
    peer: Option<IpAddr>,
    secure: bool,
}

impl Page<'_> {
    async fn find(&self) -> Result<Reply, Failure> {
        if !matches!(self.method, Method::GET | Method::HEAD) {
            let refused = Failure::new(ErrorCode::UnsupportedHttpVerb);
            return Ok(Reply::refused(refused).header(headers::ALLOW, "GET, HEAD"));
        }
        let not_found = || Failure::new(ErrorCode::WebContentNotFound);
        // Nothing is looked up of an account that is not configured.
        if self.gateway.auth.accounts.get(&self.account).is_none() {
            return Err(not_found());
        }
        let services = &self.gateway.services;
        let properties = get_service_properties(services, &self.account, Service::Blob).await?;
        let website = properties.static_website;
        if !website.enabled {
            return Err(not_found());
        }
        for path in candidates(&self.path, &website) {
            match self.read(&path, true).await {
                Err(failure) if is_absent(&failure) => {}
                found => return found,
            }
        }
        if let Some(path) = website.error_document_404_path.as_deref().filter(|path| !path.is_empty()) {
            match self.read(&escaped(path), false).await {
                Err(failure) if is_absent(&failure) => {}
                Err(failure) => return Err(failure),
                Ok(mut page) => {
                    page.status = 404;
                    page.web_error = Some(ErrorCode::WebContentNotFound.name());
                    return Ok(page);
                }
            }
        }
        Err(not_found())
    }

    /// Reads a blob of the website, as Get Blob does; `asked` says whether the range and the conditions of the request are
    /// about this blob.
    async fn read(&self, path: &str, asked: bool) -> Result<Reply, Failure> {
        let row = if self.method == Method::HEAD { Op::GetBlobProperties.row() } else { Op::GetBlob.row() };
        let uri: Uri = format!("/{}/{CONTAINER}/{}", self.account, path.trim_start_matches('/'))
            .parse()
            .map_err(|_| Failure::from(ErrorCode::InvalidUri))?;
        let mut request = Request::new(());
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.insert(HOST, HeaderValue::from_static("localhost"));
        headers.insert(name::X_MS_VERSION, HeaderValue::from_static(ApiVersion::NEWEST.as_str()));
        for name in ASKED.iter().filter(|_| asked) {
            if let Some(value) = self.sent.get(name) {
                headers.insert(name, value.clone());
            }
        }
        let services = self.gateway.services.clone();
        let arrival = Arrival {
            listener: Service::Blob,
            peer: self.peer,
            secure: self.secure,
            now: services.wall_now(),
        };
        let (_, head) = ResponseHead::open(&arrival, request.into_parts().0);
        let head = head?;
        head.check_headers()?;
        let context = Context {
            account: self.account.as_str().into(),
            version: ApiVersion::NEWEST,
            principal: Principal::Anonymous,
            encryption_scope: None,
            cause: None,
            patience: None,
        };
        let (auth, sources) = (self.gateway.auth.clone(), self.gateway.sources.clone());
        let (grant, body) = (Box::new(nobody()), Body::empty());
        let call = Call { services, auth, sources, head, row, context, grant, body };
        let reply = match row.op {
            Op::GetBlobProperties => get_blob_properties(call).await,
            _ => get_blob(call).await,
        }?;
        self.gateway.count(reply, row).await
    }
}

/// The blobs that a path may stand for, in order: itself, and the index of the directory that it names.
fn candidates(path: &str, website: &StaticWebsite) -> Vec<String> {
    let some = |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(escaped);
    let index = some(&website.index_document);
    let default = some(&website.default_index_document_path);
    let is_directory = path.is_empty() || path.ends_with('/');
    match (is_directory, index, default) {
        (true, Some(index), _) => vec![format!("{path}{index}")],
        (true, None, Some(default)) => vec![default],
        (true, None, None) => Vec::new(),
        (false, Some(index), _) => vec![path.to_owned(), format!("{path}/{index}")],
        (false, None, _) => vec![path.to_owned()],
    }
}

/// A name from the settings, as it stands in an address.
fn escaped(name: &str) -> String {
    const KEPT: &percent_encoding::AsciiSet =
        &percent_encoding::NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');
    percent_encoding::utf8_percent_encode(name, KEPT).to_string()
}

fn is_absent(failure: &Failure) -> bool {
    matches!(
        failure.code,
        ErrorCode::BlobNotFound
            | ErrorCode::ContainerNotFound
            | ErrorCode::ContainerBeingDeleted
            | ErrorCode::ResourceNotFound
    )
}

/// Whoever may see the website: it is public, whatever the access level of its container.
fn nobody() -> Grant {
    Grant {
        overrides: Default::default(),
        create_only: false,
        may_read_tags: false,
        anonymous: true,
        table: None,
        encryption_scope: None,
        delegation: None,
        claims: None,
        held: Held::Nothing,
    }
}

/// The page that the service shows.
fn page_of(failure: &Failure, id: &Uuid, time: &str) -> String {
    let (code, status) = (failure.code.name(), failure.status());
    let message = xml::escape(failure.message());
    format!(
        "<!DOCTYPE html><html><head><title>{code}</title></head><body><h1>{message}</h1><p><ul>\
         <li>HttpStatusCode: {status}</li><li>ErrorCode: {code}</li><li>RequestId : {id}</li>\
         <li>TimeStamp : {time}</li></ul></p></body></html>"
    )
}

#[cfg(test)]
mod tests;
