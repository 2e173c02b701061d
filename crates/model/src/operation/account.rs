//! Blob operations on the account.

macro_rules! account_operations {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*

            ListContainers: Reads {
                route: on(Service::Blob, Resource::Account, &[Get], "List Containers", V::V2009_04_14)
                    .marks(&[Is(COMP, "list")]),
                policy: READ,
                access: LIST_CONTAINERS,
                answer: answers(&[200]),
            }

            SetBlobServiceProperties: Writes {
                route: on(Service::Blob, Resource::Account, &[Put], "Set Blob Service Properties", V::V2009_09_19)
                    .marks(&[Is(RESTYPE, "service"), Is(COMP, "properties")]).body(Xml),
                policy: WRITE,
                access: SET_BLOB_SERVICE,
                answer: answers(&[202]),
            }

            GetBlobServiceProperties: Reads {
                route: on(Service::Blob, Resource::Account, &[Get], "Get Blob Service Properties", V::V2009_09_19)
                    .marks(&[Is(RESTYPE, "service"), Is(COMP, "properties")]),
                policy: READ,
                access: GET_BLOB_SERVICE,
                answer: answers(&[200]),
            }

            PreflightBlobRequest: Reads {
                route: on(Service::Blob, Resource::Any, &[Options], "Preflight Blob Request", V::V2013_08_15),
                policy: READ,
                access: PREFLIGHT,
                answer: answers(&[200]),
            }

            GetBlobServiceStats: Reads {
                route: on(Service::Blob, Resource::Account, &[Get], "Get Blob Service Stats", V::V2013_08_15)
                    .marks(&[Is(RESTYPE, "service"), Is(COMP, "stats")]),
                policy: READ,
                access: GET_BLOB_SERVICE,
                answer: answers(&[200]),
            }

            GetAccountInformation: Reads {
                route: on(Service::Blob, Resource::Account, &[Get, Head], "Get Account Information", V::V2018_03_28)
                    .marks(&[Is(RESTYPE, "account"), Is(COMP, "properties")]),
                policy: READ,
                access: ACCOUNT_INFORMATION,
                answer: answers(&[200]),
            }

            GetAccountInformationOfContainer: Reads {
                route: on(Service::Blob, Resource::Container, &[Get, Head], "Get Account Information", V::V2018_03_28)
                    .marks(&[Is(RESTYPE, "account"), Is(COMP, "properties")]),
                policy: READ,
                access: ACCOUNT_INFORMATION,
                answer: answers(&[200]),
            }

            GetAccountInformationOfBlob: Reads {
                route: on(Service::Blob, Resource::Blob, &[Get, Head], "Get Account Information", V::V2018_03_28)
                    .marks(&[Is(RESTYPE, "account"), Is(COMP, "properties")]),
                policy: READ,
                access: ACCOUNT_INFORMATION,
                answer: answers(&[200]),
            }

            GetUserDelegationKey: Reads {
                route: on(Service::Blob, Resource::Account, &[Post], "Get User Delegation Key", V::V2018_11_09)
                    .marks(&[Is(RESTYPE, "service"), Is(COMP, "userdelegationkey")]).body(Xml),
                policy: READ,
                access: USER_DELEGATION_KEY,
                answer: answers(&[200]),
            }

            BlobBatch: Writes {
                // The JavaScript client says `restype=container` in path style, and names no container.
                route: on(Service::Blob, Resource::Account, &[Post], "Blob Batch", V::V2018_11_09)
                    .marks(&[Is(COMP, "batch"), Maybe(RESTYPE, "container")]).body(Multipart),
                policy: WRITE,
                access: BATCH,
                answer: answers(&[202]).breaks_line(),
            }

            FindBlobsByTags: Reads {
                route: on(Service::Blob, Resource::Account, &[Get], "Find Blobs by Tags", V::V2019_12_12)
                    .marks(&[Is(COMP, "blobs")]),
                policy: READ,
                access: FIND_BLOBS,
                answer: answers(&[200]).breaks_line(),
            }
        }
    };
}
