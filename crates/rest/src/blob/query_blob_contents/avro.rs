//! The answer of a query: an Avro object container file of four kinds of records. Only what these need of Avro is here:
//! longs, booleans, bytes and text.

use lazuli_service::query::{QueryError, Record};

/// Clients tell the kinds apart by these names.
const SCHEMA: &str = r#"[
{"type":"record","name":"com.microsoft.azure.storage.queryBlobContents.resultData","fields":[{"name":"data","type":"bytes"}]},
{"type":"record","name":"com.microsoft.azure.storage.queryBlobContents.error","fields":[{"name":"fatal","type":"boolean"},{"name":"name","type":"string"},{"name":"description","type":"string"},{"name":"position","type":"long"}]},
{"type":"record","name":"com.microsoft.azure.storage.queryBlobContents.progress","fields":[{"name":"bytesScanned","type":"long"},{"name":"totalBytes","type":"long"}]},
{"type":"record","name":"com.microsoft.azure.storage.queryBlobContents.end","fields":[{"name":"totalBytes","type":"long"}]}
]"#;

pub struct Writer {
    /// Stands behind the head and behind every block.
    marker: [u8; 16],
    has_head: bool,
}

impl Writer {
    pub fn new(marker: [u8; 16]) -> Self {
        Self { marker, has_head: false }
    }

    /// A block with one record, behind the head if it is the first.
    pub fn write(&mut self, out: &mut Vec<u8>, record: &Record) {
        if !std::mem::replace(&mut self.has_head, true) {
            out.extend_from_slice(b"Obj\x01");
            long(out, 1);
            bytes(out, b"avro.schema");
            bytes(out, SCHEMA.as_bytes());
            long(out, 0);
            out.extend_from_slice(&self.marker);
        }
        let mut value = Vec::new();
        let data = encode(&mut value, record);
        long(out, 1);
        long(out, (value.len() + data.len()) as u64);
        out.extend_from_slice(&value);
        out.extend_from_slice(data);
        out.extend_from_slice(&self.marker);
    }
}

/// The record without its last bytes, which are given back: results are not copied twice.
fn encode<'a>(out: &mut Vec<u8>, record: &'a Record) -> &'a [u8] {
    match record {
        Record::Data(data) => {
            long(out, 0);
            long(out, data.len() as u64);
            return data;
        }
        Record::Error(QueryError { fatal, name, description, position }) => {
            long(out, 1);
            out.push(u8::from(*fatal));
            bytes(out, name.as_bytes());
            bytes(out, description.as_bytes());
            long(out, *position);
        }
        Record::Progress { scanned, total } => {
            long(out, 2);
            long(out, *scanned);
            long(out, *total);
        }
        Record::End { total } => {
            long(out, 3);
            long(out, *total);
        }
    }
    &[]
}

fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    long(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// A number that is not negative: doubled, since the lowest bit is for the sign, in groups of seven bits.
fn long(out: &mut Vec<u8>, number: u64) {
    let mut left = number << 1;
    while left >= 0x80 {
        out.push((left & 0x7f) as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_recorded() {
        let mut writer = Writer::new([7; 16]);
        let mut head = Vec::new();
        writer.write(&mut head, &Record::End { total: 1024 });
        assert!(head.starts_with(b"Obj\x01\x02\x16avro.schema"));
        assert!(head.ends_with(&[&[2, 6, 6, 0x80, 0x10][..], &[7; 16]].concat()));
        let mut block = |record: Record| {
            let mut out = Vec::new();
            writer.write(&mut out, &record);
            assert!(out.ends_with(&[7; 16]));
            out.truncate(out.len() - 16);
            out
        };
        assert_eq!(block(Record::Data("300\n".into())), b"\x02\x0c\x00\x08300\n");
        assert_eq!(block(Record::Progress { scanned: 1024, total: 1024 }), b"\x02\x0a\x04\x80\x10\x80\x10");
        let error = QueryError {
            fatal: false,
            name: "InvalidTypeConversion",
            description: "Invalid type conversion.".to_owned(),
            position: 0,
        };
        assert_eq!(
            block(Record::Error(error)),
            b"\x02\x64\x02\x00\x2aInvalidTypeConversion\x30Invalid type conversion.\x00"
        );
    }
}
