//! Performing Entity Group Transactions: a changeset of up to 100 changes, or one query.

use bytes::Bytes;
use http::StatusCode;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{self, Method, Op, Row, Service};
use lazuli_model::time::Timestamp;
use lazuli_service::Body;
use lazuli_service::pace::Pace;
use lazuli_service::table::{EntityChange, EntityGroupTransaction};
use uuid::Uuid;

use super::change_entity::changed;
use super::entity_change::{self, Unread};
use super::format::{Level, Preference};
use super::insert_entity::Inserted;
use super::multipart::{self, Part, Request};
use super::{BODY_LIMIT, address, is_early, query_entities, sas_scope};
use crate::call::Call;
use crate::head::Head;
use crate::headers;
use crate::query::Query;
use crate::reply::Reply;
use crate::request_headers::RequestHeaders;
use crate::response_body::ResponseBody;
use crate::target::{Target, table_resource};

const CHANGES_MAX: usize = 100;

pub async fn entity_group_transaction(mut call: Call) -> Result<Reply, Failure> {
    let content_type = call.head.header(headers::CONTENT_TYPE).unwrap_or_default();
    let boundary = multipart::boundary(content_type).ok_or(ErrorCode::InvalidInput)?.to_owned();
    let body = std::mem::replace(&mut call.body, Body::empty());
    let document = body.collect(BODY_LIMIT, &call.services).await?;
    let mut pace = Pace::default();
    let parts = multipart::parts(&document, &boundary);
    pace.spend(document.len()).await;
    // Some recorders and proxies rewrite the header; the body then still knows its own boundary.
    let parts = match parts {
        Some(parts) => parts,
        None => multipart::own_boundary(&document)
            .and_then(|own| multipart::parts(&document, own))
            .ok_or(ErrorCode::InvalidInput)?,
    };
    // One changeset, or one query outside of any.
    let [part] = &parts[..] else { return Err(ErrorCode::InvalidInput.into()) };
    let mut answer = Answer::new();
    match part.header(headers::CONTENT_TYPE).and_then(multipart::boundary) {
        Some(inner) => {
            let parts = multipart::parts(part.body, inner).ok_or(ErrorCode::InvalidInput)?;
            pace.spend(document.len()).await;
            match changeset(&call, &document, &parts).await {
                Ok(done) => answer.changeset(done.replies(&call)).await,
                Err(Refusal::Whole(failure)) => return Err(failure),
                Err(Refusal::Part(reply)) => answer.changeset(std::iter::once(*reply)).await,
            }
        }
        None => {
            let reply = query(call, part).await?;
            answer.open_batch();
            answer.part(reply);
        }
    }
    Ok(answer.finish())
}

enum Refusal {
    /// The batch itself cannot be read, or its sender may not do what it says.
    Whole(Failure),
    /// One change stands for the whole changeset.
    Part(Box<Reply>),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Whole(failure)
    }
}

/// What the answer to a change depends on.
struct Wanted {
    /// As this part spells it.
    table: String,
    level: Level,
    prefer: Preference,
}

/// A changeset that was carried out.
struct Changed {
    wanted: Vec<Wanted>,
    changes: Vec<EntityChange>,
    timestamps: Vec<Timestamp>,
}

impl Changed {
    fn replies(&self, call: &Call) -> impl Iterator<Item = Reply> {
        let (endpoint, account) = (call.service_endpoint(), &call.context.account);
        let changes = self.wanted.iter().zip(&self.changes).zip(&self.timestamps);
        changes.map(move |((wanted, change), timestamp)| {
            if change.op != Op::InsertEntity {
                return changed(change.op, Some(*timestamp)).header(headers::DATASERVICEVERSION, "1.0;");
            }
            let Wanted { table, level, prefer } = wanted;
            let inserted = Inserted { table, account, endpoint: &endpoint, level: *level, prefer: *prefer };
            inserted.reply(change, *timestamp).header(headers::DATASERVICEVERSION, "3.0;")
        })
    }
}

