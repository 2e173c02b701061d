//! Cross-origin requests: the preflight, and the headers of actual requests. Rules are looked up only for
//! requests that name an origin.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Method, Op, Row, Service};
use lazuli_model::service_properties::CorsRule;
use lazuli_service::Services;
use lazuli_service::shared::service_properties::get_service_properties;

use crate::call::Call;
use crate::head::Head;
use crate::headers::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use crate::reply::Reply;

pub(crate) async fn preflight_of(call: Call) -> Result<Reply, Failure> {
    preflight(&call.services, &call.head).await
}

/// Preflights are answered before any row is looked for: they say nothing but the resource and the origin.
fn preflight_row(service: Service) -> &'static Row {
    match service {
        Service::Blob | Service::Dfs => Op::PreflightBlobRequest.row(),
        Service::File => Op::PreflightFileRequest.row(),
        Service::Queue => Op::PreflightQueueRequest.row(),
        Service::Table => Op::PreflightTableRequest.row(),
    }
}

/// The first rule that fits origin and method is the one; if it does not fit the headers, none does.
pub(crate) async fn preflight(services: &Services, head: &Head) -> Result<Reply, Failure> {
    let (Some(origin), Some(method)) = (head.header(ORIGIN), head.header(ACCESS_CONTROL_REQUEST_METHOD))
    else {
        return Err(Failure::new(ErrorCode::InvalidHeaderValue)
            .with_message("A required CORS header is not present."));
    };
    let asked = head.header(ACCESS_CONTROL_REQUEST_HEADERS).unwrap_or_default();
    let properties = get_service_properties(services, &head.target.account, head.target.service);
    let rules = properties.await?.cors;
    let rule = rules
        .iter()
        .find(|rule| allows_origin(rule, origin) && allows_method(rule, method))
        .filter(|rule| {
            asked.split(',').map(str::trim).all(|name| name.is_empty() || allows_header(rule, name))
        })
        .ok_or(ErrorCode::CorsPreflightFailure)?;
    let reply = Reply::of(preflight_row(head.target.service))
        .header(ACCESS_CONTROL_ALLOW_METHODS, method)
        .maybe(ACCESS_CONTROL_ALLOW_HEADERS, (!asked.is_empty()).then_some(asked))
        .header(ACCESS_CONTROL_MAX_AGE, rule.max_age_seconds);
    Ok(with_origin(reply, rule, origin))
}

/// A request that a page of another origin made.
pub(crate) struct Actual {
    origin: String,
    method: Method,
    account: String,
    service: Service,
}

impl Actual {
    pub fn of(head: &Head) -> Option<Self> {
        let origin = head.header(ORIGIN)?.to_owned();
        Some(Self {
            origin,
            method: head.method,
            account: head.target.account.clone(),
            service: head.target.service,
        })
    }

    /// Without a rule that fits, the request is served all the same; the browser then hides the answer.
    pub async fn decorate(&self, services: &Services, reply: Reply) -> Reply {
        let Ok(properties) = get_service_properties(services, &self.account, self.service).await else {
            return reply;
        };
        let rules = properties.cors;
        let is_read = matches!(self.method, Method::Get | Method::Head);
        let found = rules
            .iter()
            .find(|rule| allows_origin(rule, &self.origin) && allows_method(rule, self.method.as_str()));
        // Caches must not give one origin what was answered to another.
        let varies = is_read && !rules.is_empty() && !found.is_some_and(allows_everybody);
        let reply = if varies { reply.header(VARY, "Origin") } else { reply };
        let Some(rule) = found else { return reply };
        let exposed = rule.exposed_headers.join(",");
        let reply = reply.maybe(ACCESS_CONTROL_EXPOSE_HEADERS, (!exposed.is_empty()).then_some(exposed));
        with_origin(reply, rule, &self.origin)
    }
}

fn with_origin(reply: Reply, rule: &CorsRule, origin: &str) -> Reply {
    if allows_everybody(rule) {
        return reply.header(ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    }
    reply.header(ACCESS_CONTROL_ALLOW_ORIGIN, origin).header(ACCESS_CONTROL_ALLOW_CREDENTIALS, true)
}

fn allows_everybody(rule: &CorsRule) -> bool {
    rule.allowed_origins.iter().any(|allowed| allowed == "*")
}

/// Origins are compared exactly; `https://*.contoso.com` and `*.contoso.com` take every subdomain.
fn allows_origin(rule: &CorsRule, origin: &str) -> bool {
    rule.allowed_origins.iter().any(|allowed| match allowed.split_once('*') {
        Some(("", "")) => true,
        Some((before, after)) => {
            origin.len() > before.len() + after.len() && origin.starts_with(before) && origin.ends_with(after)
        }
        None => allowed == origin,
    })
}

fn allows_method(rule: &CorsRule, method: &str) -> bool {
    rule.allowed_methods.iter().any(|allowed| allowed.eq_ignore_ascii_case(method))
}

/// `x-ms-meta-*` stands for every name that begins so.
fn allows_header(rule: &CorsRule, name: &str) -> bool {
    rule.allowed_headers.iter().any(|allowed| match allowed.strip_suffix('*') {
        Some(prefix) => name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)),
        None => allowed.eq_ignore_ascii_case(name),
    })
}

#[cfg(test)]
mod tests;
