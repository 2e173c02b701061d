//! File operations on the account.

macro_rules! file_service_operations {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*

            ListShares: Reads {
                route: on(Service::File, Resource::Account, &[Get], "List Shares", V::V2014_02_14)
                    .marks(&[Is(COMP, "list")]),
                policy: READ,
                access: LIST_SHARES,
                answer: answers(&[200]),
            }

            SetFileServiceProperties: Writes {
                route: on(Service::File, Resource::Account, &[Put], "Set File Service Properties", V::V2015_02_21)
                    .marks(&[Is(RESTYPE, "service"), Is(COMP, "properties")]).body(Xml),
                policy: WRITE,
                access: SET_FILE_SERVICE,
                answer: answers(&[202]),
            }

            GetFileServiceProperties: Reads {
                route: on(Service::File, Resource::Account, &[Get], "Get File Service Properties", V::V2015_02_21)
                    .marks(&[Is(RESTYPE, "service"), Is(COMP, "properties")]),
                policy: READ,
                access: GET_FILE_SERVICE,
                answer: answers(&[200]),
            }

            PreflightFileRequest: Reads {
                route: on(Service::File, Resource::Any, &[Options], "Preflight File Request", V::V2015_02_21),
                policy: READ,
                access: PREFLIGHT,
                answer: answers(&[200]),
            }

            GetFileUserDelegationKey: Reads {
                route: on(Service::File, Resource::Account, &[Post], "Get User Delegation Key", V::V2026_02_06)
                    .marks(&[Is(RESTYPE, "service"), Is(COMP, "userdelegationkey")]).body(Xml),
                policy: READ,
                access: USER_DELEGATION_KEY,
                answer: answers(&[200]),
            }
        }
    };
}
