//! Requests of the Table service, signed by the one SAS, and the entities in its answers. Properties are strings here:
//! what else they can be is tested elsewhere.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::Trial;
use crate::sas::{ACCOUNT, signed};
use crate::wire::{Answer, Client, Request};

pub const TABLE: &str = "chaos";
const JSON: &str = "application/json;odata=minimalmetadata";

pub type Properties = BTreeMap<String, String>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Insert,
    /// Without If-Match: Insert Or Merge.
    Merge,
    /// Without If-Match: Insert Or Replace.
    Replace,
    Delete,
}

/// A change to one entity, alone or in a group.
#[derive(Clone, Debug)]
pub struct Change {
    pub verb: Verb,
    pub partition: String,
    pub row: String,
    pub properties: Properties,
    pub if_match: Option<String>,
}

impl Change {
    fn method(&self) -> &'static str {
        match self.verb {
            Verb::Insert => "POST",
            Verb::Merge => "PATCH",
            Verb::Replace => "PUT",
            Verb::Delete => "DELETE",
        }
    }

    fn path(&self) -> String {
        match self.verb {
            Verb::Insert => TABLE.to_owned(),
            _ => entity(&self.partition, &self.row),
        }
    }

    fn body(&self) -> String {
        if self.verb == Verb::Delete {
            return String::new();
        }
        let mut body: Map<String, Value> =
            self.properties.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        body.insert("PartitionKey".to_owned(), self.partition.clone().into());
        body.insert("RowKey".to_owned(), self.row.clone().into());
        Value::Object(body).to_string()
    }

    pub fn request(&self) -> Request {
        let request = signed(self.method(), &self.path(), "").header("Accept", JSON);
        let request =
            request.header("Content-Type", "application/json").maybe("If-Match", self.if_match.clone());
        request.header("Prefer", "return-no-content").body(self.body())
    }

    fn part(&self, number: usize) -> String {
        let (method, path, body) = (self.method(), self.path(), self.body());
        let mut part = format!(
            "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: {number}\r\n\r\n\
             {method} http://127.0.0.1/{ACCOUNT}/{path} HTTP/1.1\r\nAccept: {JSON}\r\n\
             Content-Type: application/json\r\nPrefer: return-no-content\r\n"
        );
        if let Some(etag) = &self.if_match {
            part.push_str(&format!("If-Match: {etag}\r\n"));
        }
        part.push_str(&format!("\r\n{body}\r\n"));
        part
    }
}

fn entity(partition: &str, row: &str) -> String {
    format!("{TABLE}(PartitionKey='{partition}',RowKey='{row}')")
}

pub fn create() -> Request {
    create_named(TABLE)
}

pub fn create_named(table: &str) -> Request {
    signed("POST", "Tables", "")
        .header("Accept", JSON)
        .header("Content-Type", "application/json")
        .body(format!("{{\"TableName\":\"{table}\"}}"))
}

pub fn delete_named(table: &str) -> Request {
    signed("DELETE", &format!("Tables('{table}')"), "").header("Accept", JSON)
}

pub fn get(partition: &str, row: &str) -> Request {
    signed("GET", &entity(partition, row), "").header("Accept", JSON)
}

/// An entity group transaction.
pub fn group(changes: &[Change]) -> Request {
    let mut body = "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n".to_owned();
    for (number, change) in changes.iter().enumerate() {
        body.push_str(&format!("--changeset_1\r\n{}", change.part(number)));
    }
    body.push_str("--changeset_1--\r\n--batch_1--\r\n");
    signed("POST", "$batch", "")
        .header("Accept", JSON)
        .header("Content-Type", "multipart/mixed; boundary=batch_1")
        .body(body)
}

/// What a group was told: the ETags of its entities in order (empty for those deleted), or which of its changes was
/// refused and why.
pub type GroupAnswer = Result<Vec<String>, (usize, String)>;

