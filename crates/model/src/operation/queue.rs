//! Operations of the Queue service. No ETags, no conditions, no leases: pop receipts instead.

macro_rules! queue_operations {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*

            ListQueues: Reads {
                route: on(Service::Queue, Resource::Account, &[Get], "List Queues", V::V2009_04_14)
                    .marks(&[Is(COMP, "list")]),
                policy: READ,
                access: LIST_QUEUES,
                answer: answers(&[200]),
            }

            SetQueueServiceProperties: Writes {
                route: on(Service::Queue, Resource::Account, &[Put], "Set Queue Service Properties", V::V2009_04_14)
                    .marks(&[Is(RESTYPE, "service"), Is(COMP, "properties")]).body(Xml),
                policy: WRITE,
                access: SET_QUEUE_SERVICE,
                answer: answers(&[202]),
            }

            GetQueueServiceProperties: Reads {
                route: on(Service::Queue, Resource::Account, &[Get], "Get Queue Service Properties", V::V2009_04_14)
                    .marks(&[Is(RESTYPE, "service"), Is(COMP, "properties")]),
                policy: READ,
                access: GET_QUEUE_SERVICE,
                answer: answers(&[200]),
            }

            PreflightQueueRequest: Reads {
                route: on(Service::Queue, Resource::Any, &[Options], "Preflight Queue Request", V::V2013_08_15),
                policy: READ,
                access: PREFLIGHT,
                answer: answers(&[200]),
            }

            GetQueueServiceStats: Reads {
                route: on(Service::Queue, Resource::Account, &[Get], "Get Queue Service Stats", V::V2013_08_15)
                    .marks(&[Is(RESTYPE, "service"), Is(COMP, "stats")]),
                policy: READ,
                access: GET_QUEUE_SERVICE,
                answer: answers(&[200]),
            }

            GetQueueUserDelegationKey: Reads {
                route: on(Service::Queue, Resource::Account, &[Post], "Get User Delegation Key", V::V2026_02_06)
                    .marks(&[Is(RESTYPE, "service"), Is(COMP, "userdelegationkey")]).body(Xml),
                policy: READ,
                access: USER_DELEGATION_KEY,
                answer: answers(&[200]),
            }

            CreateQueue: Writes {
                route: on(Service::Queue, Resource::Queue, &[Put], "Create Queue", V::V2009_04_14),
                policy: WRITE.creates(),
                access: CREATE_QUEUE,
                answer: answers(&[201, 204]),
            }

            DeleteQueue: Writes {
                route: on(Service::Queue, Resource::Queue, &[Delete], "Delete Queue", V::V2009_04_14),
                policy: WRITE,
                access: DELETE_QUEUE,
                answer: answers(&[204]),
            }

            GetQueueMetadata: Reads {
                route: on(Service::Queue, Resource::Queue, &[Get, Head], "Get Queue Metadata", V::V2009_04_14)
                    .marks(&[Is(COMP, "metadata")]),
                policy: READ,
                access: READ_QUEUE,
                answer: answers(&[200]),
            }

            SetQueueMetadata: Writes {
                route: on(Service::Queue, Resource::Queue, &[Put], "Set Queue Metadata", V::V2009_04_14)
                    .marks(&[Is(COMP, "metadata")]),
                policy: WRITE,
                access: WRITE_QUEUE,
                answer: answers(&[204]),
            }

            GetQueueAcl: Reads {
                route: on(Service::Queue, Resource::Queue, &[Get, Head], "Get Queue ACL", V::V2012_02_12)
                    .marks(&[Is(COMP, "acl")]),
                policy: READ,
                access: GET_QUEUE_ACL,
                answer: answers(&[200]),
            }

            SetQueueAcl: Writes {
                route: on(Service::Queue, Resource::Queue, &[Put], "Set Queue ACL", V::V2012_02_12)
                    .marks(&[Is(COMP, "acl")]).body(Xml),
                policy: WRITE,
                access: SET_QUEUE_ACL,
                answer: answers(&[204]),
            }

            PutMessage: Writes {
                route: on(Service::Queue, Resource::Messages, &[Post], "Put Message", V::V2009_04_14).body(Xml),
                policy: WRITE,
                access: PUT_MESSAGE,
                answer: answers(&[201]),
            }

            GetMessages: Writes {
                route: on(Service::Queue, Resource::Messages, &[Get], "Get Messages", V::V2009_04_14)
                    .marks(&[Not(query("peekonly"), "true")]),
                policy: WRITE,
                access: GET_MESSAGES,
                answer: answers(&[200]),
            }

            PeekMessages: Reads {
                route: on(Service::Queue, Resource::Messages, &[Get], "Peek Messages", V::V2009_04_14)
                    .marks(&[Is(query("peekonly"), "true")]),
                policy: READ,
                access: PEEK_MESSAGES,
                answer: answers(&[200]),
            }

            ClearMessages: Writes {
                route: on(Service::Queue, Resource::Messages, &[Delete], "Clear Messages", V::V2009_04_14),
                policy: WRITE,
                access: CLEAR_MESSAGES,
                answer: answers(&[204]),
            }

            UpdateMessage: Writes {
                route: on(Service::Queue, Resource::Message, &[Put], "Update Message", V::V2011_08_18)
                    .marks(&[Has(query("popreceipt")), Has(query("visibilitytimeout"))]).body(Xml),
                policy: WRITE,
                access: UPDATE_MESSAGE,
                answer: answers(&[204]),
            }

            DeleteMessage: Writes {
                route: on(Service::Queue, Resource::Message, &[Delete], "Delete Message", V::V2009_04_14)
                    .marks(&[Has(query("popreceipt"))]),
                policy: WRITE,
                access: DELETE_MESSAGE,
                answer: answers(&[204]),
            }
        }
    };
}