/// None of them is no changes (recorded): the answer holds nothing either.
async fn changeset(call: &Call, document: &Bytes, parts: &[Part<'_>]) -> Result<Changed, Refusal> {
    let count = parts.len();
    let refuse = |index: usize, prefer: Preference, failure: Failure| {
        Refusal::Part(Box::new(refused_part(call, index, count, prefer, failure)))
    };
    let (mut wanted, mut changes) = (Vec::with_capacity(count), Vec::with_capacity(count));
    if count == 0 {
        return Ok(Changed { wanted, changes, timestamps: Vec::new() });
    }
    let mut pace = Pace::default();
    for (index, part) in parts.iter().enumerate() {
        let request = multipart::request(part.body).ok_or(Failure::from(ErrorCode::InvalidInput))?;
        let head = sub_head(&call.head, &request)?;
        head.check_headers().map_err(|failure| refuse(index, Preference::Unsaid, failure))?;
        let prefer = Preference::of(&head);
        if count > CHANGES_MAX {
            let message = "The batch request operation exceeds the maximum 100 changes per change set.";
            let failure = Failure::new(ErrorCode::InvalidInput).with_message(message);
            return Err(refuse(CHANGES_MAX - 1, prefer, failure));
        }
        let row = sub_row(&head).map_err(|failure| refuse(index, prefer, failure))?;
        if !is_change(row.op) {
            return Err(refuse(index, prefer, ErrorCode::InvalidInput.into()));
        }
        call.grant.covers(row)?;
        let table = address::table(&head.target).map_err(|failure| refuse(index, prefer, failure))?;
        sas_scope::check_table(&call.grant, &table)?;
        pace.spend(part.body.len()).await;
        let sent = document.slice_ref(request.body);
        let change = match entity_change::read(&call.services, row, &head, &table, sent).await {
            Ok(change) => change,
            Err(Unread::Now(failure)) => return Err(refuse(index, prefer, failure)),
            Err(Unread::IfTableExists(failure)) => {
                let failure = address::unless_missing(call, &table, failure).await;
                return Err(refuse(index, prefer, failure));
            }
        };
        sas_scope::check_keys(&call.grant, &change.partition, &change.row)?;
        let level = Level::of(&head).map_err(|failure| refuse(index, prefer, failure))?;
        let same_table = |first: &Wanted| first.table.eq_ignore_ascii_case(&table);
        let grouped = match wanted.first().is_none_or(same_table) {
            true => check_group(&changes, &change),
            false => Err(ErrorCode::CommandsInBatchActOnDifferentPartitions.into()),
        };
        grouped.map_err(|failure| refuse(index, prefer, failure))?;
        wanted.push(Wanted { table, level, prefer });
        changes.push(change);
    }
    let table = wanted.first().map(|first| first.table.clone()).unwrap_or_default();
    let input = EntityGroupTransaction { table, changes };
    let timestamps = input.execute(&call.services, &call.context).await.map_err(|refused| {
        let prefer = wanted.get(refused.index).map_or(Preference::Unsaid, |wanted| wanted.prefer);
        refuse(refused.index, prefer, refused.fault.into())
    })?;
    Ok(Changed { wanted, changes: input.changes, timestamps })
}

/// One partition, each entity once.
fn check_group(before: &[EntityChange], change: &EntityChange) -> Result<(), Failure> {
    let Some(first) = before.first() else { return Ok(()) };
    if first.partition != change.partition {
        return Err(ErrorCode::CommandsInBatchActOnDifferentPartitions.into());
    }
    if before.iter().any(|earlier| earlier.row == change.row) {
        return Err(ErrorCode::InvalidDuplicateRow.into());
    }
    Ok(())
}

fn is_change(op: Op) -> bool {
    matches!(
        op,
        Op::InsertEntity
            | Op::UpdateEntity
            | Op::MergeEntity
            | Op::InsertOrReplaceEntity
            | Op::InsertOrMergeEntity
            | Op::DeleteEntity
    )
}

/// The one query that a batch may be.
async fn query(call: Call, part: &Part<'_>) -> Result<Reply, Failure> {
    let request = multipart::request(part.body).ok_or(ErrorCode::InvalidInput)?;
    let head = Box::new(sub_head(&call.head, &request)?);
    head.check_headers()?;
    let row = sub_row(&head)?;
    call.grant.covers(row)?;
    let Call { services, auth, sources, context, grant, head: outer, .. } = call;
    let inner = Call {
        services: services.clone(),
        auth: auth.clone(),
        sources: sources.clone(),
        head,
        row,
        context: context.clone(),
        grant: grant.clone(),
        body: Body::empty(),
    };
    let reply = match row.op {
        Op::GetEntity => query_entities::get_entity(inner).await,
        Op::QueryEntities => query_entities::query_entities(inner).await,
        _ => return Err(ErrorCode::InvalidInput.into()),
    };
    let outer = Call { services, auth, sources, head: outer, row, context, grant, body: Body::empty() };
    Ok(match reply {
        Ok(reply) => reply.header(headers::DATASERVICEVERSION, "3.0;"),
        Err(failure) => refused_part(&outer, 0, 1, Preference::Unsaid, failure),
    })
}

/// The request of a part, as if it had come on its own; its headers are still to be checked.
fn sub_head(outer: &Head, request: &Request<'_>) -> Result<Head, Failure> {
    let method = Method::parse(request.method).ok_or(ErrorCode::InvalidInput)?;
    let url = match request.url.split_once("://") {
        Some((_, rest)) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/"),
        None => request.url,
    };
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let path = path.strip_prefix('/').unwrap_or(path);
    let account = &outer.target.account;
    // In path style the account stands in front, in relative addresses perhaps not.
    let inside = match path.split_once('/') {
        Some((first, rest)) if outer.target.path_style && first.trim_end_matches("-secondary") == account => {
            rest
        }
        _ => path,
    };
    let (resource, container, object) = table_resource(inside)?;
    Ok(Head {
        method,
        raw_path: format!("/{path}"),
        query: Query::parse(query).map_err(|_| ErrorCode::InvalidUri)?,
        headers: RequestHeaders::of_lines(&request.headers)?,
        target: Target { account: account.clone(), resource, container, object, ..outer.target },
        peer: outer.peer,
        secure: outer.secure,
        request_id: outer.request_id,
        version: outer.version,
        version_sent: outer.version_sent.clone(),
        metadata_names: Vec::new(),
    })
}

fn sub_row(head: &Head) -> Result<&'static Row, Failure> {
    let method = super::method(head)?;
    let query = |name: &str| head.query.get(name);
    // An empty If-Match is there, and will be refused.
    let header = |name: &str| head.raw_header(name);
    operation::route(Service::Table, head.target.resource, method, &query, &header)
}

