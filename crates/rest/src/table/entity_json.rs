//! Entities as JSON, at three levels of metadata.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lazuli_model::admission::table::entity_etag;
use lazuli_model::odata::{EdmValue, ValueRef};
use lazuli_model::time::Timestamp;
use lazuli_service::pace::Pace;
use lazuli_service::table::Entity;
use lazuli_service::{Answer, Fault};

use super::address;
use super::format::Level;
use super::select::Select;

/// What the answers about one table have in common.
pub struct Writer<'a> {
    pub level: Level,
    pub account: &'a str,
    pub table: &'a str,
    /// The root of the service, with a slash at its end.
    pub endpoint: &'a str,
    /// `$select`; none for everything.
    pub select: Option<Select>,
}

/// Behind the last entity of a page.
const END: &[u8] = b"]}";

/// The body of a page.
pub struct Set {
    pub body: Vec<u8>,
    /// So many of the entities found room in it.
    pub written: usize,
}

impl Writer<'_> {
    /// `{"odata.metadata":…,"value":[…]}`, of up to `most` bytes; a single entity is shown whatever it takes.
    pub async fn set(&self, entities: &[Entity], most: usize) -> Answer<Set> {
        let likely = 64 + entities.iter().map(|entity| entity.size() + 300).sum::<usize>();
        let mut out = Vec::with_capacity(likely.min(most));
        let (mut written, mut pace) = (0, Pace::default());
        out.push(b'{');
        if self.level != Level::NoMetadata {
            self.metadata(&mut out, "");
            out.push(b',');
        }
        out.extend_from_slice(b"\"value\":[");
        for entity in entities {
            let before = out.len();
            if written > 0 {
                out.push(b',');
            }
            out.push(b'{');
            self.stored(&mut out, entity)?;
            out.push(b'}');
            pace.spend(entity.size() + out.len() - before).await;
            if out.len() + END.len() > most && written > 0 {
                out.truncate(before);
                break;
            }
            written += 1;
        }
        out.extend_from_slice(END);
        Ok(Set { body: out, written })
    }

    /// One entity as it is stored.
    pub fn one(&self, entity: &Entity) -> Answer<Vec<u8>> {
        let mut out = Vec::with_capacity(512 + entity.size());
        self.open_element(&mut out);
        self.stored(&mut out, entity)?;
        out.push(b'}');
        Ok(out)
    }

    /// One entity as it was sent and stored.
    pub fn echo(
        &self,
        partition: &str,
        row: &str,
        timestamp: Timestamp,
        properties: &[(String, EdmValue)],
    ) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        self.open_element(&mut out);
        let mut members = self.system(&mut out, partition, row, timestamp);
        for (name, value) in properties {
            members.property(name, &value.borrowed());
        }
        members.missing();
        out.push(b'}');
        out
    }

    fn open_element(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        if self.level != Level::NoMetadata {
            self.metadata(out, "/@Element");
            out.push(b',');
        }
    }

    fn metadata(&self, out: &mut Vec<u8>, kind: &str) {
        let mut url = format!("{}$metadata#{}{kind}", self.endpoint, self.table);
        if let Some(select) = &self.select {
            url.push_str("&$select=");
            url.push_str(&select.text);
        }
        member(out, "odata.metadata", &url);
    }

    fn stored(&self, out: &mut Vec<u8>, entity: &Entity) -> Answer<()> {
        let (partition, row) = entity.keys()?;
        let mut members = self.system(out, &partition, &row, entity.timestamp);
        for property in entity.properties() {
            let property = property?;
            let (name, value) = (property.name()?, property.value()?);
            members.property(name, &value);
        }
        members.missing();
        Ok::<_, Fault>(())
    }

    fn system<'o>(
        &'o self,
        out: &'o mut Vec<u8>,
        partition: &str,
        row: &str,
        timestamp: Timestamp,
    ) -> Members<'o> {
        let Self { level, account, table, endpoint, select } = self;
        let select = select.as_ref().filter(|select| !select.names().is_empty());
        let shown = vec![false; select.map_or(0, |select| select.names().len())];
        let mut members = Members { out, level: *level, select, shown, any: false };
        if *level == Level::Full {
            let path = address::entity(table, partition, row);
            members.annotation("odata.type", &format!("{account}.{table}"));
            members.annotation("odata.id", &format!("{endpoint}{path}"));
            members.annotation("odata.etag", &entity_etag(timestamp));
            members.annotation("odata.editLink", &path);
        } else if *level == Level::Minimal {
            members.annotation("odata.etag", &entity_etag(timestamp));
        }
        members.property("PartitionKey", &ValueRef::String(partition));
        members.property("RowKey", &ValueRef::String(row));
        members.timestamp(timestamp);
        members
    }
}

