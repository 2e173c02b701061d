//! Values as they lie on disk: one byte that names the shape, then its fields as postcard writes them.
//!
//! A shape that was released is never changed. What needs other fields is a new shape, with the next number, that names
//! the one before it and how a value of that becomes one of its own; so a value of any shape is read, step by step. The
//! types here have no use but this one, so that the rest of the program can change without a byte on disk changing.

pub mod blob;
mod blob_extras;
pub mod block;
pub mod container;
pub mod content;
pub mod copy_job;
pub mod dead_snapshots;
pub mod deleted_container;
pub mod deleted_share;
pub mod event;
pub mod kept_snapshots;
pub mod lease;
pub mod open;
pub mod path;
pub mod permission;
pub mod place;
pub mod queue;
pub mod server;
pub mod service_properties;
pub mod share;
pub mod table;
#[cfg(test)]
mod tests;
pub mod usage;
pub mod watch;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// One shape of a stored value.
pub trait Shape: Serialize + DeserializeOwned {
    const NUMBER: u8;

    /// The shape before this one; [`Nothing`] for the first.
    type Before: Shape;

    /// The one step from the shape before.
    fn step(before: Self::Before) -> Self;

    /// Numbers have no gaps; a shape that breaks this does not compile.
    const FOLLOWS: () = assert!(Self::NUMBER == Self::Before::NUMBER + 1, "shapes are numbered one by one");

    /// Reads fields of this shape or of one before it; `None` for a number that is none of theirs.
    // Inlined with what follows it: a listing reads thousands of records, and each step would move half a kilobyte.
    #[inline(always)]
    fn read(number: u8, fields: &[u8]) -> Option<Result<Self, postcard::Error>> {
        let () = Self::FOLLOWS;
        if number == Self::NUMBER {
            return Some(postcard::from_bytes(fields));
        }
        Some(Self::Before::read(number, fields)?.map(Self::step))
    }
}

/// Stands before every first shape. There is no value of it.
#[derive(Serialize, Deserialize)]
pub enum Nothing {}

impl Shape for Nothing {
    const NUMBER: u8 = 0;
    const FOLLOWS: () = ();
    type Before = Self;

    fn step(before: Self) -> Self {
        before
    }

    fn read(_: u8, _: &[u8]) -> Option<Result<Self, postcard::Error>> {
        None
    }
}

pub fn write<S: Shape>(stored: &S) -> Bytes {
    let mut buffer = Vec::with_capacity(256);
    buffer.push(S::NUMBER);
    // Writing plain data into memory fails for no input; an empty value would be refused by `read`.
    postcard::to_extend(stored, buffer).map(Bytes::from).unwrap_or_default()
}

#[inline(always)]
pub fn read<S: Shape>(value: &[u8]) -> Result<S, String> {
    let Some((&number, fields)) = value.split_first() else { return Err("empty value".to_owned()) };
    // What was written by this build is read without a step.
    if number == S::NUMBER {
        return postcard::from_bytes(fields).map_err(|error| error.to_string());
    }
    let read = S::read(number, fields).ok_or_else(|| format!("unknown shape {number}"))?;
    read.map_err(|error| error.to_string())
}

/// Declares first shapes.
macro_rules! first_shape {
    ($($shape:ty),*) => {$(
        impl $crate::store::record::stored::Shape for $shape {
            const NUMBER: u8 = 1;
            type Before = $crate::store::record::stored::Nothing;

            fn step(before: Self::Before) -> Self {
                match before {}
            }
        }
    )*};
}

/// Both directions between a stored enum and the one that it stores, variant by variant: a new variant that is not
/// stored does not compile.
macro_rules! same_variants {
    ($stored:ident, $known:ty { $($variant:ident),* }) => {
        impl From<$known> for $stored {
            fn from(known: $known) -> Self {
                match known { $(<$known>::$variant => Self::$variant),* }
            }
        }

        impl From<$stored> for $known {
            fn from(stored: $stored) -> Self {
                match stored { $($stored::$variant => Self::$variant),* }
            }
        }
    };
}

use {first_shape, same_variants};
