//! Operations on files of a share.

macro_rules! file_operations {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*

            CreateFile: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Create File", V::V2014_02_14)
                    .marks(&[Is(FILE_TYPE, "file"), Lacks(COPY_SOURCE)]).body(Bytes),
                policy: WRITE.lease(LeaseUse::Write).creates().changes_etag().needs(Needs::Replace),
                access: CREATE_FILE,
                answer: answers(&[201]).etag(),
            }

            GetFile: Reads {
                route: on(Service::File, Resource::Path, &[Get], "Get File", V::V2014_02_14)
                    .addresses(SNAPSHOT),
                policy: READ.lease(LeaseUse::Read).needs(Needs::Read),
                access: READ_FILE,
                answer: answers(&[200, 206]).etag(),
            }

            GetFileProperties: Reads {
                route: on(Service::File, Resource::Path, &[Head], "Get File Properties", V::V2014_02_14)
                    .addresses(SNAPSHOT),
                policy: READ.lease(LeaseUse::Read).needs(Needs::Look),
                access: READ_FILE,
                answer: answers(&[200]).etag(),
            }

            GetFileMetadata: Reads {
                route: on(Service::File, Resource::Path, &[Get, Head], "Get File Metadata", V::V2014_02_14)
                    .marks(&[Is(COMP, "metadata")]).addresses(SNAPSHOT),
                policy: READ.lease(LeaseUse::Read).needs(Needs::Look),
                access: READ_FILE,
                answer: answers(&[200]).etag(),
            }

            SetFileProperties: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Set File Properties", V::V2014_02_14)
                    .marks(&[Is(COMP, "properties")]),
                policy: WRITE.lease(LeaseUse::Write).changes_etag().keeps_copy_state().needs(Needs::Write),
                access: WRITE_FILE,
                answer: answers(&[200]).etag(),
            }

            SetFileMetadata: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Set File Metadata", V::V2014_02_14)
                    .marks(&[Is(COMP, "metadata")]),
                policy: WRITE.lease(LeaseUse::Write).changes_etag().keeps_copy_state().needs(Needs::Write),
                access: WRITE_FILE,
                answer: answers(&[200]).etag(),
            }

            DeleteFile: Writes {
                route: on(Service::File, Resource::Path, &[Delete], "Delete File", V::V2014_02_14),
                policy: WRITE.lease(LeaseUse::Write).needs(Needs::Delete),
                access: DELETE_FILE,
                answer: answers(&[202]),
            }

            PutRange: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Put Range", V::V2014_02_14)
                    .marks(&[Is(COMP, "range"), Is(FILE_WRITE, "update"), Lacks(COPY_SOURCE)]).body(Bytes),
                policy: WRITE.lease(LeaseUse::Write).changes_etag().keeps_copy_state().needs(Needs::Write),
                access: WRITE_FILE,
                answer: answers(&[201]).etag(),
            }

            ClearRange: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Put Range", V::V2014_02_14)
                    .marks(&[Is(COMP, "range"), Is(FILE_WRITE, "clear"), Lacks(COPY_SOURCE)]),
                policy: WRITE.lease(LeaseUse::Write).changes_etag().keeps_copy_state().needs(Needs::Write),
                access: WRITE_FILE,
                answer: answers(&[201]).etag(),
            }

            PutRangeFromUrl: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Put Range from URL", V::V2019_02_02)
                    .marks(&[Is(COMP, "range"), Is(FILE_WRITE, "update"), Has(COPY_SOURCE)]),
                policy: WRITE.source(Source::FetchedBlindly).lease(LeaseUse::Write).changes_etag().keeps_copy_state().needs(Needs::Write),
                access: WRITE_FILE,
                answer: answers(&[201]).etag(),
            }

            ListRanges: Reads {
                route: on(Service::File, Resource::Path, &[Get], "List Ranges", V::V2014_02_14)
                    .marks(&[Is(COMP, "rangelist")]).addresses(SNAPSHOT),
                policy: READ.lease(LeaseUse::Read).needs(Needs::Read),
                access: READ_FILE,
                answer: answers(&[200]).etag(),
            }

            CopyFile: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Copy File", V::V2015_02_21)
                    .marks(&[Has(COPY_SOURCE)]),
                policy: WRITE.source(Source::Looked).lease(LeaseUse::Write).creates().changes_etag().needs(Needs::Replace),
                access: WRITE_FILE,
                answer: answers(&[202]).etag(),
            }

            AbortCopyFile: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Abort Copy File", V::V2015_02_21)
                    .marks(&[Is(COMP, "copy"), Has(query("copyid")), Is(Name::Header("x-ms-copy-action"), "abort")]),
                policy: WRITE.lease(LeaseUse::Write).works_on_pending_copy(),
                access: WRITE_FILE,
                answer: answers(&[204]),
            }

            RenameFile: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Rename File", V::V2021_04_10)
                    .marks(&[Is(COMP, "rename"), Has(RENAME_SOURCE)]),
                policy: WRITE.lease(LeaseUse::Write).creates().changes_etag().needs(Needs::Rename),
                access: WRITE_FILE,
                answer: answers(&[200]).etag(),
            }

            AcquireFileLease: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Lease File", V::V2019_02_02)
                    .marks(&[Is(COMP, "lease"), Is(LEASE_ACTION, "acquire")]),
                policy: WRITE.lease(LeaseUse::Manage).needs(Needs::Lease),
                access: WRITE_FILE,
                answer: answers(&[201]).etag(),
            }

            ChangeFileLease: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Lease File", V::V2019_02_02)
                    .marks(&[Is(COMP, "lease"), Is(LEASE_ACTION, "change")]),
                policy: WRITE.lease(LeaseUse::Manage),
                access: WRITE_FILE,
                answer: answers(&[200]).etag(),
            }

            ReleaseFileLease: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Lease File", V::V2019_02_02)
                    .marks(&[Is(COMP, "lease"), Is(LEASE_ACTION, "release")]),
                policy: WRITE.lease(LeaseUse::Manage),
                access: WRITE_FILE,
                answer: answers(&[200]).etag(),
            }

            BreakFileLease: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Lease File", V::V2019_02_02)
                    .marks(&[Is(COMP, "lease"), Is(LEASE_ACTION, "break")]),
                policy: WRITE.lease(LeaseUse::Manage),
                access: BREAK_FILE_LEASE,
                answer: answers(&[202]).etag(),
            }

            CreateSymbolicLink: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Create Symbolic Link", V::V2025_05_05)
                    .marks(&[Is(RESTYPE, "symboliclink")]),
                policy: WRITE.lease(LeaseUse::Write).creates().changes_etag(),
                access: CREATE_FILE,
                answer: answers(&[201]).etag(),
            }

            GetSymbolicLink: Reads {
                route: on(Service::File, Resource::Path, &[Get], "Get Symbolic Link", V::V2025_05_05)
                    .marks(&[Is(RESTYPE, "symboliclink")]).addresses(SNAPSHOT),
                policy: READ,
                access: READ_FILE,
                answer: answers(&[200]).etag(),
            }

            CreateHardLink: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Create Hard Link", V::V2025_05_05)
                    .marks(&[Is(RESTYPE, "hardlink")]),
                policy: WRITE.lease(LeaseUse::Write).creates().changes_etag(),
                access: CREATE_FILE,
                answer: answers(&[201]).etag(),
            }
        }
    };
}
