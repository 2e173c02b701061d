//! Shares, what stands in them, and what is open of it.

use lazuli_model::admission::sharing::{ByteRangeLock, Caching, Open, Rights};

use super::*;
use crate::store::key::Incarnation;
use crate::store::record::open::{OpenRecord, OpensRecord};
use crate::store::record::path::{FileBody, FileTimes, PathBody, PathRecord, Posix};
use crate::store::record::place::{GoneSnapshot, PlaceRecord};
use crate::store::record::share::{RootSquash, ShareProtocol, ShareRecord, ShareSettings, ShareTier};
use crate::store::tree::NodeId;

fn directory() -> PathRecord {
    PathRecord {
        node: NodeId(5),
        name: "n".into(),
        since: 6,
        etag: ETag(7),
        last_modified: Timestamp(8),
        times: FileTimes {
            created: Timestamp(9),
            last_written: Timestamp(10),
            changed: Timestamp(11),
            last_accessed: Timestamp(12),
        },
        attributes: 0x10,
        permission: Some(13),
        metadata: metadata(),
        posix: Some(Posix { owner: 1, group: 2, mode: 3 }),
        body: PathBody::Directory,
    }
}

/// All of a path up to what it is.
const PATH: &str = "05016e060708090a0b0c10010d0101610162010102 03";

fn hex(parts: &[&str]) -> String {
    parts.concat().replace(' ', "")
}

#[test]
fn paths() {
    assert_bytes(&directory(), &hex(&["01", PATH, "00"]));
    let link = PathBody::SymbolicLink { target: "t".into() };
    assert_bytes(&PathRecord { body: link, ..directory() }, &hex(&["01", PATH, "020174"]));
    let file = FileBody {
        content: Content { id: ContentId(9), length: 33, shape: content::Shape::Sparse },
        headers: ContentHeaders { content_type: Some("t".into()), ..ContentHeaders::default() },
        lease: lease(),
        copy: Some(CopyState {
            id: uuid::Uuid::from_u128(0x12),
            source: "u".into(),
            status: CopyStatus::Success,
            copied: 1,
            total: 2,
            completed: Some(Timestamp(3)),
            description: None,
            destination_snapshot: None,
        }),
        links: 2,
    };
    let fields = ["01 092103", "0101740000000000", "0111013c010700", "01120175010102010300 00", "02"];
    let record = PathRecord { body: PathBody::File(Box::new(file)), ..directory() };
    assert_bytes(&record, &hex(&["01", PATH, &fields.concat()]));
    assert_bytes(&PlaceRecord { parent: NodeId(300), folded: "N".into() }, "01ac02014e");
    assert_bytes(&GoneSnapshot { reached: vec![1, 2] }, "01020102");
}

#[test]
fn a_share() {
    let share = ShareRecord {
        generation: Generation([3; 12]),
        created: Timestamp(1),
        etag: ETag(2),
        last_modified: Timestamp(3),
        metadata: metadata(),
        policies: policies(),
        lease: lease(),
        settings: ShareSettings {
            quota: Some(4),
            tier: Some(ShareTier::Premium),
            tier_changed: Some(Timestamp(5)),
            protocol: ShareProtocol::Nfs,
            root_squash: RootSquash::All,
            snapshot_virtual_directory: Some(true),
            paid_bursting: Some(false),
            paid_bursting_iops: Some(6),
            paid_bursting_bandwidth: Some(7),
            provisioned_iops: Some(8),
            provisioned_bandwidth: Some(9),
            directory_lease: Some(true),
        },
        root: directory(),
        moment: 300,
        snapshots: 2,
    };
    let head = "01 030303030303030303030303 010203 0101610162 010169010100010172 0111013c010700";
    let settings = "0104 0103 0105 01 02 0101 0100 0106 0107 0108 0109 0101";
    assert_bytes(&share, &hex(&[head, settings, PATH, "00", "ac02 02"]));
}

#[test]
fn opens() {
    let open = OpenRecord {
        account: "a".into(),
        share: "s".into(),
        open: Open {
            access: Rights::READ,
            share: Rights::WRITE.and(Rights::DELETE),
            locks: vec![ByteRangeLock { range: 1..2, exclusive: true }],
        },
        caching: Caching { read: true, write: false, handle: true },
        caching_key: Some(3),
        delete_on_close: true,
        path: "p".into(),
        session: 4,
        client_address: "i".into(),
        client_name: Some("c".into()),
        server: Incarnation(5),
        opened: Timestamp(6),
        reconnected: Some(Timestamp(7)),
    };
    let bytes = "01 0161 0173 010000 000101 01010201 010001 0103 01 0170 04 0169 010163 05 06 0107";
    assert_bytes(&open, &hex(&[bytes]));
    assert_bytes(&OpensRecord { count: 1, changes: 300, delete_pending: true }, "0101ac0201");
}