/// The answer of the change that failed, and with it all others: its message begins with its index.
fn refused_part(call: &Call, index: usize, count: usize, prefer: Preference, failure: Failure) -> Reply {
    let early = is_early(&failure, None) && failure.code != ErrorCode::InvalidInput;
    // Recorded: alone, what fails at the data is not counted.
    let prefix = if count == 1 && !is_early(&failure, None) { String::new() } else { format!("{index}:") };
    let message = format!(
        "{prefix}{}\nRequestId:{}\nTime:{}",
        failure.message(),
        call.head.request_id,
        call.services.wall_now().iso7()
    );
    let body = serde_json::json!({
        "odata.error": { "code": failure.code.name(), "message": { "lang": "en-US", "value": message } }
    });
    let mut reply = Reply::refused_part(failure.status()).header(headers::X_CONTENT_TYPE_OPTIONS, "nosniff");
    if !early {
        reply = prefer.applied(reply.header(headers::CACHE_CONTROL, "no-cache"));
    }
    reply
        .header(headers::DATASERVICEVERSION, "3.0;")
        .header(headers::CONTENT_TYPE, Level::Minimal.content_type())
        .bytes(Bytes::from(body.to_string()))
}

/// The multipart answer while it is written.
struct Answer {
    batch: String,
    changeset: String,
    out: Vec<u8>,
}

/// As parts spell them, in the order in which they stand.
const SHOWN: [(&str, &str); 10] = [
    ("X-Content-Type-Options", headers::X_CONTENT_TYPE_OPTIONS),
    ("Cache-Control", headers::CACHE_CONTROL),
    ("Preference-Applied", headers::PREFERENCE_APPLIED),
    ("DataServiceVersion", headers::DATASERVICEVERSION),
    ("Content-Type", headers::CONTENT_TYPE),
    ("Location", headers::LOCATION),
    ("DataServiceId", headers::DATASERVICEID),
    ("ETag", headers::ETAG),
    ("x-ms-continuation-NextPartitionKey", headers::X_MS_CONTINUATION_NEXTPARTITIONKEY),
    ("x-ms-continuation-NextRowKey", headers::X_MS_CONTINUATION_NEXTROWKEY),
];

impl Answer {
    fn new() -> Self {
        let fresh = |prefix: &str| format!("{prefix}_{}", Uuid::new_v4());
        Self { batch: fresh("batchresponse"), changeset: fresh("changesetresponse"), out: Vec::new() }
    }

    fn line(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
        self.out.extend_from_slice(b"\r\n");
    }

    fn open_batch(&mut self) {
        let line = format!("--{}", self.batch);
        self.line(&line);
    }

    async fn changeset(&mut self, replies: impl Iterator<Item = Reply>) {
        let mut pace = Pace::default();
        self.open_batch();
        let delimiter = format!("--{}", self.changeset);
        self.line(&format!("Content-Type: multipart/mixed; boundary={}", self.changeset));
        self.line("");
        for reply in replies {
            let before = self.out.len();
            self.line(&delimiter);
            self.part(reply);
            pace.spend(self.out.len() - before).await;
        }
        self.line(&format!("{delimiter}--"));
    }

    fn part(&mut self, reply: Reply) {
        self.line("Content-Type: application/http");
        self.line("Content-Transfer-Encoding: binary");
        self.line("");
        let reason = StatusCode::from_u16(reply.status).ok().and_then(|status| status.canonical_reason());
        self.line(&format!("HTTP/1.1 {} {}", reply.status, reason.unwrap_or_default()));
        for (spelled, name) in SHOWN {
            let Some(value) = reply.headers.get(name).and_then(|value| value.to_str().ok()) else { continue };
            self.out.extend_from_slice(spelled.as_bytes());
            self.out.extend_from_slice(b": ");
            // Inside of parts the type is written without spaces (recorded).
            match name {
                headers::CONTENT_TYPE => self.out.extend(value.bytes().filter(|byte| *byte != b' ')),
                _ => self.out.extend_from_slice(value.as_bytes()),
            }
            self.line("");
        }
        self.line("");
        if let ResponseBody::Full(Some(body)) = &reply.body {
            self.out.extend_from_slice(body);
        }
        self.line("");
    }

    fn finish(mut self) -> Reply {
        let line = format!("--{}--", self.batch);
        self.line(&line);
        super::data(Op::EntityGroupTransaction.row())
            .header(headers::CONTENT_TYPE, format!("multipart/mixed; boundary={}", self.batch))
            .bytes(self.out.into())
    }
}
