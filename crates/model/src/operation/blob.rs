//! Operations on blobs, except those that read a source.

macro_rules! blob_operations {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*

            PutBlockBlob: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Put Blob", V::V2009_04_14)
                    .marks(&[Is(BLOB_TYPE, "BlockBlob"), Lacks(COPY_SOURCE)]).body(Bytes),
                policy: WRITE.conditions(C::ETG).lease(LeaseUse::Write).creates().changes_etag().of_type(BlobType::Block).touches(Touches::Replaces),
                access: CREATE_BLOB,
                answer: answers(&[201]).etag(),
            }

            PutPageBlob: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Put Blob", V::V2009_09_19)
                    .marks(&[Is(BLOB_TYPE, "PageBlob"), Lacks(COPY_SOURCE)]),
                policy: WRITE.conditions(C::ETG).lease(LeaseUse::Write).creates().changes_etag().of_type(BlobType::Page).touches(Touches::Replaces),
                access: CREATE_BLOB,
                answer: answers(&[201]).etag(),
            }

            PutAppendBlob: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Put Blob", V::V2015_02_21)
                    .marks(&[Is(BLOB_TYPE, "AppendBlob"), Lacks(COPY_SOURCE)]),
                policy: WRITE.conditions(C::ETG).lease(LeaseUse::Write).creates().changes_etag().of_type(BlobType::Append).refuses_sealed().touches(Touches::Replaces),
                access: CREATE_BLOB,
                answer: answers(&[201]).etag(),
            }

            GetBlob: Reads {
                route: on(Service::Blob, Resource::Blob, &[Get], "Get Blob", V::V2009_04_14).addresses(SNAPSHOT_OR_VERSION),
                policy: READ.conditions(C::ETG).lease(LeaseUse::Read),
                access: READ_BLOB,
                answer: answers(&[200, 206]).etag(),
            }

            GetBlobProperties: Reads {
                route: on(Service::Blob, Resource::Blob, &[Head], "Get Blob Properties", V::V2009_04_14).addresses(SNAPSHOT_OR_VERSION),
                policy: READ.conditions(C::ETG).lease(LeaseUse::Read).works_on_incremental_copy(),
                access: READ_BLOB,
                answer: answers(&[200]).etag(),
            }

            SetBlobProperties: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Set Blob Properties", V::V2009_04_14)
                    .marks(&[Is(COMP, "properties")]),
                policy: WRITE.conditions(C::ETG).lease(LeaseUse::Write).changes_etag(),
                access: WRITE_BLOB,
                answer: answers(&[200]).etag(),
            }

            GetBlobMetadata: Reads {
                route: on(Service::Blob, Resource::Blob, &[Get, Head], "Get Blob Metadata", V::V2009_04_14)
                    .marks(&[Is(COMP, "metadata")]).addresses(SNAPSHOT_OR_VERSION),
                policy: READ.conditions(C::ETG).lease(LeaseUse::Read).works_on_incremental_copy(),
                access: READ_BLOB,
                answer: answers(&[200]).etag(),
            }

            SetBlobMetadata: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Set Blob Metadata", V::V2009_04_14)
                    .marks(&[Is(COMP, "metadata")]),
                policy: WRITE.conditions(C::ETG).lease(LeaseUse::Write).changes_etag().honours_none_match_any().touches(Touches::Content),
                access: WRITE_BLOB,
                answer: answers(&[200]).etag(),
            }

            AcquireBlobLease: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Lease Blob", V::V2009_04_14)
                    .marks(&[Is(COMP, "lease"), Is(LEASE_ACTION, "acquire")]),
                policy: WRITE.conditions(C::ETG).lease(LeaseUse::Manage).finds_uncommitted().works_on_incremental_copy(),
                access: WRITE_BLOB,
                answer: answers(&[201]).etag(),
            }

            RenewBlobLease: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Lease Blob", V::V2009_04_14)
                    .marks(&[Is(COMP, "lease"), Is(LEASE_ACTION, "renew")]),
                policy: WRITE.conditions(C::ETG).lease(LeaseUse::Manage).finds_uncommitted().works_on_incremental_copy(),
                access: WRITE_BLOB,
                answer: answers(&[200]).etag(),
            }

            ChangeBlobLease: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Lease Blob", V::V2012_02_12)
                    .marks(&[Is(COMP, "lease"), Is(LEASE_ACTION, "change")]),
                policy: WRITE.conditions(C::ETG).lease(LeaseUse::Manage).finds_uncommitted().works_on_incremental_copy(),
                access: WRITE_BLOB,
                answer: answers(&[200]).etag(),
            }

            ReleaseBlobLease: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Lease Blob", V::V2009_04_14)
                    .marks(&[Is(COMP, "lease"), Is(LEASE_ACTION, "release")]),
                policy: WRITE.conditions(C::ETG).lease(LeaseUse::Manage).finds_uncommitted().works_on_incremental_copy(),
                access: WRITE_BLOB,
                answer: answers(&[200]).etag(),
            }

            BreakBlobLease: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Lease Blob", V::V2009_04_14)
                    .marks(&[Is(COMP, "lease"), Is(LEASE_ACTION, "break")]),
                policy: WRITE.conditions(C::ETG).lease(LeaseUse::Manage).finds_uncommitted().works_on_incremental_copy(),
                access: BREAK_BLOB_LEASE,
                answer: answers(&[202]).etag(),
            }

            SnapshotBlob: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Snapshot Blob", V::V2009_09_19)
                    .marks(&[Is(COMP, "snapshot")]),
                policy: WRITE.conditions(C::ETG).lease(LeaseUse::Read),
                access: SNAPSHOT_BLOB,
                answer: answers(&[201]).etag(),
            }

            DeleteBlob: Writes {
                route: on(Service::Blob, Resource::Blob, &[Delete], "Delete Blob", V::V2009_04_14).addresses(SNAPSHOT_OR_VERSION),
                policy: WRITE.conditions(C::ETG.and(C::TIER_TIME)).lease(LeaseUse::Write).finds_uncommitted().works_on_incremental_copy().touches(Touches::Deletes),
                access: DELETE_BLOB,
                answer: answers(&[202]),
            }

            UndeleteBlob: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Undelete Blob", V::V2017_07_29)
                    .marks(&[Is(COMP, "undelete")]),
                policy: WRITE.creates(),
                access: WRITE_BLOB,
                answer: answers(&[200]),
            }

            SetBlobTier: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Set Blob Tier", V::V2017_04_17)
                    .marks(&[Is(COMP, "tier"), Has(Name::Header("x-ms-access-tier"))]).addresses(SNAPSHOT_OR_VERSION),
                policy: WRITE.conditions(C::TAGS).lease(LeaseUse::Read),
                access: WRITE_BLOB,
                answer: answers(&[200, 202]),
            }

            GetBlobTags: Reads {
                route: on(Service::Blob, Resource::Blob, &[Get], "Get Blob Tags", V::V2019_12_12)
                    .marks(&[Is(COMP, "tags")]).addresses(SNAPSHOT_OR_VERSION),
                policy: READ.conditions(C::TAGS.and(C::BLOB_PREFIXED)).lease(LeaseUse::Read).works_on_incremental_copy(),
                access: GET_TAGS,
                answer: answers(&[200]).breaks_line(),
            }

            SetBlobTags: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Set Blob Tags", V::V2019_12_12)
                    .marks(&[Is(COMP, "tags")]).body(Xml).addresses(VERSION),
                policy: WRITE.conditions(C::TAGS.and(C::BLOB_PREFIXED)).lease(LeaseUse::Write).lease_since(Feature::LeaseGuardsTags).works_on_incremental_copy(),
                access: SET_TAGS,
                answer: answers(&[204]).breaks_line().says_nothing(),
            }

            SetBlobExpiry: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Set Blob Expiry", V::V2020_02_10)
                    .marks(&[Is(COMP, "expiry"), Has(Name::Header("x-ms-expiry-option"))]),
                policy: WRITE.lease(LeaseUse::Write),
                access: WRITE_BLOB,
                answer: answers(&[200]).etag(),
            }

            SetBlobImmutabilityPolicy: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Set Blob Immutability Policy", V::V2020_06_12)
                    .marks(&[Is(COMP, "immutabilityPolicies")]).addresses(SNAPSHOT_OR_VERSION),
                policy: WRITE.conditions(C::IF_UNMODIFIED_SINCE),
                access: IMMUTABILITY,
                answer: answers(&[200]),
            }

            DeleteBlobImmutabilityPolicy: Writes {
                route: on(Service::Blob, Resource::Blob, &[Delete], "Delete Blob Immutability Policy", V::V2020_06_12)
                    .marks(&[Is(COMP, "immutabilityPolicies")]).addresses(SNAPSHOT_OR_VERSION),
                policy: WRITE,
                access: IMMUTABILITY,
                answer: answers(&[200]),
            }

            SetBlobLegalHold: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Set Blob Legal Hold", V::V2020_06_12)
                    .marks(&[Is(COMP, "legalhold"), Has(Name::Header("x-ms-legal-hold"))]).addresses(SNAPSHOT_OR_VERSION),
                policy: WRITE,
                access: IMMUTABILITY,
                answer: answers(&[200]),
            }

            QueryBlobContents: Reads {
                route: on(Service::Blob, Resource::Blob, &[Post], "Query Blob Contents", V::V2019_12_12)
                    .marks(&[Is(COMP, "query")]).body(Xml).addresses(SNAPSHOT),
                policy: READ.conditions(C::ETG).lease(LeaseUse::Read),
                access: QUERY_BLOB,
                answer: answers(&[200, 206]).etag().breaks_line(),
            }

            PutBlock: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Put Block", V::V2009_04_14)
                    .marks(&[Is(COMP, "block"), Has(query("blockid")), Lacks(COPY_SOURCE)]).body(Bytes),
                policy: WRITE.lease(LeaseUse::Write).creates().of_type(BlobType::Block),
                access: CREATE_BLOB,
                answer: answers(&[201]),
            }

            PutBlockList: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Put Block List", V::V2009_04_14)
                    .marks(&[Is(COMP, "blocklist")]).body(Xml),
                policy: WRITE.conditions(C::ETG).lease(LeaseUse::Write).creates().changes_etag().of_type(BlobType::Block).touches(Touches::Replaces),
                access: CREATE_BLOB,
                answer: answers(&[201]).etag(),
            }

            GetBlockList: Reads {
                route: on(Service::Blob, Resource::Blob, &[Get], "Get Block List", V::V2009_04_14)
                    .marks(&[Is(COMP, "blocklist")]).addresses(SNAPSHOT),
                policy: READ.conditions(C::TAGS).lease(LeaseUse::Read).of_type(BlobType::Block).finds_uncommitted(),
                access: READ_BLOB,
                answer: answers(&[200]).etag(),
            }

            PutPage: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Put Page", V::V2009_09_19)
                    .marks(&[Is(COMP, "page"), Is(PAGE_WRITE, "update"), Lacks(COPY_SOURCE)]).body(Bytes),
                policy: WRITE.conditions(C::ETG.and(C::SEQUENCE)).lease(LeaseUse::Write).changes_etag().of_type(BlobType::Page).keeps_copy_state().touches(Touches::Content),
                access: WRITE_BLOB,
                answer: answers(&[201]).etag(),
            }

            ClearPages: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Put Page", V::V2009_09_19)
                    .marks(&[Is(COMP, "page"), Is(PAGE_WRITE, "clear"), Lacks(COPY_SOURCE)]),
                policy: WRITE.conditions(C::ETG.and(C::SEQUENCE)).lease(LeaseUse::Write).changes_etag().of_type(BlobType::Page).keeps_copy_state().touches(Touches::Content),
                access: WRITE_BLOB,
                answer: answers(&[201]).etag(),
            }

            GetPageRanges: Reads {
                route: on(Service::Blob, Resource::Blob, &[Get], "Get Page Ranges", V::V2009_09_19)
                    .marks(&[Is(COMP, "pagelist")]).addresses(SNAPSHOT),
                policy: READ.conditions(C::ETG).lease(LeaseUse::Read).of_type(BlobType::Page),
                access: READ_BLOB,
                answer: answers(&[200]).etag().breaks_line(),
            }

            AppendBlock: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Append Block", V::V2015_02_21)
                    .marks(&[Is(COMP, "appendblock"), Lacks(COPY_SOURCE)]).body(Bytes),
                policy: WRITE.conditions(C::ETG.and(C::APPEND_POSITION).and(C::MAX_SIZE)).lease(LeaseUse::Write).changes_etag().of_type(BlobType::Append).refuses_sealed().touches(Touches::Content),
                access: APPEND_BLOB,
                answer: answers(&[201]).etag(),
            }

            AppendBlobSeal: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Append Blob Seal", V::V2019_12_12)
                    .marks(&[Is(COMP, "seal")]),
                policy: WRITE.conditions(C::ET.and(C::APPEND_POSITION)).lease(LeaseUse::Write).changes_etag().of_type(BlobType::Append),
                access: WRITE_BLOB,
                answer: answers(&[200]).etag().breaks_line(),
            }
        }
    };
}
