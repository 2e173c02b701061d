//! Operations on blobs, except those that read a source.

macro_rules! blob_operations {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*

            PutBlockBlob {
                title: "Put Blob", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(BLOB_TYPE, "BlockBlob"), Lacks(COPY_SOURCE)],
                conditions: C::ETG, rule: Write, lease: LeaseUse::Write, source: false, addresses: BASE,
                creates: true, body: Bytes, access: CREATE_BLOB, status: &[201],
                returns_etag: true, changes_etag: true, built: true,
            }

            PutPageBlob {
                title: "Put Blob", since: V::V2009_09_19, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(BLOB_TYPE, "PageBlob"), Lacks(COPY_SOURCE)],
                conditions: C::ETG, rule: Write, lease: LeaseUse::Write, source: false, addresses: BASE,
                creates: true, body: Body::None, access: CREATE_BLOB, status: &[201],
                returns_etag: true, changes_etag: true, built: false,
            }

            PutAppendBlob {
                title: "Put Blob", since: V::V2015_02_21, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(BLOB_TYPE, "AppendBlob"), Lacks(COPY_SOURCE)],
                conditions: C::ETG, rule: Write, lease: LeaseUse::Write, source: false, addresses: BASE,
                creates: true, body: Body::None, access: CREATE_BLOB, status: &[201],
                returns_etag: true, changes_etag: true, built: false,
            }

            GetBlob {
                title: "Get Blob", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Blob,
                methods: &[Get], marks: &[],
                conditions: C::ETG, rule: Read, lease: LeaseUse::Read, source: false, addresses: SNAPSHOT_OR_VERSION,
                creates: false, body: Body::None, access: READ_BLOB, status: &[200, 206],
                returns_etag: true, changes_etag: false, built: true,
            }

            GetBlobProperties {
                title: "Get Blob Properties", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Blob,
                methods: &[Head], marks: &[],
                conditions: C::ETG, rule: Read, lease: LeaseUse::Read, source: false, addresses: SNAPSHOT_OR_VERSION,
                creates: false, body: Body::None, access: READ_BLOB, status: &[200],
                returns_etag: true, changes_etag: false, built: true,
            }

            SetBlobProperties {
                title: "Set Blob Properties", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "properties")],
                conditions: C::ETG, rule: Write, lease: LeaseUse::Write, source: false, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_BLOB, status: &[200],
                returns_etag: true, changes_etag: true, built: true,
            }

            GetBlobMetadata {
                title: "Get Blob Metadata", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Blob,
                methods: &[Get, Head], marks: &[Is(COMP, "metadata")],
                conditions: C::ETG, rule: Read, lease: LeaseUse::Read, source: false, addresses: SNAPSHOT_OR_VERSION,
                creates: false, body: Body::None, access: READ_BLOB, status: &[200],
                returns_etag: true, changes_etag: false, built: true,
            }

            SetBlobMetadata {
                title: "Set Blob Metadata", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "metadata")],
                conditions: C::ETG, rule: Write, lease: LeaseUse::Write, source: false, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_BLOB, status: &[200],
                returns_etag: true, changes_etag: true, built: true,
            }

            AcquireBlobLease {
                title: "Lease Blob", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "lease"), Is(LEASE_ACTION, "acquire")],
                conditions: C::ETG, rule: Write, lease: LeaseUse::Manage, source: false, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_BLOB, status: &[201],
                returns_etag: true, changes_etag: false, built: true,
            }

            RenewBlobLease {
                title: "Lease Blob", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "lease"), Is(LEASE_ACTION, "renew")],
                conditions: C::ETG, rule: Write, lease: LeaseUse::Manage, source: false, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_BLOB, status: &[200],
                returns_etag: true, changes_etag: false, built: true,
            }

            ChangeBlobLease {
                title: "Lease Blob", since: V::V2012_02_12, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "lease"), Is(LEASE_ACTION, "change")],
                conditions: C::ETG, rule: Write, lease: LeaseUse::Manage, source: false, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_BLOB, status: &[200],
                returns_etag: true, changes_etag: false, built: true,
            }

            ReleaseBlobLease {
                title: "Lease Blob", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "lease"), Is(LEASE_ACTION, "release")],
                conditions: C::ETG, rule: Write, lease: LeaseUse::Manage, source: false, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_BLOB, status: &[200],
                returns_etag: true, changes_etag: false, built: true,
            }

            BreakBlobLease {
                title: "Lease Blob", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "lease"), Is(LEASE_ACTION, "break")],
                conditions: C::ETG, rule: Write, lease: LeaseUse::Manage, source: false, addresses: BASE,
                creates: false, body: Body::None, access: BREAK_BLOB_LEASE, status: &[202],
                returns_etag: true, changes_etag: false, built: true,
            }

            SnapshotBlob {
                title: "Snapshot Blob", since: V::V2009_09_19, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "snapshot")],
                conditions: C::ETG, rule: Write, lease: LeaseUse::Read, source: false, addresses: BASE,
                creates: false, body: Body::None, access: SNAPSHOT_BLOB, status: &[201],
                returns_etag: true, changes_etag: false, built: true,
            }

            DeleteBlob {
                title: "Delete Blob", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Blob,
                methods: &[Delete], marks: &[],
                conditions: C::ETG.and(C::TIER_TIME), rule: Write, lease: LeaseUse::Write, source: false, addresses: SNAPSHOT_OR_VERSION,
                creates: false, body: Body::None, access: DELETE_BLOB, status: &[202],
                returns_etag: false, changes_etag: false, built: true,
            }

            UndeleteBlob {
                title: "Undelete Blob", since: V::V2017_07_29, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "undelete")],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: true, body: Body::None, access: WRITE_BLOB, status: &[200],
                returns_etag: false, changes_etag: false, built: false,
            }

            SetBlobTier {
                title: "Set Blob Tier", since: V::V2017_04_17, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "tier"), Has(Name::Header("x-ms-access-tier"))],
                conditions: C::TAGS, rule: Write, lease: LeaseUse::Read, source: false, addresses: SNAPSHOT_OR_VERSION,
                creates: false, body: Body::None, access: WRITE_BLOB, status: &[200, 202],
                returns_etag: false, changes_etag: false, built: false,
            }

            GetBlobTags {
                title: "Get Blob Tags", since: V::V2019_12_12, service: Service::Blob, resource: Resource::Blob,
                methods: &[Get], marks: &[Is(COMP, "tags")],
                conditions: C::TAGS.and(C::BLOB_PREFIXED), rule: Read, lease: LeaseUse::Read, source: false, addresses: SNAPSHOT_OR_VERSION,
                creates: false, body: Body::None, access: GET_TAGS, status: &[200],
                returns_etag: false, changes_etag: false, built: false,
            }

            SetBlobTags {
                title: "Set Blob Tags", since: V::V2019_12_12, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "tags")],
                conditions: C::TAGS.and(C::BLOB_PREFIXED), rule: Write, lease: LeaseUse::Write, source: false, addresses: VERSION,
                creates: false, body: Xml, access: SET_TAGS, status: &[204],
                returns_etag: false, changes_etag: false, built: false,
            }

            SetBlobExpiry {
                title: "Set Blob Expiry", since: V::V2020_02_10, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "expiry"), Has(Name::Header("x-ms-expiry-option"))],
                conditions: C::NONE, rule: Write, lease: LeaseUse::Write, source: false, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_BLOB, status: &[200],
                returns_etag: true, changes_etag: false, built: false,
            }

            SetBlobImmutabilityPolicy {
                title: "Set Blob Immutability Policy", since: V::V2020_06_12, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "immutabilityPolicies")],
                conditions: C::IF_UNMODIFIED_SINCE, rule: Write, lease: LeaseUse::None, source: false, addresses: SNAPSHOT_OR_VERSION,
                creates: false, body: Body::None, access: IMMUTABILITY, status: &[200],
                returns_etag: false, changes_etag: false, built: false,
            }

            DeleteBlobImmutabilityPolicy {
                title: "Delete Blob Immutability Policy", since: V::V2020_06_12, service: Service::Blob, resource: Resource::Blob,
                methods: &[Delete], marks: &[Is(COMP, "immutabilityPolicies")],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: SNAPSHOT_OR_VERSION,
                creates: false, body: Body::None, access: IMMUTABILITY, status: &[200],
                returns_etag: false, changes_etag: false, built: false,
            }

            SetBlobLegalHold {
                title: "Set Blob Legal Hold", since: V::V2020_06_12, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "legalhold"), Has(Name::Header("x-ms-legal-hold"))],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: SNAPSHOT_OR_VERSION,
                creates: false, body: Body::None, access: IMMUTABILITY, status: &[200],
                returns_etag: false, changes_etag: false, built: false,
            }

            QueryBlobContents {
                title: "Query Blob Contents", since: V::V2019_12_12, service: Service::Blob, resource: Resource::Blob,
                methods: &[Post], marks: &[Is(COMP, "query")],
                conditions: C::ETG, rule: Read, lease: LeaseUse::Read, source: false, addresses: SNAPSHOT,
                creates: false, body: Xml, access: QUERY_BLOB, status: &[200, 206],
                returns_etag: true, changes_etag: false, built: false,
            }

            PutBlock {
                title: "Put Block", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "block"), Has(query("blockid")), Lacks(COPY_SOURCE)],
                conditions: C::NONE, rule: Write, lease: LeaseUse::Write, source: false, addresses: BASE,
                creates: true, body: Bytes, access: CREATE_BLOB, status: &[201],
                returns_etag: false, changes_etag: false, built: true,
            }

            PutBlockList {
                title: "Put Block List", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "blocklist")],
                conditions: C::ETG, rule: Write, lease: LeaseUse::Write, source: false, addresses: BASE,
                creates: true, body: Xml, access: CREATE_BLOB, status: &[201],
                returns_etag: true, changes_etag: true, built: true,
            }

            GetBlockList {
                title: "Get Block List", since: V::V2009_04_14, service: Service::Blob, resource: Resource::Blob,
                methods: &[Get], marks: &[Is(COMP, "blocklist")],
                conditions: C::TAGS, rule: Read, lease: LeaseUse::Read, source: false, addresses: SNAPSHOT,
                creates: false, body: Body::None, access: READ_BLOB, status: &[200],
                returns_etag: true, changes_etag: false, built: true,
            }

            PutPage {
                title: "Put Page", since: V::V2009_09_19, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "page"), Is(PAGE_WRITE, "update"), Lacks(COPY_SOURCE)],
                conditions: C::ETG.and(C::SEQUENCE), rule: Write, lease: LeaseUse::Write, source: false, addresses: BASE,
                creates: false, body: Bytes, access: WRITE_BLOB, status: &[201],
                returns_etag: true, changes_etag: true, built: false,
            }

            ClearPages {
                title: "Put Page", since: V::V2009_09_19, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "page"), Is(PAGE_WRITE, "clear"), Lacks(COPY_SOURCE)],
                conditions: C::ETG.and(C::SEQUENCE), rule: Write, lease: LeaseUse::Write, source: false, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_BLOB, status: &[201],
                returns_etag: true, changes_etag: true, built: false,
            }

            GetPageRanges {
                title: "Get Page Ranges", since: V::V2009_09_19, service: Service::Blob, resource: Resource::Blob,
                methods: &[Get], marks: &[Is(COMP, "pagelist")],
                conditions: C::ETG, rule: Read, lease: LeaseUse::Read, source: false, addresses: SNAPSHOT,
                creates: false, body: Body::None, access: READ_BLOB, status: &[200],
                returns_etag: true, changes_etag: false, built: false,
            }

            AppendBlock {
                title: "Append Block", since: V::V2015_02_21, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "appendblock"), Lacks(COPY_SOURCE)],
                conditions: C::ETG.and(C::APPEND_POSITION).and(C::MAX_SIZE), rule: Write, lease: LeaseUse::Write, source: false, addresses: BASE,
                creates: false, body: Bytes, access: APPEND_BLOB, status: &[201],
                returns_etag: true, changes_etag: true, built: false,
            }

            AppendBlobSeal {
                title: "Append Blob Seal", since: V::V2019_12_12, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "seal")],
                conditions: C::ET.and(C::APPEND_POSITION), rule: Write, lease: LeaseUse::Write, source: false, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_BLOB, status: &[200],
                returns_etag: true, changes_etag: true, built: false,
            }
        }
    };
}
