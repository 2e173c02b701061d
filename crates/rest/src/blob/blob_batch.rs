//! Blob Batch: up to 256 Delete Blob or Set Blob Tier requests in one body. Each is authorised, carried out and answered
//! as if it had come on its own; what one is told does not depend on the others.

mod answer;

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, stream};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{self, Method, Op, Row, Service};
use lazuli_service::Body;
use lazuli_service::pace::Pace;

use self::answer::Answer;
use crate::call::Call;
use crate::head::Head;
use crate::headers;
use crate::multipart::{self, Part};
use crate::part_head::{self, Named};
use crate::query::Query;
use crate::reply::Reply;
use crate::serve::Gateway;
use crate::target::blob_resource;

const PARTS_MAX: usize = 256;
const BODY_LIMIT: usize = 4 * 1024 * 1024;
/// So many blobs are worked on at once: their commits share a sync, and one batch does not take all there is. Parts about
/// one blob wait for each other.
const AT_ONCE: usize = 16;

pub async fn blob_batch(mut call: Call) -> Result<Reply, Failure> {
    call.preconditions()?;
    let content_type = call.head.header(headers::CONTENT_TYPE).unwrap_or_default();
    let boundary = multipart::boundary(content_type).ok_or(ErrorCode::InvalidInput)?.to_owned();
    let body = std::mem::replace(&mut call.body, Body::empty());
    let document = body.collect(BODY_LIMIT, &call.services).await?;
    let mut pace = Pace::default();
    pace.spend(document.len()).await;
    let mut answer = Answer::new(&call);
    if multipart::exceeds(&document, &boundary, PARTS_MAX) {
        // Recorded: the batch was taken, and holds one answer for all of its parts.
        answer.whole(ErrorCode::ExceedsMaxBatchRequestCount.into());
        return Ok(answer.finish());
    }
    let parts = multipart::parts_of(&document, &boundary).ok_or(ErrorCode::InvalidInput)?;
    if parts.is_empty() {
        return Err(ErrorCode::InvalidInput.into());
    }
    if parts.len() > PARTS_MAX {
        answer.whole(ErrorCode::ExceedsMaxBatchRequestCount.into());
        return Ok(answer.finish());
    }
    let asked = parts.iter().map(|part| Asked::read(&call, part)).collect::<Result<Vec<_>, _>>()?;
    if asked.iter().zip(asked.iter().skip(1)).any(|(one, next)| one.op != next.op) {
        return Err(ErrorCode::AllBatchSubRequestsShouldBeSameApi.into());
    }
    let gateway = &Gateway::inside(&call);
    let lines = stream::iter(lines(asked)).map(|line| perform(gateway, line));
    let mut outcomes: Vec<(usize, Done)> = lines.buffer_unordered(AT_ONCE).concat().await;
    outcomes.sort_unstable_by_key(|(index, _)| *index);
    for (_, done) in outcomes {
        answer.part(done);
    }
    Ok(answer.finish())
}

/// Parts about one blob, with their indices, in the order in which they stand.
type Line = Vec<(usize, Asked)>;

fn lines(asked: Vec<Asked>) -> Vec<Line> {
    let mut lines: BTreeMap<(String, String), Line> = BTreeMap::new();
    for (index, asked) in asked.into_iter().enumerate() {
        let target = asked.routed.as_ref().ok().map(|(head, _)| &head.target);
        let blob = target.map(|target| (target.container.clone(), target.object.clone()));
        lines.entry(blob.unwrap_or_default()).or_default().push((index, asked));
    }
    lines.into_values().collect()
}

async fn perform(gateway: &Gateway, line: Line) -> Vec<(usize, Done)> {
    let mut outcomes = Vec::with_capacity(line.len());
    for (index, asked) in line {
        outcomes.push((index, asked.perform(gateway).await));
    }
    outcomes
}

/// What a part asks for.
struct Asked {
    content_id: Option<String>,
    client_request_id: Option<String>,
    request_id: uuid::Uuid,
    op: Op,
    /// Refused before it was looked at by whom it comes from: the address cannot be read, or a header.
    routed: Result<(Box<Head>, &'static Row), Failure>,
}

/// What came of a part.
struct Done {
    content_id: Option<String>,
    client_request_id: Option<String>,
    request_id: uuid::Uuid,
    reply: Reply,
}

impl Asked {
    /// A part that is no request, or one for another operation, is an error of the whole batch.
    fn read(call: &Call, part: &Part<'_>) -> Result<Self, Failure> {
        let request = multipart::request(part.body).ok_or(ErrorCode::InvalidInput)?;
        let header = |wanted: &str| {
            request
                .headers
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
                .map(|(_, value)| *value)
        };
        let request_id = lazuli_service::fresh_uuid();
        let head =
            part_head::read(&call.head, &request, request_id, |path, query| named(&call.head, path, query));
        let routed = head.and_then(|head| {
            let found = operation::route(
                Service::Blob,
                head.target.resource,
                head.method,
                &|name: &str| head.query.get(name),
                &|name: &str| head.header(name),
            );
            found.map(|row| (Box::new(head), row))
        });
        let op = match &routed {
            Ok((_, row)) => row.op,
            // It still is one of the two, and has an answer of its own.
            Err(_) if Method::parse(request.method) == Some(Method::Delete) => Op::DeleteBlob,
            Err(_) if Method::parse(request.method) == Some(Method::Put) => Op::SetBlobTier,
            Err(_) => return Err(ErrorCode::InvalidInput.into()),
        };
        if !matches!(op, Op::DeleteBlob | Op::SetBlobTier) {
            return Err(ErrorCode::InvalidInput.into());
        }
        let routed = routed.and_then(|(head, row)| {
            head.check_headers()?;
            check_container(call, &head)?;
            Ok((head, row))
        });
        Ok(Self {
            content_id: part.header("content-id").map(str::to_owned),
            client_request_id: header(headers::X_MS_CLIENT_REQUEST_ID).map(str::to_owned),
            request_id,
            op,
            routed,
        })
    }

    async fn perform(self, gateway: &Gateway) -> Done {
        let Self { content_id, client_request_id, request_id, routed, .. } = self;
        let reply = match routed {
            Ok((head, row)) => gateway.perform(head, row, Body::empty()).await,
            Err(failure) => Err(failure),
        };
        Done { content_id, client_request_id, request_id, reply: reply.unwrap_or_else(Reply::from) }
    }
}

/// The account stands in front of a path in path style, unless the client left it out. Where both can be meant, the
/// container of the batch tells; in a batch of the account, a path of two segments has no account in front.
fn named(outer: &Head, path: &str, query: &Query) -> Result<Named, Failure> {
    let bare = blob_resource(path, query);
    let Some(inside) = part_head::inside_account(outer, path) else { return bare };
    let is_deep = inside.contains('/') || query.given("restype").is_some();
    let is_ours = |named: &Named| outer.target.container.is_empty() || named.1 == outer.target.container;
    match blob_resource(inside, query) {
        Ok(named) if is_deep && is_ours(&named) => Ok(named),
        _ => bare,
    }
}

/// A batch of a container stays within it.
fn check_container(call: &Call, head: &Head) -> Result<(), Failure> {
    let container = &call.head.target.container;
    match container.is_empty() || *container == head.target.container {
        true => Ok(()),
        false => Err(ErrorCode::InvalidInput.into()),
    }
}