struct Members<'o> {
    out: &'o mut Vec<u8>,
    level: Level,
    select: Option<&'o Select>,
    /// For each of the selected names, whether the entity has it.
    shown: Vec<bool>,
    any: bool,
}

impl Members<'_> {
    fn comma(&mut self) {
        if self.any {
            self.out.push(b',');
        }
        self.any = true;
    }

    fn annotation(&mut self, name: &str, value: &str) {
        self.comma();
        member(self.out, name, value);
    }

    fn selects(&mut self, name: &str) -> bool {
        let Some(select) = self.select else { return true };
        match select.place(name).and_then(|place| self.shown.get_mut(place)) {
            Some(shown) => {
                *shown = true;
                true
            }
            None => false,
        }
    }

    /// The service marks its own time only where everything is marked.
    fn timestamp(&mut self, at: Timestamp) {
        if !self.selects("Timestamp") {
            return;
        }
        if self.level == Level::Full {
            self.annotation("Timestamp@odata.type", "Edm.DateTime");
        }
        self.annotation("Timestamp", &at.iso_trimmed());
    }

    fn property(&mut self, name: &str, value: &ValueRef<'_>) {
        if !self.selects(name) {
            return;
        }
        if self.level != Level::NoMetadata && is_marked(value) {
            self.annotation(&format!("{name}@odata.type"), value.edm_type().name());
        }
        self.comma();
        text(self.out, name);
        self.out.push(b':');
        self.value(value);
    }

    fn value(&mut self, value: &ValueRef<'_>) {
        match value {
            ValueRef::String(value) => text(self.out, value),
            ValueRef::Boolean(value) => self.plain(if *value { "true" } else { "false" }),
            ValueRef::Int32(value) => self.plain(&value.to_string()),
            ValueRef::Int64(value) => text(self.out, &value.to_string()),
            ValueRef::Double(value) => match serde_json::Number::from_f64(*value) {
                Some(number) => self.plain(&number.to_string()),
                None if value.is_nan() => text(self.out, "NaN"),
                None => text(self.out, if *value > 0.0 { "Infinity" } else { "-Infinity" }),
            },
            ValueRef::Guid(value) => {
                text(self.out, value.as_hyphenated().encode_lower(&mut uuid::Uuid::encode_buffer()))
            }
            ValueRef::DateTime(value) => text(self.out, &value.iso_trimmed()),
            ValueRef::Binary(bytes) => text(self.out, &BASE64_STANDARD.encode(bytes)),
        }
    }

    fn plain(&mut self, value: &str) {
        self.out.extend_from_slice(value.as_bytes());
    }

    /// What was selected and is not there is null.
    fn missing(mut self) {
        let Some(select) = self.select else { return };
        let shown = std::mem::take(&mut self.shown);
        for (name, _) in select.names().iter().zip(shown).filter(|(_, shown)| !shown) {
            self.comma();
            text(self.out, name);
            self.plain(":null");
        }
    }
}

/// What JSON alone does not tell: numbers that are not, and texts that are more.
fn is_marked(value: &ValueRef<'_>) -> bool {
    match value {
        ValueRef::Int64(_) | ValueRef::DateTime(_) | ValueRef::Guid(_) | ValueRef::Binary(_) => true,
        ValueRef::Double(value) => !value.is_finite(),
        ValueRef::String(_) | ValueRef::Boolean(_) | ValueRef::Int32(_) => false,
    }
}

fn member(out: &mut Vec<u8>, name: &str, value: &str) {
    text(out, name);
    out.push(b':');
    text(out, value);
}

fn text(out: &mut Vec<u8>, value: &str) {
    if is_plain(value.as_bytes()) {
        out.push(b'"');
        out.extend_from_slice(value.as_bytes());
        out.push(b'"');
        return;
    }
    // Writing a string into memory fails for no input.
    let _ = serde_json::to_writer(out, value);
}

/// Whether nothing needs escaping. Looked at in blocks without a way out of them, which the compiler turns into a
/// few instructions each: long texts are most of what a query answers.
fn is_plain(text: &[u8]) -> bool {
    let escaped = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    text.chunks(64).all(|block| !block.iter().fold(false, |any, &byte| any | escaped(byte)))
}

#[cfg(test)]
mod tests;
