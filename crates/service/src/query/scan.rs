//! A query on its way through its input: bytes in, rows and errors out, in slices.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lazuli_model::Timestamp;
use lazuli_model::query::{Aggregates, Asked, Json, Problem, Query, Row, Select, Value, Work};

use super::delimited::{COLUMNS, Delimited, Field, Read};
use super::row::{Columns, Document, bind};
use super::sink::Sink;
use super::{Format, json};
use crate::pace::SLICE;

/// A record of the input is no longer.
pub(super) const RECORD_MAX: usize = 4 * 1024 * 1024;
/// Results are handed out when they are so many bytes.
const OUTPUT: usize = 64 * 1024;
/// The work of finding a record, beside that for its bytes.
const RECORD: usize = 64;
/// Bytes of a letter.
const LONGEST_LETTER: usize = 4;
/// What some programs begin a text with.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// Errors are handed out when there are so many.
const ERRORS: usize = 100;

/// Something that went wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// The query ends with it.
    pub fatal: bool,
    pub name: &'static str,
    pub description: String,
    /// Where the record begins in the blob.
    pub position: u64,
}

/// Why a slice ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// More bytes are needed, or word that there are none.
    Input,
    /// There are results to hand out, or it was enough for one turn.
    Turn,
    Done,
}

pub(super) struct Scan {
    query: Arc<Query>,
    input: Arc<Format>,
    now: Timestamp,
    buffer: Vec<u8>,
    /// So much of the buffer has been read.
    consumed: usize,
    /// Where in the blob that is.
    offset: u64,
    /// Nothing follows what is in the buffer.
    ended: bool,
    /// The record that is unread needs more bytes than these; it is looked at again when there are twice as many.
    too_few: usize,
    place: json::Place,
    /// Where the last document began.
    last_document: u64,
    /// Its records that were not asked about yet, and the memory that it takes.
    records: VecDeque<Json>,
    records_size: usize,
    work: Work,
    fields: Vec<Field>,
    /// The names of the columns and where the columns of the query are, once they are known.
    head: Option<Arc<Head>>,
    aggregates: Option<Aggregates>,
    /// Bytes of the batch that `sys.split` is measuring.
    batch: u64,
    done: bool,
    sink: Sink,
    pub errors: Vec<QueryError>,
}

struct Head {
    names: Option<Vec<String>>,
    bound: Vec<usize>,
}