pub fn group_answer(answer: &Answer, changes: usize) -> Trial<GroupAnswer> {
    let text = String::from_utf8_lossy(&answer.body);
    let parts: Vec<&str> = text.split("HTTP/1.1 ").skip(1).collect();
    let strange = || format!("a group was answered {}: {text}", told(answer));
    if answer.status != 202 {
        return Err(strange());
    }
    if let [part] = parts.as_slice()
        && !part.starts_with("204")
    {
        let error = part.find('{').and_then(|at| part.get(at..)).unwrap_or_default();
        let error = error.rfind('}').and_then(|end| error.get(..=end)).unwrap_or_default();
        let error: Value = serde_json::from_str(error).map_err(|_| strange())?;
        let code = error.pointer("/odata.error/code").and_then(Value::as_str).ok_or_else(strange)?;
        let message = error.pointer("/odata.error/message/value").and_then(Value::as_str).unwrap_or_default();
        // Without a number it is the only one.
        let index = message.split_once(':').and_then(|(index, _)| index.parse().ok()).unwrap_or(0);
        return Ok(Err((index, code.to_owned())));
    }
    if parts.len() != changes || !parts.iter().all(|part| part.starts_with("204")) {
        return Err(strange());
    }
    let etag = |part: &&str| {
        let line = part.lines().find_map(|line| line.strip_prefix("ETag: "));
        line.unwrap_or_default().trim().to_owned()
    };
    Ok(Ok(parts.iter().map(etag).collect()))
}

/// The service's word for what went wrong, out of the document: there need be no header.
pub fn code(answer: &Answer) -> String {
    let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    document.pointer("/odata.error/code").and_then(Value::as_str).unwrap_or_default().to_owned()
}

pub fn told(answer: &Answer) -> String {
    format!("{} {}", answer.status, code(answer))
}

pub fn expect(answer: Answer, status: u16, what: &str) -> Trial<Answer> {
    match answer.status == status {
        true => Ok(answer),
        false => Err(format!("{what}: {} instead of {status}", told(&answer))),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity {
    pub row: String,
    pub etag: String,
    pub properties: Properties,
}

pub fn read(answer: &Answer) -> Trial<Entity> {
    let document = serde_json::from_slice(&answer.body).map_err(|error| format!("no entity: {error}"))?;
    one(&document)
}

fn one(document: &Value) -> Trial<Entity> {
    let members = document.as_object().ok_or("an entity is no object")?;
    let mut entity = Entity { row: String::new(), etag: String::new(), properties: Properties::new() };
    for (name, value) in members {
        let text = value.as_str().ok_or_else(|| format!("{name} is {value}"))?.to_owned();
        match name.as_str() {
            "RowKey" => entity.row = text,
            "odata.etag" => entity.etag = text,
            "PartitionKey" | "Timestamp" => {}
            name if name.contains("odata.") => {}
            _ => drop(entity.properties.insert(name.clone(), text)),
        }
    }
    Ok(entity)
}

/// `after`: where an earlier page ended.
fn page(partition: &str, after: &str) -> Request {
    query_where(&format!("PartitionKey%20eq%20'{partition}'{after}"))
}

/// As many of a partition's entities as one answer holds: one snapshot of up to 1000.
pub fn query(partition: &str) -> Request {
    page(partition, "")
}

/// The filter as it is sent.
pub fn query_where(filter: &str) -> Request {
    signed("GET", &format!("{TABLE}()"), &format!("$filter={filter}")).header("Accept", JSON)
}

pub fn entities(answer: &Answer) -> Trial<Vec<Entity>> {
    let document: Value =
        serde_json::from_slice(&answer.body).map_err(|error| format!("no page: {error}"))?;
    let values = document.get("value").and_then(Value::as_array).ok_or("a page without values")?;
    values.iter().map(one).collect()
}

/// A partition, page after page.
pub async fn all(client: &mut Client, partition: &str) -> Trial<Vec<Entity>> {
    let mut found = Vec::new();
    let mut after = String::new();
    loop {
        let answer = expect(client.must(&page(partition, &after)).await?, 200, "Query Entities")?;
        found.extend(entities(&answer)?);
        let next = |name: &str| answer.header(&format!("x-ms-continuation-{name}")).map(str::to_owned);
        let Some(partition) = next("NextPartitionKey") else { return Ok(found) };
        let row = next("NextRowKey").unwrap_or_default();
        after = format!("&NextPartitionKey={partition}&NextRowKey={row}");
    }
}
