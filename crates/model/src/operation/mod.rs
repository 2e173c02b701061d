//! The operation table: what an operation accepts is a row, not code. Routing, authorisation, conditions,
//! response headers and the printed reference all read the row.

#[macro_use]
mod account;
#[macro_use]
mod container;
#[macro_use]
mod blob;
#[macro_use]
mod blob_copy;
#[macro_use]
mod queue;
#[macro_use]
mod table;
#[macro_use]
mod file_service;
#[macro_use]
mod share;
#[macro_use]
mod directory;
#[macro_use]
mod file;
mod conditions;
mod markdown;
mod policy_of;
mod route;
mod row;
mod rules;

pub use conditions::Conditions;
pub use markdown::operations_markdown;
pub use policy_of::{Judged, LeaseUse, Mode, Policy, Reads, Rule, Source, Touches, Unmet, Writes};
pub use policy_of::{ReadingOp, WritingOp};
pub use route::{allowed, route};
pub use row::{Addresses, Answer, Body, Mark, Method, Name, Resource, Route, Row, Service};

// What the rows below are written with.
use Body::{Bytes, Json, Multipart, Xml};
use Conditions as C;
use Mark::{Has, Is, Lacks, Maybe, Not};
use Method::{Delete, Get, Head, Merge, Options, Patch, Post, Put};
use policy_of::{READ, WRITE};
use row::{BLOB_TYPE, COMP, COPY_SOURCE, IF_MATCH, LEASE_ACTION, PAGE_WRITE, REQUIRES_SYNC, RESTYPE, query};
use row::{FILE_TYPE, FILE_WRITE, HANDLE_ID, RENAME_SOURCE};
use row::{SNAPSHOT, SNAPSHOT_OR_VERSION, VERSION, answers, on};
use rules::*;

use crate::admission::Needs;
use crate::blob::BlobType;
use crate::version::{ApiVersion as V, Feature};

macro_rules! emit {
    ($($op:ident: $mode:ident { $($field:tt)* })*) => {
        /// One per row of the table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Op { $($op),* }

        impl Op {
            pub const ALL: &'static [Op] = &[$(Op::$op),*];

            pub const fn name(self) -> &'static str {
                match self { $(Op::$op => stringify!($op)),* }
            }

            /// Whether the operation may write what it admits.
            pub const fn writes(self) -> bool {
                match self { $(Op::$op => <$mode as Mode>::WRITES),* }
            }
        }

        /// The operations of the table as types, for [`Judged`].
        pub mod policy {
            $(
                #[derive(Debug, Clone, Copy)]
                pub struct $op;

                impl super::Judged for $op {
                    type Mode = super::$mode;

                    fn policy(self) -> &'static super::Policy {
                        &super::Op::$op.row().policy
                    }
                }
            )*
        }

        /// All rows; those of one service are neighbours, and `Op` is the index.
        static TABLE: [Row; Op::ALL.len()] = [$(Row { op: Op::$op, $($field)* }),*];
    };
}

// Each list is in a file of its own and hands the rows so far on to the next.
macro_rules! then_container { ($($rows:tt)*) => { container_operations! { then_blob $($rows)* } } }
macro_rules! then_blob { ($($rows:tt)*) => { blob_operations! { then_copy $($rows)* } } }
macro_rules! then_copy { ($($rows:tt)*) => { blob_copy_operations! { then_queue $($rows)* } } }
macro_rules! then_queue { ($($rows:tt)*) => { queue_operations! { then_table $($rows)* } } }
macro_rules! then_table { ($($rows:tt)*) => { table_operations! { then_file_service $($rows)* } } }
macro_rules! then_file_service { ($($rows:tt)*) => { file_service_operations! { then_share $($rows)* } } }
macro_rules! then_share { ($($rows:tt)*) => { share_operations! { then_directory $($rows)* } } }
macro_rules! then_directory { ($($rows:tt)*) => { directory_operations! { then_file $($rows)* } } }
macro_rules! then_file { ($($rows:tt)*) => { file_operations! { emit $($rows)* } } }
account_operations! { then_container }

impl Op {
    pub const fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

/// The rows of one service, in the order of the table.
pub fn rows(service: Service) -> &'static [Row] {
    const fn span(service: Service) -> (usize, usize) {
        let (mut start, mut end, mut index) = (0, 0, 0);
        while index < TABLE.len() {
            if TABLE[index].route.service as u8 == service as u8 {
                start = if end == 0 { index } else { start };
                end = index + 1;
            }
            index += 1;
        }
        (start, end)
    }
    const BLOB: (usize, usize) = span(Service::Blob);
    const QUEUE: (usize, usize) = span(Service::Queue);
    const TABLES: (usize, usize) = span(Service::Table);
    const FILES: (usize, usize) = span(Service::File);
    let (start, end) = match service {
        Service::Blob => BLOB,
        Service::Queue => QUEUE,
        Service::Table => TABLES,
        Service::File => FILES,
        Service::Dfs => (0, 0),
    };
    TABLE.get(start..end).unwrap_or_default()
}

/// Every row of every service.
pub fn all_rows() -> &'static [Row] {
    &TABLE
}

#[cfg(test)]
mod tests;