impl Scan {
    /// A query that ends soon after `stopped` is set.
    pub fn new(
        query: Query,
        input: Format,
        output: Format,
        now: Timestamp,
        stopped: Arc<AtomicBool>,
    ) -> Self {
        let aggregates = match &query.select {
            Select::Aggregates(aggregates) => Some(Aggregates::new(aggregates)),
            _ => None,
        };
        let sink = Sink::new(output, query.limit);
        Self {
            done: sink.is_full(),
            query: Arc::new(query),
            input: Arc::new(input),
            now,
            buffer: Vec::new(),
            consumed: 0,
            offset: 0,
            ended: false,
            too_few: 0,
            place: json::Place::default(),
            last_document: 0,
            records: VecDeque::new(),
            records_size: 0,
            work: Work::until(stopped),
            fields: Vec::new(),
            head: None,
            aggregates,
            batch: 0,
            sink,
            errors: Vec::new(),
        }
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.consumed);
        self.consumed = 0;
        self.buffer.extend_from_slice(bytes);
    }

    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Bytes that are held.
    pub fn held(&self) -> usize {
        self.buffer.len() + self.records_size + self.aggregates.as_ref().map_or(0, Aggregates::held)
    }

    /// The rows that were made since the last time.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.sink.out)
    }

    /// About the work of the next slice, as bytes that are looked at.
    pub fn work(&self) -> usize {
        let records = self.records.len().saturating_mul(RECORD);
        (self.buffer.len() - self.consumed + records).saturating_mul(1 + self.query.cost() / 4)
    }

    /// Ends the query for a reason outside of it.
    pub fn give_up(&mut self, description: &str) {
        let fatal = self.fatal("ServerBusy", description.to_owned());
        self.fail(fatal);
    }

    pub fn advance(&mut self) -> Stop {
        let mut spent = 0;
        while !self.done {
            if self.sink.out.len() >= OUTPUT || self.errors.len() >= ERRORS || spent >= SLICE {
                return Stop::Turn;
            }
            if self.work.is_stopped() {
                self.done = true;
                break;
            }
            if let Some(record) = self.records.pop_front() {
                if let Err(fatal) = self.object(&record) {
                    self.fail(fatal);
                }
                if self.records.is_empty() {
                    self.records = VecDeque::new();
                    self.records_size = 0;
                }
                self.done |= self.sink.is_full();
                spent += self.work.take_spent() + RECORD;
                continue;
            }
            let unread = self.buffer.len() - self.consumed;
            if !self.ended && (unread == 0 || unread < self.too_few.saturating_mul(2)) {
                return Stop::Input;
            }
            match self.step() {
                Ok(Some(length)) => {
                    self.consumed += length;
                    self.offset += length as u64;
                    self.too_few = 0;
                    self.done |= self.sink.is_full();
                    spent += length + self.work.take_spent() + RECORD;
                }
                Ok(None) if unread > RECORD_MAX => {
                    let fatal =
                        self.fatal("ParseError", format!("A record is longer than {RECORD_MAX} bytes."));
                    self.fail(fatal);
                }
                Ok(None) if self.ended => {
                    let fatal = self.fatal("ParseError", "The last record is not complete.".to_owned());
                    self.fail(fatal);
                }
                Ok(None) => {
                    self.too_few = unread.min(RECORD_MAX / 2);
                    return Stop::Input;
                }
                Err(fatal) => self.fail(fatal),
            }
        }
        Stop::Done
    }

    /// Reads a record and tells what the query makes of it. `None` says that it goes on behind what is there.
    fn step(&mut self) -> Result<Option<usize>, QueryError> {
        let buffer = std::mem::take(&mut self.buffer);
        let input = Arc::clone(&self.input);
        let bytes = buffer.get(self.consumed..).unwrap_or_default();
        let stepped = match &*input {
            _ if self.offset == 0 && bytes.starts_with(BYTE_ORDER_MARK) => Ok(Some(BYTE_ORDER_MARK.len())),
            _ if self.offset == 0 && !self.ended && BYTE_ORDER_MARK.starts_with(bytes) => Ok(None),
            Format::Delimited(format) => self.record(format, bytes),
            Format::Json { separator } => self.document(separator, bytes),
        };
        self.buffer = buffer;
        stepped
    }

    fn fatal(&self, name: &'static str, description: String) -> QueryError {
        QueryError { fatal: true, name, description, position: self.offset }
    }

    fn fail(&mut self, fatal: QueryError) {
        self.errors.push(fatal);
        self.done = true;
    }

    /// A record that the query cannot be asked about is told of and left out.
    fn report(&mut self, result: Result<(), Problem>, position: u64) -> Result<(), QueryError> {
        let Err(Problem { name, description, is_fatal: fatal }) = result else { return Ok(()) };
        let error = QueryError { fatal, name, description: description.to_owned(), position };
        if fatal {
            return Err(error);
        }
        self.errors.push(error);
        Ok(())
    }

    fn record(&mut self, format: &Delimited, bytes: &[u8]) -> Result<Option<usize>, QueryError> {
        if bytes.is_empty() && self.ended {
            return self.finish();
        }
        let mut fields = std::mem::take(&mut self.fields);
        let length = match format.read(bytes, self.ended, &mut fields) {
            Read::Record(length) => length,
            Read::More => return Ok(None),
            Read::TooManyColumns => {
                let description = format!("A record has more than {COLUMNS} columns.");
                return Err(self.fatal("ParseError", description));
            }
            Read::OpenQuote => {
                return Err(self.fatal("ParseError", "A quoted field is not closed.".to_owned()));
            }
        };
        let is_header = self.head.is_none() && format.headers;
        let head = match &self.head {
            Some(head) => Arc::clone(head),
            None => {
                let text = |field: &Field| format.text(bytes, *field).into_owned();
                let names = format.headers.then(|| fields.iter().map(text).collect());
                let head = Arc::new(self.bound(names)?);
                self.head = Some(Arc::clone(&head));
                head
            }
        };
        let query = Arc::clone(&self.query);
        let result = match &query.select {
            Select::Split(size) => self.split(length, *size),
            _ if is_header => Ok(()),
            _ => {
                let row = Columns { format, bytes, fields: &fields, bound: &head.bound };
                self.columns(&query, &row, head.names.as_deref())
            }
        };
        self.fields = fields;
        self.report(result, self.offset)?;
        Ok(Some(length))
    }

    fn bound(&self, names: Option<Vec<String>>) -> Result<Head, QueryError> {
        match bind(&self.query, names.as_deref()) {
            Ok(bound) => Ok(Head { names, bound }),
            Err(name) => Err(self.fatal("InvalidColumnName", format!("There is no column '{name}'."))),
        }
    }

    fn columns(&mut self, query: &Query, row: &Columns<'_>, names: Option<&[String]>) -> Result<(), Problem> {
        if !self.wants(query, row)? {
            return Ok(());
        }
        if !matches!(query.select, Select::All) {
            return self.selected(query, row);
        }
        // Behind the record there is what is not read yet.
        self.work.spend(row.fields.iter().map(Field::length).sum())?;
        let name = |at: usize| names.and_then(|names| names.get(at)).map(|name| Cow::from(name.as_str()));
        let cell = |at: usize| (name(at), row.text(at).map_or(Value::Missing, Value::Text));
        self.sink.take(&(0..row.fields.len()).map(cell).collect())
    }

    fn split(&mut self, length: usize, size: u64) -> Result<(), Problem> {
        self.batch += length as u64;
        if self.batch < size {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.batch);
        self.sink.take(&vec![(None, Value::Int(i64::try_from(batch).unwrap_or(i64::MAX)))])
    }

    fn document(&mut self, separator: &[u8], bytes: &[u8]) -> Result<Option<usize>, QueryError> {
        let (json, start, end, size) = match self.place.read(bytes, self.ended, separator) {
            json::Read::Document { json, start, end, size } => (json, start, end, size),
            json::Read::Between(length) => return Ok(Some(length)),
            json::Read::More => return Ok(None),
            json::Read::Nothing => return self.finish(),
            // A number that breaks off behind its `e`, say, is wrong as it stands and may be right with what follows.
            json::Read::Malformed { at, .. } if !self.ended && bytes.len() < at + LONGEST_LETTER => {
                return Ok(None);
            }
            json::Read::Malformed { at, expected } => return Err(self.malformed(bytes, at, expected)),
            json::Read::TooManyValues => {
                return Err(self.fatal("ParseError", "A document has too many values.".to_owned()));
            }
        };
        self.last_document = self.offset + start as u64;
        json.records(&self.query.from, &mut self.records);
        self.records_size = size;
        Ok(Some(end))
    }

    /// Asks about a record of the last document.
    fn object(&mut self, json: &Json) -> Result<(), QueryError> {
        let query = Arc::clone(&self.query);
        let result = self.answer(&query, json);
        self.report(result, self.last_document)
    }

    fn answer(&mut self, query: &Query, json: &Json) -> Result<(), Problem> {
        let row = Document { query, json };
        if !self.wants(query, &row)? {
            return Ok(());
        }
        match (&query.select, json) {
            (Select::All, Json::Object(members)) => {
                let cells = members.iter().map(|(name, value)| (Some(name.as_str().into()), value.value()));
                self.sink.take(&cells.collect())
            }
            (Select::All, _) => {
                self.sink.take_nothing();
                Ok(())
            }
            _ => self.selected(query, &row),
        }
    }

    fn wants(&self, query: &Query, row: &dyn Row) -> Result<bool, Problem> {
        query.wants(&Asked { row, now: self.now, work: &self.work })
    }

    fn selected(&mut self, query: &Query, row: &dyn Row) -> Result<(), Problem> {
        let asked = Asked { row, now: self.now, work: &self.work };
        match &query.select {
            Select::Items(items) => {
                let mut cells = Vec::with_capacity(items.len());
                for item in items {
                    cells.push((item.name.as_deref().map(Cow::from), item.value(&asked)?));
                }
                self.sink.take(&cells)
            }
            Select::Aggregates(aggregates) => match &mut self.aggregates {
                Some(counted) => counted.add(aggregates, &asked),
                None => Ok(()),
            },
            Select::All | Select::Split(_) => Ok(()),
        }
    }

    fn malformed(&self, bytes: &[u8], at: usize, expected: &str) -> QueryError {
        let token = String::from_utf8_lossy(
            bytes.get(at..(at + LONGEST_LETTER).min(bytes.len())).unwrap_or_default(),
        );
        let place = self.offset + at as u64;
        let description = match token.chars().next() {
            Some(token) => format!("Unexpected token '{token}' at [byte: {place}]. {expected}"),
            None => format!("Unexpected end at [byte: {place}]. {expected}"),
        };
        let description = description.trim_end().to_owned();
        QueryError { fatal: true, name: "ParseError", description, position: self.last_document }
    }

    /// The input has been read to its end.
    fn finish(&mut self) -> Result<Option<usize>, QueryError> {
        self.done = true;
        let query = Arc::clone(&self.query);
        let result = match (&query.select, &self.aggregates) {
            (Select::Aggregates(aggregates), Some(counted)) => {
                let values = counted.values(aggregates);
                let names = aggregates.iter().map(|aggregate| aggregate.name.as_deref().map(Cow::from));
                self.sink.take(&names.zip(values).collect())
            }
            (Select::Split(_), _) if self.batch > 0 => {
                let rest = self.batch;
                self.split(0, rest)
            }
            _ => Ok(()),
        };
        self.report(result, self.offset)?;
        Ok(Some(0))
    }
}
