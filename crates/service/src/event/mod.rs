//! Events about blobs: what raises them and how they are written. The commit that makes or deletes a blob puts them into
//! an outbox (`store/event`), and deliverers take them from there.

mod render;

use lazuli_model::operation::Op;
use uuid::Uuid;

pub use crate::store::event::{
    Carrier, EventRow, EventStats, Letter, deliver_forever, deliver_once, forget_unknown,
};
pub(crate) use render::render;
pub use render::source;

/// The request behind a change, as events tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    pub op: Op,
    pub request_id: Uuid,
    pub client_request_id: Option<String>,
    /// What the addresses of the account's containers begin with, as the request itself was addressed.
    pub endpoint: String,
}

/// What events call an operation; None for those that raise none.
pub const fn api(op: Op) -> Option<&'static str> {
    match op {
        Op::PutBlockBlob | Op::PutPageBlob | Op::PutAppendBlob | Op::PutBlobFromUrl => Some("PutBlob"),
        Op::PutBlockList => Some("PutBlockList"),
        Op::CopyBlob | Op::CopyBlobFromUrl | Op::IncrementalCopyBlob => Some("CopyBlob"),
        Op::DeleteBlob => Some("DeleteBlob"),
        _ => None,
    }
}
