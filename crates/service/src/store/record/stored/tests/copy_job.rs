//! A copy under way.

use std::sync::Arc;

use lazuli_model::blob::BlobType;
use lazuli_model::etag::ETag;
use lazuli_model::operation::Op;
use lazuli_model::time::Timestamp;

use super::assert_bytes;
use crate::blob::{BlobAddress, BlobState, ForeignAddress};
use crate::event::Cause;
use crate::store::key::{Generation, Incarnation};
use crate::store::record::Record as _;
use crate::store::record::copy_job::{CopiedFrom, CopiedTo, CopyJob, CopyPlan};
use crate::store::tree::NodeId;

#[test]
fn jobs_of_copies() {
    let mut job = CopyJob {
        id: uuid::Uuid::from_u128(0x11),
        account: "a".into(),
        to: CopiedTo::Blob { container: "c".into(), generation: Generation([2; 12]), blob: "b".into() },
        server: Some(Incarnation(3)),
        tries: 4,
        began: Timestamp(300),
        due: Timestamp(5),
        plan: None,
    };
    let begins = "0311016100016302020202020202020202020201620103 04ac0205".replace(' ', "");
    assert_bytes(&job, &format!("{begins}00"));
    let cause = Cause {
        op: Op::CopyBlob,
        request_id: uuid::Uuid::from_u128(6),
        client_request_id: Some("i".into()),
        endpoint: "e".into(),
    };
    let own = CopiedFrom::Own {
        account: "a".into(),
        at: BlobAddress { container: "c".into(), blob: "b".into() },
        state: BlobState::Snapshot(Timestamp(7)),
        etag: ETag(8),
    };
    let plan = CopyPlan {
        source: own,
        length: 9,
        kind: BlobType::Append,
        sequence_number: 1,
        seals: true,
        blocks: Some(2),
        cause: Some(Arc::new(cause)),
    };
    job.plan = Some(plan.clone());
    assert_bytes(
        &job,
        &format!("{begins}01 00 0161 0163 0162 01 07 08 09 02 01 01 01 02 01 06 01 0169 0165")
            .replace(' ', ""),
    );
    let address = ForeignAddress { url: "u".into(), version: "v".into(), etag: Some("t".into()) };
    let source = CopiedFrom::Foreign(address);
    job.plan = Some(CopyPlan { source, cause: None, blocks: None, ..plan });
    assert_bytes(&job, &format!("{begins}01 01 0175 0176 01 0174 09 02 01 01 00 00").replace(' ', ""));
    let file = CopiedTo::File { share: "s".into(), generation: Generation([2; 12]), node: NodeId(0x80) };
    let begins = "0311016101017302020202020202020202020280010103 04ac0205".replace(' ', "");
    assert_bytes(&CopyJob { to: file, plan: None, ..job.clone() }, &format!("{begins}00"));
    // Of the second shape: copies wrote blobs only.
    let second = [2, 17, 1, 97, 1, 99, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 98, 1, 3, 4, 172, 2, 5, 0];
    let read = CopyJob::decode(&second).expect("the second shape");
    assert_eq!(read, CopyJob { plan: None, ..job });
    // Of the first shape: it cannot be taken up.
    let first = [1, 17, 1, 97, 1, 99, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 98, 172, 2];
    let read = CopyJob::decode(&first).expect("the first shape");
    assert_eq!((read.server, read.tries, read.due, read.plan), (None, 1, Timestamp(0), None));
}
