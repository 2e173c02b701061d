//! Operations on containers.

macro_rules! container_operations {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*

            CreateContainer: Writes {
                route: on(Service::Blob, Resource::Container, &[Put], "Create Container", V::V2009_04_14)
                    .marks(&[Is(RESTYPE, "container")]),
                policy: WRITE.refuses_other_conditions().creates().changes_etag(),
                access: CREATE_CONTAINER,
                answer: answers(&[201]).etag(),
            }

            GetContainerProperties: Reads {
                route: on(Service::Blob, Resource::Container, &[Get, Head], "Get Container Properties", V::V2009_04_14)
                    .marks(&[Is(RESTYPE, "container")]),
                policy: READ.lease(LeaseUse::Read),
                access: READ_CONTAINER,
                answer: answers(&[200]).etag(),
            }

            GetContainerMetadata: Reads {
                route: on(Service::Blob, Resource::Container, &[Get, Head], "Get Container Metadata", V::V2009_04_14)
                    .marks(&[Is(RESTYPE, "container"), Is(COMP, "metadata")]),
                policy: READ.lease(LeaseUse::Read),
                access: READ_CONTAINER,
                answer: answers(&[200]).etag(),
            }

            SetContainerMetadata: Writes {
                route: on(Service::Blob, Resource::Container, &[Put], "Set Container Metadata", V::V2009_04_14)
                    .marks(&[Is(RESTYPE, "container"), Is(COMP, "metadata")]),
                policy: WRITE.refuses_other_conditions().conditions(C::IF_MODIFIED_SINCE).lease(LeaseUse::Read).changes_etag(),
                access: WRITE_CONTAINER,
                answer: answers(&[200]).etag(),
            }

            GetContainerAcl: Reads {
                route: on(Service::Blob, Resource::Container, &[Get, Head], "Get Container ACL", V::V2009_04_14)
                    .marks(&[Is(RESTYPE, "container"), Is(COMP, "acl")]),
                policy: READ.lease(LeaseUse::Read),
                access: GET_CONTAINER_ACL,
                answer: answers(&[200]).etag(),
            }

            SetContainerAcl: Writes {
                route: on(Service::Blob, Resource::Container, &[Put], "Set Container ACL", V::V2009_04_14)
                    .marks(&[Is(RESTYPE, "container"), Is(COMP, "acl")]).body(Xml),
                policy: WRITE.refuses_other_conditions().conditions(C::T).lease(LeaseUse::Read).changes_etag(),
                access: SET_CONTAINER_ACL,
                answer: answers(&[200]).etag(),
            }

            DeleteContainer: Writes {
                route: on(Service::Blob, Resource::Container, &[Delete], "Delete Container", V::V2009_04_14)
                    .marks(&[Is(RESTYPE, "container")]),
                policy: WRITE.refuses_other_conditions().conditions(C::T).lease(LeaseUse::Write),
                access: DELETE_CONTAINER,
                answer: answers(&[202]),
            }

            AcquireContainerLease: Writes {
                route: on(Service::Blob, Resource::Container, &[Put], "Lease Container", V::V2012_02_12)
                    .marks(&[Is(RESTYPE, "container"), Is(COMP, "lease"), Is(LEASE_ACTION, "acquire")]),
                policy: WRITE.refuses_other_conditions().conditions(C::T).lease(LeaseUse::Manage)
                    .changed_etag_before(Feature::ContainerLeaseKeepsEtag),
                access: WRITE_CONTAINER,
                answer: answers(&[201]).etag(),
            }

            RenewContainerLease: Writes {
                route: on(Service::Blob, Resource::Container, &[Put], "Lease Container", V::V2012_02_12)
                    .marks(&[Is(RESTYPE, "container"), Is(COMP, "lease"), Is(LEASE_ACTION, "renew")]),
                policy: WRITE.refuses_other_conditions().conditions(C::T).lease(LeaseUse::Manage)
                    .changed_etag_before(Feature::ContainerLeaseKeepsEtag),
                access: WRITE_CONTAINER,
                answer: answers(&[200]).etag(),
            }

            ChangeContainerLease: Writes {
                route: on(Service::Blob, Resource::Container, &[Put], "Lease Container", V::V2012_02_12)
                    .marks(&[Is(RESTYPE, "container"), Is(COMP, "lease"), Is(LEASE_ACTION, "change")]),
                policy: WRITE.refuses_other_conditions().conditions(C::T).lease(LeaseUse::Manage)
                    .changed_etag_before(Feature::ContainerLeaseKeepsEtag),
                access: WRITE_CONTAINER,
                answer: answers(&[200]).etag(),
            }

            ReleaseContainerLease: Writes {
                route: on(Service::Blob, Resource::Container, &[Put], "Lease Container", V::V2012_02_12)
                    .marks(&[Is(RESTYPE, "container"), Is(COMP, "lease"), Is(LEASE_ACTION, "release")]),
                policy: WRITE.refuses_other_conditions().conditions(C::T).lease(LeaseUse::Manage)
                    .changed_etag_before(Feature::ContainerLeaseKeepsEtag),
                access: WRITE_CONTAINER,
                answer: answers(&[200]).etag(),
            }

            BreakContainerLease: Writes {
                route: on(Service::Blob, Resource::Container, &[Put], "Lease Container", V::V2012_02_12)
                    .marks(&[Is(RESTYPE, "container"), Is(COMP, "lease"), Is(LEASE_ACTION, "break")]),
                policy: WRITE.refuses_other_conditions().conditions(C::T).lease(LeaseUse::Manage)
                    .changed_etag_before(Feature::ContainerLeaseKeepsEtag),
                access: BREAK_CONTAINER_LEASE,
                answer: answers(&[202]).etag(),
            }

            RestoreContainer: Writes {
                route: on(Service::Blob, Resource::Container, &[Put], "Restore Container", V::V2019_12_12)
                    .marks(&[Is(RESTYPE, "container"), Is(COMP, "undelete")]),
                policy: WRITE.refuses_other_conditions().creates(),
                access: WRITE_CONTAINER,
                answer: answers(&[201]).breaks_line(),
            }

            RenameContainer: Writes {
                route: on(Service::Blob, Resource::Container, &[Put], "Rename Container", V::V2020_06_12)
                    .marks(&[Is(RESTYPE, "container"), Is(COMP, "rename"), Has(Name::Header("x-ms-source-container-name"))]),
                policy: WRITE.refuses_other_conditions().creates(),
                access: WRITE_CONTAINER,
                answer: answers(&[200]),
            }

            ListBlobs: Reads {
                route: on(Service::Blob, Resource::Container, &[Get], "List Blobs", V::V2009_04_14)
                    .marks(&[Is(RESTYPE, "container"), Is(COMP, "list")]),
                policy: READ,
                access: LIST_BLOBS,
                answer: answers(&[200]),
            }

            FindBlobsByTagsInContainer: Reads {
                route: on(Service::Blob, Resource::Container, &[Get], "Find Blobs by Tags in Container", V::V2021_04_10)
                    .marks(&[Is(RESTYPE, "container"), Is(COMP, "blobs")]),
                policy: READ,
                access: FIND_BLOBS_IN_CONTAINER,
                answer: answers(&[200]).breaks_line(),
            }

            ContainerBatch: Writes {
                route: on(Service::Blob, Resource::Container, &[Post], "Blob Batch", V::V2020_06_12)
                    .marks(&[Is(RESTYPE, "container"), Is(COMP, "batch")]).body(Multipart),
                policy: WRITE.refuses_other_conditions(),
                access: BATCH,
                answer: answers(&[202]).breaks_line(),
            }
        }
    };
}
