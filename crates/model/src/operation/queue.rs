//! Operations of the Queue service. No ETags, no conditions, no leases: pop receipts instead.

macro_rules! queue_operations {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*

            ListQueues {
                title: "List Queues", since: V::V2009_04_14, service: Service::Queue, resource: Resource::Account,
                methods: &[Get], marks: &[Is(COMP, "list")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: LIST_QUEUES, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            SetQueueServiceProperties {
                title: "Set Queue Service Properties", since: V::V2009_04_14, service: Service::Queue, resource: Resource::Account,
                methods: &[Put], marks: &[Is(RESTYPE, "service"), Is(COMP, "properties")],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Xml, access: SET_QUEUE_SERVICE, status: &[202],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetQueueServiceProperties {
                title: "Get Queue Service Properties", since: V::V2009_04_14, service: Service::Queue, resource: Resource::Account,
                methods: &[Get], marks: &[Is(RESTYPE, "service"), Is(COMP, "properties")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: GET_QUEUE_SERVICE, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            PreflightQueueRequest {
                title: "Preflight Queue Request", since: V::V2013_08_15, service: Service::Queue, resource: Resource::Any,
                methods: &[Options], marks: &[],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: PREFLIGHT, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetQueueServiceStats {
                title: "Get Queue Service Stats", since: V::V2013_08_15, service: Service::Queue, resource: Resource::Account,
                methods: &[Get], marks: &[Is(RESTYPE, "service"), Is(COMP, "stats")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: GET_QUEUE_SERVICE, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetQueueUserDelegationKey {
                title: "Get User Delegation Key", since: V::V2026_02_06, service: Service::Queue, resource: Resource::Account,
                methods: &[Post], marks: &[Is(RESTYPE, "service"), Is(COMP, "userdelegationkey")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Xml, access: USER_DELEGATION_KEY, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            CreateQueue {
                title: "Create Queue", since: V::V2009_04_14, service: Service::Queue, resource: Resource::Queue,
                methods: &[Put], marks: &[],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: true, body: Body::None, access: CREATE_QUEUE, status: &[201, 204],
                returns_etag: false, changes_etag: false, built: true,
            }

            DeleteQueue {
                title: "Delete Queue", since: V::V2009_04_14, service: Service::Queue, resource: Resource::Queue,
                methods: &[Delete], marks: &[],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: DELETE_QUEUE, status: &[204],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetQueueMetadata {
                title: "Get Queue Metadata", since: V::V2009_04_14, service: Service::Queue, resource: Resource::Queue,
                methods: &[Get, Head], marks: &[Is(COMP, "metadata")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: READ_QUEUE, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            SetQueueMetadata {
                title: "Set Queue Metadata", since: V::V2009_04_14, service: Service::Queue, resource: Resource::Queue,
                methods: &[Put], marks: &[Is(COMP, "metadata")],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_QUEUE, status: &[204],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetQueueAcl {
                title: "Get Queue ACL", since: V::V2012_02_12, service: Service::Queue, resource: Resource::Queue,
                methods: &[Get, Head], marks: &[Is(COMP, "acl")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: GET_QUEUE_ACL, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            SetQueueAcl {
                title: "Set Queue ACL", since: V::V2012_02_12, service: Service::Queue, resource: Resource::Queue,
                methods: &[Put], marks: &[Is(COMP, "acl")],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Xml, access: SET_QUEUE_ACL, status: &[204],
                returns_etag: false, changes_etag: false, built: true,
            }

            PutMessage {
                title: "Put Message", since: V::V2009_04_14, service: Service::Queue, resource: Resource::Messages,
                methods: &[Post], marks: &[],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Xml, access: PUT_MESSAGE, status: &[201],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetMessages {
                title: "Get Messages", since: V::V2009_04_14, service: Service::Queue, resource: Resource::Messages,
                methods: &[Get], marks: &[Not(query("peekonly"), "true")],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: GET_MESSAGES, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            PeekMessages {
                title: "Peek Messages", since: V::V2009_04_14, service: Service::Queue, resource: Resource::Messages,
                methods: &[Get], marks: &[Is(query("peekonly"), "true")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: PEEK_MESSAGES, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            ClearMessages {
                title: "Clear Messages", since: V::V2009_04_14, service: Service::Queue, resource: Resource::Messages,
                methods: &[Delete], marks: &[],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: CLEAR_MESSAGES, status: &[204],
                returns_etag: false, changes_etag: false, built: true,
            }

            UpdateMessage {
                title: "Update Message", since: V::V2011_08_18, service: Service::Queue, resource: Resource::Message,
                methods: &[Put], marks: &[Has(query("popreceipt")), Has(query("visibilitytimeout"))],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Xml, access: UPDATE_MESSAGE, status: &[204],
                returns_etag: false, changes_etag: false, built: true,
            }

            DeleteMessage {
                title: "Delete Message", since: V::V2009_04_14, service: Service::Queue, resource: Resource::Message,
                methods: &[Delete], marks: &[Has(query("popreceipt"))],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: DELETE_MESSAGE, status: &[204],
                returns_etag: false, changes_etag: false, built: true,
            }
        }
    };
}
