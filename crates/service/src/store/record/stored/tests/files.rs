//! Shares, what stands in them, and what is open of it.

use lazuli_model::admission::caching::{Breaking, Kept, LeaseOwner};
use lazuli_model::admission::sharing::{ByteRangeLock, Caching, Open, Rights};
use lazuli_model::smb::AccessMask;

use super::*;
use crate::open_file::{ChangeAction, ChangeFilter};
use crate::store::key::Incarnation;
use crate::store::record::deleted_share::DeletedShare;
use crate::store::record::open::{Durable, LeaseDetail, OpenRecord, OpensRecord};
use crate::store::record::path::{FileBody, FileTimes, PathBody, PathRecord, Posix};
use crate::store::record::permission::PermissionRecord;
use crate::store::record::place::{GoneSnapshot, PlaceRecord};
use crate::store::record::share::{RootSquash, ShareProtocol, ShareRecord, ShareSettings, ShareTier};
use crate::store::record::usage::{UsageAllowed, UsagePart};
use crate::store::record::watch::{Changed, Watchers};
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
    assert_bytes(&PermissionRecord { descriptor: vec![1, 2, 3] }, "0103010203");
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
    let deletion = SoftDeletion { deleted: Timestamp(5), until: Timestamp(300) };
    let deleted = DeletedShare { share, deletion };
    assert_bytes(&deleted, &hex(&[head, settings, PATH, "00", "ac02 02", "05 ac02"]));
}

#[test]
fn usage() {
    assert_bytes(&UsagePart { used: 300, allowed: 301 }, "01ac02ad02");
    assert_bytes(&UsageAllowed { bytes: 300 }, "01ac02");
}

#[test]
fn opens() {
    let open = OpenRecord {
        account: "a".into(),
        share: "s".into(),
        open: Open {
            handle: 0,
            access: Rights::READ,
            share: Rights::WRITE.and(Rights::DELETE),
            locks: vec![ByteRangeLock { offset: 1, length: 2, exclusive: true }],
            kept: Kept {
                held: Caching::RH,
                owner: Some(LeaseOwner { client: 3, key: 8 }),
                breaking: Some(Breaking { to: Caching::R, since: Timestamp(9) }),
            },
            is_disconnected: true,
        },
        granted: AccessMask(300),
        options: 301,
        client: 3,
        lease: Some(LeaseDetail { is_second_version: true, parent: Some(10), epoch: 11 }),
        durable: Some(Durable { create_guid: Some(12), milliseconds: 13, disconnected: Some(Timestamp(14)) }),
        delete_on_close: true,
        path: "p".into(),
        session: 4,
        client_address: "i".into(),
        client_name: Some("c".into()),
        server: Incarnation(5),
        opened: Timestamp(6),
        reconnected: Some(Timestamp(7)),
    };
    let bytes = "02 0161 0173 010000 000101 ac02 ad02 01010201 010001 0101000009 03 010801010a0b 01010c0d010e 01 0170 04 0169 010163 05 06 0107";
    assert_bytes(&open, &hex(&[bytes]));
    assert_bytes(&OpensRecord { count: 1, changes: 300, delete_pending: true }, "0101ac0201");
}

/// An open of the first shape: its locks have an end, and what its client kept is not known.
#[test]
fn opens_of_the_first_shape() {
    let bytes = "01 0161 0173 010000 000101 01010301 010001 0103 01 0170 04 0169 010163 05 06 0107";
    let bytes: Vec<u8> = hex(&[bytes])
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    let read = OpenRecord::decode(&bytes).unwrap();
    assert_eq!(read.open.locks, [ByteRangeLock { offset: 1, length: 2, exclusive: true }]);
    assert_eq!((read.open.kept, read.durable), (Kept::default(), None));
    assert_eq!((read.path.as_str(), read.server), ("p", Incarnation(5)));
}

#[test]
fn watching() {
    let watchers = Watchers { servers: vec![Incarnation(5), Incarnation(6)] };
    assert_bytes(&watchers, "01020506");
    let changed = Changed {
        generation: Generation([3; 12]),
        seen_from: vec![(NodeId(7), "n".into()), (NodeId(8), "d".into())],
        action: ChangeAction::Modified,
        filter: ChangeFilter(300),
    };
    assert_bytes(&changed, &hex(&["01 030303030303030303030303 02 07016e 080164 02 ac02"]));
}
