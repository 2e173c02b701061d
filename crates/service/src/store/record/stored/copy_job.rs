//! A copy under way.

use std::sync::Arc;

use lazuli_model::etag::ETag;
use lazuli_model::operation::Op;
use lazuli_model::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::blob::BlobTypeV1;
use super::{Shape, first_shape};
use crate::blob::{BlobAddress, BlobState, ForeignAddress};
use crate::event::Cause;
use crate::store::key::{Generation, Incarnation};
use crate::store::record::copy_job::{CopiedFrom, CopiedTo, CopyJob, CopyPlan};
use crate::store::tree::NodeId;

#[derive(Serialize, Deserialize)]
pub struct CopyJobV1 {
    id: u128,
    account: String,
    container: String,
    generation: Generation,
    blob: String,
    until: u64,
}

first_shape!(CopyJobV1);

#[derive(Serialize, Deserialize)]
pub struct CopyJobV2 {
    id: u128,
    account: String,
    container: String,
    generation: Generation,
    blob: String,
    server: Option<Incarnation>,
    tries: u32,
    began: u64,
    due: u64,
    plan: Option<CopyPlanV2>,
}

#[derive(Serialize, Deserialize)]
struct CopyPlanV2 {
    source: CopiedFromV2,
    length: u64,
    kind: BlobTypeV1,
    sequence_number: u64,
    seals: bool,
    blocks: Option<u32>,
    cause: Option<CauseV2>,
}

#[derive(Serialize, Deserialize)]
enum CopiedFromV2 {
    Own { account: String, container: String, blob: String, state: BlobStateV2, etag: u64 },
    Foreign { url: String, version: String, etag: Option<String> },
}

#[derive(Serialize, Deserialize)]
enum BlobStateV2 {
    Base,
    Snapshot(u64),
    Version(u64),
}

#[derive(Serialize, Deserialize)]
struct CauseV2 {
    request_id: u128,
    client_request_id: Option<String>,
    endpoint: String,
}

impl Shape for CopyJobV2 {
    const NUMBER: u8 = 2;
    type Before = CopyJobV1;

    /// Such a job was not made to be taken up; its server is gone.
    fn step(before: CopyJobV1) -> Self {
        let CopyJobV1 { id, account, container, generation, blob, until } = before;
        Self {
            id,
            account,
            container,
            generation,
            blob,
            server: None,
            tries: 1,
            began: until,
            due: 0,
            plan: None,
        }
    }
}

/// The third shape: copies write files too.
#[derive(Serialize, Deserialize)]
pub struct CopyJobV3 {
    id: u128,
    account: String,
    to: CopiedToV3,
    server: Option<Incarnation>,
    tries: u32,
    began: u64,
    due: u64,
    plan: Option<CopyPlanV2>,
}

#[derive(Serialize, Deserialize)]
enum CopiedToV3 {
    Blob { container: String, generation: Generation, blob: String },
    File { share: String, generation: Generation, node: NodeId },
}

impl Shape for CopyJobV3 {
    const NUMBER: u8 = 3;
    type Before = CopyJobV2;

    fn step(before: CopyJobV2) -> Self {
        let CopyJobV2 { id, account, container, generation, blob, server, tries, began, due, plan } = before;
        let to = CopiedToV3::Blob { container, generation, blob };
        Self { id, account, to, server, tries, began, due, plan }
    }
}

impl From<&CopyJob> for CopyJobV3 {
    fn from(job: &CopyJob) -> Self {
        let CopyJob { id, account, to, server, tries, began, due, plan } = job.clone();
        Self {
            id: id.as_u128(),
            account,
            to: match to {
                CopiedTo::Blob { container, generation, blob } => {
                    CopiedToV3::Blob { container, generation, blob }
                }
                CopiedTo::File { share, generation, node } => CopiedToV3::File { share, generation, node },
            },
            server,
            tries,
            began: began.0,
            due: due.0,
            plan: plan.map(Into::into),
        }
    }
}

impl From<CopyJobV3> for CopyJob {
    fn from(stored: CopyJobV3) -> Self {
        let CopyJobV3 { id, account, to, server, tries, began, due, plan } = stored;
        Self {
            id: Uuid::from_u128(id),
            account,
            to: match to {
                CopiedToV3::Blob { container, generation, blob } => {
                    CopiedTo::Blob { container, generation, blob }
                }
                CopiedToV3::File { share, generation, node } => CopiedTo::File { share, generation, node },
            },
            server,
            tries,
            began: Timestamp(began),
            due: Timestamp(due),
            plan: plan.map(Into::into),
        }
    }
}

impl From<CopyPlan> for CopyPlanV2 {
    fn from(plan: CopyPlan) -> Self {
        let CopyPlan { source, length, kind, sequence_number, seals, blocks, cause } = plan;
        let cause = cause.map(|cause| CauseV2 {
            request_id: cause.request_id.as_u128(),
            client_request_id: cause.client_request_id.clone(),
            endpoint: cause.endpoint.clone(),
        });
        Self { source: source.into(), length, kind: kind.into(), sequence_number, seals, blocks, cause }
    }
}

impl From<CopyPlanV2> for CopyPlan {
    fn from(stored: CopyPlanV2) -> Self {
        let CopyPlanV2 { source, length, kind, sequence_number, seals, blocks, cause } = stored;
        let cause = cause.map(|CauseV2 { request_id, client_request_id, endpoint }| {
            let request_id = Uuid::from_u128(request_id);
            Arc::new(Cause { op: Op::CopyBlob, request_id, client_request_id, endpoint })
        });
        Self { source: source.into(), length, kind: kind.into(), sequence_number, seals, blocks, cause }
    }
}

impl From<CopiedFrom> for CopiedFromV2 {
    fn from(source: CopiedFrom) -> Self {
        match source {
            CopiedFrom::Own { account, at: BlobAddress { container, blob }, state, etag } => Self::Own {
                account,
                container,
                blob,
                state: match state {
                    BlobState::Base => BlobStateV2::Base,
                    BlobState::Snapshot(at) => BlobStateV2::Snapshot(at.0),
                    BlobState::Version(at) => BlobStateV2::Version(at.0),
                },
                etag: etag.0,
            },
            CopiedFrom::Foreign(ForeignAddress { url, version, etag }) => {
                Self::Foreign { url, version, etag }
            }
        }
    }
}

impl From<CopiedFromV2> for CopiedFrom {
    fn from(stored: CopiedFromV2) -> Self {
        match stored {
            CopiedFromV2::Own { account, container, blob, state, etag } => Self::Own {
                account,
                at: BlobAddress { container, blob },
                state: match state {
                    BlobStateV2::Base => BlobState::Base,
                    BlobStateV2::Snapshot(at) => BlobState::Snapshot(Timestamp(at)),
                    BlobStateV2::Version(at) => BlobState::Version(Timestamp(at)),
                },
                etag: ETag(etag),
            },
            CopiedFromV2::Foreign { url, version, etag } => {
                Self::Foreign(ForeignAddress { url, version, etag })
            }
        }
    }
}
