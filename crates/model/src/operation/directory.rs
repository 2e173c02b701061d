//! Operations on directories of a share, and on the handles of a directory or file, whose requests do not say which
//! of the two they mean.

macro_rules! directory_operations {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*

            CreateDirectory: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Create Directory", V::V2014_02_14)
                    .marks(&[Is(RESTYPE, "directory")]),
                policy: WRITE.only_creates().changes_etag(),
                access: CREATE_DIRECTORY,
                answer: answers(&[201]).etag(),
            }

            GetDirectoryProperties: Reads {
                route: on(Service::File, Resource::Path, &[Get, Head], "Get Directory Properties", V::V2014_02_14)
                    .marks(&[Is(RESTYPE, "directory")]).addresses(SNAPSHOT),
                policy: READ,
                access: READ_FILE,
                answer: answers(&[200]).etag(),
            }

            GetDirectoryMetadata: Reads {
                route: on(Service::File, Resource::Path, &[Get, Head], "Get Directory Metadata", V::V2014_02_14)
                    .marks(&[Is(RESTYPE, "directory"), Is(COMP, "metadata")]).addresses(SNAPSHOT),
                policy: READ,
                access: READ_FILE,
                answer: answers(&[200]).etag(),
            }

            SetDirectoryProperties: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Set Directory Properties", V::V2019_02_02)
                    .marks(&[Is(RESTYPE, "directory"), Is(COMP, "properties")]),
                policy: WRITE.changes_etag(),
                access: WRITE_FILE,
                answer: answers(&[200]).etag(),
            }

            SetDirectoryMetadata: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Set Directory Metadata", V::V2014_02_14)
                    .marks(&[Is(RESTYPE, "directory"), Is(COMP, "metadata")]),
                policy: WRITE.changes_etag(),
                access: WRITE_FILE,
                answer: answers(&[200]).etag(),
            }

            DeleteDirectory: Writes {
                route: on(Service::File, Resource::Path, &[Delete], "Delete Directory", V::V2014_02_14)
                    .marks(&[Is(RESTYPE, "directory")]),
                policy: WRITE.needs(Needs::Delete),
                access: DELETE_FILE,
                answer: answers(&[202]),
            }

            RenameDirectory: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Rename Directory", V::V2021_04_10)
                    .marks(&[Is(RESTYPE, "directory"), Is(COMP, "rename"), Has(RENAME_SOURCE)]),
                policy: WRITE.lease(LeaseUse::Write).creates().changes_etag().needs(Needs::Rename),
                access: WRITE_FILE,
                answer: answers(&[200]).etag(),
            }

            ListDirectoriesAndFiles: Reads {
                route: on(Service::File, Resource::Path, &[Get], "List Directories and Files", V::V2014_02_14)
                    .marks(&[Is(RESTYPE, "directory"), Is(COMP, "list")]).addresses(SNAPSHOT),
                policy: READ,
                access: LIST_FILES,
                answer: answers(&[200]),
            }

            ListHandles: Reads {
                route: on(Service::File, Resource::Path, &[Get], "List Handles", V::V2018_11_09)
                    .marks(&[Is(COMP, "listhandles")]).addresses(SNAPSHOT),
                policy: READ,
                access: READ_FILE,
                answer: answers(&[200]),
            }

            ForceCloseHandles: Writes {
                route: on(Service::File, Resource::Path, &[Put], "Force Close Handles", V::V2018_11_09)
                    .marks(&[Is(COMP, "forceclosehandles"), Has(HANDLE_ID)]).addresses(SNAPSHOT),
                policy: WRITE,
                access: WRITE_FILE,
                answer: answers(&[200]),
            }
        }
    };
}
