//! Operations on shares.

macro_rules! share_operations {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*

            CreateShare: Writes {
                route: on(Service::File, Resource::Share, &[Put], "Create Share", V::V2014_02_14)
                    .marks(&[Is(RESTYPE, "share")]),
                policy: WRITE.creates().changes_etag(),
                access: CREATE_SHARE,
                answer: answers(&[201]).etag(),
            }

            GetShareProperties: Reads {
                route: on(Service::File, Resource::Share, &[Get, Head], "Get Share Properties", V::V2014_02_14)
                    .marks(&[Is(RESTYPE, "share")]).addresses(SNAPSHOT),
                policy: READ.lease(LeaseUse::Read),
                access: READ_SHARE,
                answer: answers(&[200]).etag(),
            }

            GetShareMetadata: Reads {
                route: on(Service::File, Resource::Share, &[Get, Head], "Get Share Metadata", V::V2014_02_14)
                    .marks(&[Is(RESTYPE, "share"), Is(COMP, "metadata")]).addresses(SNAPSHOT),
                policy: READ.lease(LeaseUse::Read),
                access: READ_SHARE,
                answer: answers(&[200]).etag(),
            }

            SetShareMetadata: Writes {
                route: on(Service::File, Resource::Share, &[Put], "Set Share Metadata", V::V2014_02_14)
                    .marks(&[Is(RESTYPE, "share"), Is(COMP, "metadata")]),
                policy: WRITE.lease(LeaseUse::Write).changes_etag(),
                access: WRITE_SHARE,
                answer: answers(&[200]).etag(),
            }

            SetShareProperties: Writes {
                route: on(Service::File, Resource::Share, &[Put], "Set Share Properties", V::V2015_02_21)
                    .marks(&[Is(RESTYPE, "share"), Is(COMP, "properties")]),
                policy: WRITE.lease(LeaseUse::Write).changes_etag(),
                access: WRITE_SHARE,
                answer: answers(&[200]).etag(),
            }

            GetShareAcl: Reads {
                route: on(Service::File, Resource::Share, &[Get, Head], "Get Share ACL", V::V2015_02_21)
                    .marks(&[Is(RESTYPE, "share"), Is(COMP, "acl")]),
                policy: READ.lease(LeaseUse::Read),
                access: GET_SHARE_ACL,
                answer: answers(&[200]).etag(),
            }

            SetShareAcl: Writes {
                route: on(Service::File, Resource::Share, &[Put], "Set Share ACL", V::V2015_02_21)
                    .marks(&[Is(RESTYPE, "share"), Is(COMP, "acl")]).body(Xml),
                policy: WRITE.lease(LeaseUse::Write).changes_etag(),
                access: SET_SHARE_ACL,
                answer: answers(&[200]).etag(),
            }

            GetShareStats: Reads {
                route: on(Service::File, Resource::Share, &[Get], "Get Share Stats", V::V2015_02_21)
                    .marks(&[Is(RESTYPE, "share"), Is(COMP, "stats")]),
                policy: READ.lease(LeaseUse::Read),
                access: READ_SHARE,
                answer: answers(&[200]),
            }

            DeleteShare: Writes {
                route: on(Service::File, Resource::Share, &[Delete], "Delete Share", V::V2014_02_14)
                    .marks(&[Is(RESTYPE, "share")]).addresses(SNAPSHOT),
                policy: WRITE.lease(LeaseUse::Write),
                access: DELETE_SHARE,
                answer: answers(&[202]),
            }

            RestoreShare: Writes {
                route: on(Service::File, Resource::Share, &[Put], "Restore Share", V::V2019_12_12)
                    .marks(&[Is(RESTYPE, "share"), Is(COMP, "undelete")]),
                policy: WRITE.creates(),
                access: WRITE_SHARE,
                answer: answers(&[201]).etag(),
            }

            SnapshotShare: Writes {
                route: on(Service::File, Resource::Share, &[Put], "Snapshot Share", V::V2017_04_17)
                    .marks(&[Is(RESTYPE, "share"), Is(COMP, "snapshot")]),
                policy: WRITE,
                access: CREATE_SHARE,
                answer: answers(&[201]).etag(),
            }

            CreatePermission: Writes {
                route: on(Service::File, Resource::Share, &[Put], "Create Permission", V::V2019_02_02)
                    .marks(&[Is(RESTYPE, "share"), Is(COMP, "filepermission")]).body(Json),
                policy: WRITE,
                access: CREATE_PERMISSION,
                answer: answers(&[201]),
            }

            GetPermission: Reads {
                route: on(Service::File, Resource::Share, &[Get], "Get Permission", V::V2019_02_02)
                    .marks(&[Is(RESTYPE, "share"), Is(COMP, "filepermission")]),
                policy: READ,
                access: GET_PERMISSION,
                answer: answers(&[200]),
            }

            AcquireShareLease: Writes {
                route: on(Service::File, Resource::Share, &[Put], "Lease Share", V::V2020_02_10)
                    .marks(&[Is(RESTYPE, "share"), Is(COMP, "lease"), Is(LEASE_ACTION, "acquire")]).addresses(SNAPSHOT),
                policy: WRITE.lease(LeaseUse::Manage),
                access: WRITE_SHARE,
                answer: answers(&[201]).etag(),
            }

            RenewShareLease: Writes {
                route: on(Service::File, Resource::Share, &[Put], "Lease Share", V::V2020_02_10)
                    .marks(&[Is(RESTYPE, "share"), Is(COMP, "lease"), Is(LEASE_ACTION, "renew")]).addresses(SNAPSHOT),
                policy: WRITE.lease(LeaseUse::Manage),
                access: WRITE_SHARE,
                answer: answers(&[200]).etag(),
            }

            ChangeShareLease: Writes {
                route: on(Service::File, Resource::Share, &[Put], "Lease Share", V::V2020_02_10)
                    .marks(&[Is(RESTYPE, "share"), Is(COMP, "lease"), Is(LEASE_ACTION, "change")]).addresses(SNAPSHOT),
                policy: WRITE.lease(LeaseUse::Manage),
                access: WRITE_SHARE,
                answer: answers(&[200]).etag(),
            }

            ReleaseShareLease: Writes {
                route: on(Service::File, Resource::Share, &[Put], "Lease Share", V::V2020_02_10)
                    .marks(&[Is(RESTYPE, "share"), Is(COMP, "lease"), Is(LEASE_ACTION, "release")]).addresses(SNAPSHOT),
                policy: WRITE.lease(LeaseUse::Manage),
                access: WRITE_SHARE,
                answer: answers(&[200]).etag(),
            }

            BreakShareLease: Writes {
                route: on(Service::File, Resource::Share, &[Put], "Lease Share", V::V2020_02_10)
                    .marks(&[Is(RESTYPE, "share"), Is(COMP, "lease"), Is(LEASE_ACTION, "break")]).addresses(SNAPSHOT),
                policy: WRITE.lease(LeaseUse::Manage),
                access: BREAK_SHARE_LEASE,
                answer: answers(&[202]).etag(),
            }
        }
    };
}
