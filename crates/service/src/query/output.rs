//! How results are written.

use std::borrow::Cow;

use lazuli_model::query::{Json, Value};

use super::Format;

/// What a row of the result consists of: each value with its name, if it has one.
pub(super) type Cells<'a> = Vec<(Option<Cow<'a, str>>, Value<'a>)>;

impl Format {
    pub(super) fn wants_header(&self) -> bool {
        matches!(self, Self::Delimited(format) if format.headers)
    }

    pub(super) fn write_header(&self, out: &mut Vec<u8>, cells: &Cells<'_>) {
        let named = |(at, (name, _)): (usize, &(Option<Cow<'_, str>>, Value<'_>))| {
            let name = name.as_deref().map_or_else(|| numbered(at), str::to_owned);
            (None, Value::Text(name.into()))
        };
        let names: Cells<'_> = cells.iter().enumerate().map(named).collect();
        self.write_row(out, &names, usize::MAX);
    }

    /// Writes a row; false as soon as it reaches beyond `most`.
    pub(super) fn write_row(&self, out: &mut Vec<u8>, cells: &Cells<'_>, most: usize) -> bool {
        match self {
            Self::Delimited(format) => {
                for (at, (_, value)) in cells.iter().enumerate() {
                    if at > 0 {
                        out.extend_from_slice(&format.column);
                    }
                    match value {
                        Value::Json(json) => {
                            let mut text = Vec::new();
                            write_json(&mut text, json);
                            format.write(out, &String::from_utf8_lossy(&text));
                        }
                        // Null is nothing.
                        other => format.write(out, &other.text().unwrap_or_default()),
                    }
                    if out.len() > most {
                        return false;
                    }
                }
                out.extend_from_slice(&format.record);
            }
            Self::Json { separator } => {
                out.push(b'{');
                let mut first = true;
                for (at, (name, value)) in cells.iter().enumerate() {
                    // What a document does not have is not made up.
                    if *value == Value::Missing {
                        continue;
                    }
                    if !std::mem::take(&mut first) {
                        out.push(b',');
                    }
                    match name {
                        Some(name) => write_text(out, name),
                        None => write_text(out, &numbered(at)),
                    }
                    out.push(b':');
                    write_value(out, value);
                    if out.len() > most {
                        return false;
                    }
                }
                out.push(b'}');
                out.extend_from_slice(separator);
            }
        }
        true
    }

    /// A document that is no object: it has no columns.
    pub(super) fn write_nothing(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(match self {
            Self::Delimited(format) => &format.record,
            Self::Json { separator } => separator,
        });
    }
}

/// A value without a name is called by its place, counted from 1.
fn numbered(at: usize) -> String {
    format!("_{}", at + 1)
}

fn write_value(out: &mut Vec<u8>, value: &Value<'_>) {
    match value {
        Value::Missing | Value::Null => out.extend_from_slice(b"null"),
        Value::Boolean(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        Value::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Float(number) => write_float(out, *number),
        Value::Text(text) => write_text(out, text),
        Value::Time(moment) => write_text(out, &moment.iso()),
        Value::Json(json) => write_json(out, json),
    }
}

fn write_json(out: &mut Vec<u8>, json: &Json) {
    match json {
        Json::Array(elements) => {
            out.push(b'[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_json(out, element);
            }
            out.push(b']');
        }
        Json::Object(members) => {
            out.push(b'{');
            for (at, (name, value)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_text(out, name);
                out.push(b':');
                write_json(out, value);
            }
            out.push(b'}');
        }
        scalar => write_value(out, &scalar.value()),
    }
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    if let Ok(written) = serde_json::to_vec(text) {
        out.extend_from_slice(&written);
    }
}

fn write_float(out: &mut Vec<u8>, number: f64) {
    if let Ok(written) = serde_json::to_vec(&number) {
        out.extend_from_slice(&written);
    }
}
