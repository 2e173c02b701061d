//! Blob operations that read a source, and those that control them.

macro_rules! blob_copy_operations {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*

            CopyBlob: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Copy Blob", V::V2009_09_19)
                    .marks(&[Has(COPY_SOURCE), Not(BLOB_TYPE, "BlockBlob"), Not(REQUIRES_SYNC, "true")]),
                policy: WRITE.conditions(C::ETG).lease(LeaseUse::Write).creates().changes_etag().needs_infinite_lease().source(Source::Looked).unmet(Unmet::Target).touches(Touches::Replaces),
                access: CREATE_BLOB,
                answer: answers(&[202]).etag(),
            }

            CopyBlobFromUrl: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Copy Blob From URL", V::V2018_11_09)
                    .marks(&[Has(COPY_SOURCE), Not(BLOB_TYPE, "BlockBlob"), Is(REQUIRES_SYNC, "true")]),
                policy: WRITE.conditions(C::ETG).lease(LeaseUse::Write).creates().changes_etag().source(Source::Fetched).unmet(Unmet::TargetOfMatch).touches(Touches::Replaces),
                access: CREATE_BLOB,
                answer: answers(&[202]).etag(),
            }

            PutBlobFromUrl: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Put Blob From URL", V::V2020_04_08)
                    .marks(&[Has(COPY_SOURCE), Is(BLOB_TYPE, "BlockBlob")]),
                policy: WRITE.conditions(C::ETG).lease(LeaseUse::Write).creates().changes_etag().of_type(BlobType::Block).source(Source::Fetched).unmet(Unmet::TargetOfMatch).touches(Touches::Replaces),
                access: CREATE_BLOB,
                answer: answers(&[201]).etag(),
            }

            AbortCopyBlob: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Abort Copy Blob", V::V2012_02_12)
                    .marks(&[Is(COMP, "copy"), Has(query("copyid")), Is(Name::Header("x-ms-copy-action"), "abort")]),
                policy: WRITE.lease(LeaseUse::Write).works_on_pending_copy(),
                access: WRITE_BLOB,
                answer: answers(&[204]),
            }

            IncrementalCopyBlob: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Incremental Copy Blob", V::V2016_05_31)
                    .marks(&[Is(COMP, "incrementalcopy"), Has(COPY_SOURCE)]),
                policy: WRITE.conditions(C::ETG).lease(LeaseUse::Write).creates().changes_etag().of_type(BlobType::Page).unmet(Unmet::TargetOfMatch).works_on_incremental_copy().touches(Touches::Content),
                access: CREATE_BLOB,
                answer: answers(&[202]).etag(),
            }

            PutBlockFromUrl: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Put Block From URL", V::V2018_03_28)
                    .marks(&[Is(COMP, "block"), Has(query("blockid")), Has(COPY_SOURCE)]),
                policy: WRITE.lease(LeaseUse::Write).creates().of_type(BlobType::Block).source(Source::Fetched),
                access: CREATE_BLOB,
                answer: answers(&[201]),
            }

            PutPageFromUrl: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Put Page From URL", V::V2018_11_09)
                    .marks(&[Is(COMP, "page"), Is(PAGE_WRITE, "update"), Has(COPY_SOURCE)]),
                policy: WRITE.conditions(C::ETG.and(C::SEQUENCE)).lease(LeaseUse::Write).changes_etag().of_type(BlobType::Page).source(Source::FetchedBlindly).unmet(Unmet::TargetOfMatchSince(Feature::PutPageFromUrlTellsTarget)).keeps_copy_state().touches(Touches::Content),
                access: WRITE_BLOB,
                answer: answers(&[201]).etag().breaks_line(),
            }

            AppendBlockFromUrl: Writes {
                route: on(Service::Blob, Resource::Blob, &[Put], "Append Block From URL", V::V2018_11_09)
                    .marks(&[Is(COMP, "appendblock"), Has(COPY_SOURCE)]),
                policy: WRITE.conditions(C::ETG.and(C::APPEND_POSITION).and(C::MAX_SIZE)).lease(LeaseUse::Write).changes_etag().of_type(BlobType::Append).refuses_sealed().source(Source::FetchedBlindly).touches(Touches::Content),
                access: APPEND_BLOB,
                answer: answers(&[201]).etag().breaks_line(),
            }
        }
    };
}
