//! Operations on containers.

macro_rules! container_operations {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*

            CreateContainer {
                title: "Create Container", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Container,
                methods: &[Put], marks: &[Is(RESTYPE, "container")],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: true, body: Body::None, access: CREATE_CONTAINER, status: &[201],
                returns_etag: true, changes_etag: true, built: true,
            }

            GetContainerProperties {
                title: "Get Container Properties", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Container,
                methods: &[Get, Head], marks: &[Is(RESTYPE, "container")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::Read, source: false, addresses: BASE,
                creates: false, body: Body::None, access: READ_CONTAINER, status: &[200],
                returns_etag: true, changes_etag: false, built: true,
            }

            GetContainerMetadata {
                title: "Get Container Metadata", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Container,
                methods: &[Get, Head], marks: &[Is(RESTYPE, "container"), Is(COMP, "metadata")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::Read, source: false, addresses: BASE,
                creates: false, body: Body::None, access: READ_CONTAINER, status: &[200],
                returns_etag: true, changes_etag: false, built: true,
            }

            SetContainerMetadata {
                title: "Set Container Metadata", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Container,
                methods: &[Put], marks: &[Is(RESTYPE, "container"), Is(COMP, "metadata")],
                conditions: C::IF_MODIFIED_SINCE, rule: Write, lease: LeaseUse::Read, source: false, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_CONTAINER, status: &[200],
                returns_etag: true, changes_etag: true, built: true,
            }

            GetContainerAcl {
                title: "Get Container ACL", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Container,
                methods: &[Get, Head], marks: &[Is(RESTYPE, "container"), Is(COMP, "acl")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::Read, source: false, addresses: BASE,
                creates: false, body: Body::None, access: GET_CONTAINER_ACL, status: &[200],
                returns_etag: true, changes_etag: false, built: true,
            }

            SetContainerAcl {
                title: "Set Container ACL", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Container,
                methods: &[Put], marks: &[Is(RESTYPE, "container"), Is(COMP, "acl")],
                conditions: C::T, rule: Write, lease: LeaseUse::Read, source: false, addresses: BASE,
                creates: false, body: Xml, access: SET_CONTAINER_ACL, status: &[200],
                returns_etag: true, changes_etag: true, built: true,
            }

            DeleteContainer {
                title: "Delete Container", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Container,
                methods: &[Delete], marks: &[Is(RESTYPE, "container")],
                conditions: C::T, rule: Write, lease: LeaseUse::Write, source: false, addresses: BASE,
                creates: false, body: Body::None, access: DELETE_CONTAINER, status: &[202],
                returns_etag: false, changes_etag: false, built: true,
            }

            AcquireContainerLease {
                title: "Lease Container", since: V::V2012_02_12, service: Service::Blob, resource: Resource::Container,
                methods: &[Put], marks: &[Is(RESTYPE, "container"), Is(COMP, "lease"), Is(LEASE_ACTION, "acquire")],
                conditions: C::T, rule: Write, lease: LeaseUse::Manage, source: false, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_CONTAINER, status: &[201],
                returns_etag: true, changes_etag: false, built: true,
            }

            RenewContainerLease {
                title: "Lease Container", since: V::V2012_02_12, service: Service::Blob, resource: Resource::Container,
                methods: &[Put], marks: &[Is(RESTYPE, "container"), Is(COMP, "lease"), Is(LEASE_ACTION, "renew")],
                conditions: C::T, rule: Write, lease: LeaseUse::Manage, source: false, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_CONTAINER, status: &[200],
                returns_etag: true, changes_etag: false, built: true,
            }

            ChangeContainerLease {
                title: "Lease Container", since: V::V2012_02_12, service: Service::Blob, resource: Resource::Container,
                methods: &[Put], marks: &[Is(RESTYPE, "container"), Is(COMP, "lease"), Is(LEASE_ACTION, "change")],
                conditions: C::T, rule: Write, lease: LeaseUse::Manage, source: false, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_CONTAINER, status: &[200],
                returns_etag: true, changes_etag: false, built: true,
            }

            ReleaseContainerLease {
                title: "Lease Container", since: V::V2012_02_12, service: Service::Blob, resource: Resource::Container,
                methods: &[Put], marks: &[Is(RESTYPE, "container"), Is(COMP, "lease"), Is(LEASE_ACTION, "release")],
                conditions: C::T, rule: Write, lease: LeaseUse::Manage, source: false, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_CONTAINER, status: &[200],
                returns_etag: true, changes_etag: false, built: true,
            }

            BreakContainerLease {
                title: "Lease Container", since: V::V2012_02_12, service: Service::Blob, resource: Resource::Container,
                methods: &[Put], marks: &[Is(RESTYPE, "container"), Is(COMP, "lease"), Is(LEASE_ACTION, "break")],
                conditions: C::T, rule: Write, lease: LeaseUse::Manage, source: false, addresses: BASE,
                creates: false, body: Body::None, access: BREAK_CONTAINER_LEASE, status: &[202],
                returns_etag: true, changes_etag: false, built: true,
            }

            RestoreContainer {
                title: "Restore Container", since: V::V2019_12_12, service: Service::Blob, resource: Resource::Container,
                methods: &[Put], marks: &[Is(RESTYPE, "container"), Is(COMP, "undelete")],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: true, body: Body::None, access: WRITE_CONTAINER, status: &[201],
                returns_etag: false, changes_etag: false, built: false,
            }

            RenameContainer {
                title: "Rename Container", since: V::V2020_06_12, service: Service::Blob, resource: Resource::Container,
                methods: &[Put], marks: &[Is(RESTYPE, "container"), Is(COMP, "rename"), Has(Name::Header("x-ms-source-container-name"))],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: true, body: Body::None, access: WRITE_CONTAINER, status: &[200],
                returns_etag: false, changes_etag: false, built: false,
            }

            ListBlobs {
                title: "List Blobs", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Container,
                methods: &[Get], marks: &[Is(RESTYPE, "container"), Is(COMP, "list")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: LIST_BLOBS, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            FindBlobsByTagsInContainer {
                title: "Find Blobs by Tags in Container", since: V::V2021_04_10, service: Service::Blob, resource: Resource::Container,
                methods: &[Get], marks: &[Is(RESTYPE, "container"), Is(COMP, "blobs")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: FIND_BLOBS_IN_CONTAINER, status: &[200],
                returns_etag: false, changes_etag: false, built: false,
            }

            ContainerBatch {
                title: "Blob Batch", since: V::V2020_06_12, service: Service::Blob, resource: Resource::Container,
                methods: &[Post], marks: &[Is(RESTYPE, "container"), Is(COMP, "batch")],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Multipart, access: BATCH, status: &[202],
                returns_etag: false, changes_etag: false, built: false,
            }
        }
    };
}
