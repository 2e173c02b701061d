//! Blob operations on the account.

macro_rules! account_operations {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*

            ListContainers {
                title: "List Containers", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Account,
                methods: &[Get], marks: &[Is(COMP, "list")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: LIST_CONTAINERS, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            SetBlobServiceProperties {
                title: "Set Blob Service Properties", since: V::V2009_09_19, service: Service::Blob, resource: Resource::Account,
                methods: &[Put], marks: &[Is(RESTYPE, "service"), Is(COMP, "properties")],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Xml, access: SET_BLOB_SERVICE, status: &[202],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetBlobServiceProperties {
                title: "Get Blob Service Properties", since: V::V2009_09_19, service: Service::Blob, resource: Resource::Account,
                methods: &[Get], marks: &[Is(RESTYPE, "service"), Is(COMP, "properties")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: GET_BLOB_SERVICE, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            PreflightBlobRequest {
                title: "Preflight Blob Request", since: V::V2013_08_15, service: Service::Blob, resource: Resource::Any,
                methods: &[Options], marks: &[],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: PREFLIGHT, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetBlobServiceStats {
                title: "Get Blob Service Stats", since: V::V2013_08_15, service: Service::Blob, resource: Resource::Account,
                methods: &[Get], marks: &[Is(RESTYPE, "service"), Is(COMP, "stats")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: GET_BLOB_SERVICE, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetAccountInformation {
                title: "Get Account Information", since: V::V2018_03_28, service: Service::Blob, resource: Resource::Account,
                methods: &[Get, Head], marks: &[Is(RESTYPE, "account"), Is(COMP, "properties")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: ACCOUNT_INFORMATION, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetAccountInformationOfContainer {
                title: "Get Account Information", since: V::V2018_03_28, service: Service::Blob, resource: Resource::Container,
                methods: &[Get, Head], marks: &[Is(RESTYPE, "account"), Is(COMP, "properties")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: ACCOUNT_INFORMATION, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetAccountInformationOfBlob {
                title: "Get Account Information", since: V::V2018_03_28, service: Service::Blob, resource: Resource::Blob,
                methods: &[Get, Head], marks: &[Is(RESTYPE, "account"), Is(COMP, "properties")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: ACCOUNT_INFORMATION, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetUserDelegationKey {
                title: "Get User Delegation Key", since: V::V2018_11_09, service: Service::Blob, resource: Resource::Account,
                methods: &[Post], marks: &[Is(RESTYPE, "service"), Is(COMP, "userdelegationkey")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Xml, access: USER_DELEGATION_KEY, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            BlobBatch {
                title: "Blob Batch", since: V::V2018_11_09, service: Service::Blob, resource: Resource::Account,
                // The JavaScript client says `restype=container` in path style, and names no container.
                methods: &[Post], marks: &[Is(COMP, "batch"), Maybe(RESTYPE, "container")],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Multipart, access: BATCH, status: &[202],
                returns_etag: false, changes_etag: false, built: false,
            }

            FindBlobsByTags {
                title: "Find Blobs by Tags", since: V::V2019_12_12, service: Service::Blob, resource: Resource::Account,
                methods: &[Get], marks: &[Is(COMP, "blobs")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: FIND_BLOBS, status: &[200],
                returns_etag: false, changes_etag: false, built: false,
            }
        }
    };
}
