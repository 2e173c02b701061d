//! Stored values. Each begins with the number of its shape; an old shape stays readable as a module of its own.

pub mod blob;
pub mod block;
pub mod container;
pub mod content;
pub mod dead_snapshots;
pub mod entity;
pub mod existing;
pub mod lease;
pub mod properties;
pub mod queue;
pub mod server;
pub mod settings;
pub mod table;

use bytes::Bytes;
use lazuli_engine::{Corrupt, EngineError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value as stored: one byte that names the shape, then the fields.
pub trait Record: Serialize + DeserializeOwned {
    const SHAPE: u8;
    const NAME: &'static str;

    fn encode(&self) -> Bytes {
        let mut buffer = Vec::with_capacity(256);
        buffer.push(Self::SHAPE);
        // Writing plain data into memory fails for no input; an empty value would be refused by `decode`.
        postcard::to_extend(self, buffer).map(Bytes::from).unwrap_or_default()
    }

    fn decode(value: &[u8]) -> Result<Self, EngineError> {
        let Some((&shape, fields)) = value.split_first() else {
            return Err(corrupt(Self::NAME, "empty value"));
        };
        let read = if shape == Self::SHAPE {
            Some(postcard::from_bytes(fields))
        } else {
            Self::decode_older(shape, fields)
        };
        let read = read.ok_or_else(|| corrupt(Self::NAME, &format!("unknown shape {shape}")))?;
        read.map_err(|error| corrupt(Self::NAME, &error.to_string()))
    }

    /// Reads a shape that was written before; `None` for one that was never written.
    fn decode_older(_shape: u8, _fields: &[u8]) -> Option<Result<Self, postcard::Error>> {
        None
    }
}

pub(crate) fn corrupt(name: &str, why: &str) -> EngineError {
    EngineError::Corrupt(Corrupt(format!("{name}: {why}")))
}
