//! Operations of the Table service. Upserts are told from updates by If-Match alone.

macro_rules! table_operations {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*

            SetTableServiceProperties {
                title: "Set Table Service Properties", since: V::V2009_04_14, service: Service::Table, resource: Resource::Account,
                methods: &[Put], marks: &[Is(RESTYPE, "service"), Is(COMP, "properties")],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Xml, access: SET_TABLE_SERVICE, status: &[202],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetTableServiceProperties {
                title: "Get Table Service Properties", since: V::V2009_04_14, service: Service::Table, resource: Resource::Account,
                methods: &[Get], marks: &[Is(RESTYPE, "service"), Is(COMP, "properties")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: GET_TABLE_SERVICE, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            PreflightTableRequest {
                title: "Preflight Table Request", since: V::V2013_08_15, service: Service::Table, resource: Resource::Any,
                methods: &[Options], marks: &[],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: PREFLIGHT, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetTableServiceStats {
                title: "Get Table Service Stats", since: V::V2013_08_15, service: Service::Table, resource: Resource::Account,
                methods: &[Get], marks: &[Is(RESTYPE, "service"), Is(COMP, "stats")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: GET_TABLE_SERVICE, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            QueryTables {
                title: "Query Tables", since: V::V2009_04_14, service: Service::Table, resource: Resource::Tables,
                methods: &[Get], marks: &[],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: QUERY_TABLES, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            CreateTable {
                title: "Create Table", since: V::V2009_04_14, service: Service::Table, resource: Resource::Tables,
                methods: &[Post], marks: &[],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: true, body: Json, access: CREATE_TABLE, status: &[201, 204],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetTable {
                title: "Query Tables", since: V::V2009_04_14, service: Service::Table, resource: Resource::Table,
                methods: &[Get], marks: &[],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: QUERY_TABLES, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            DeleteTable {
                title: "Delete Table", since: V::V2009_04_14, service: Service::Table, resource: Resource::Table,
                methods: &[Delete], marks: &[],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: DELETE_TABLE, status: &[204],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetTableAcl {
                title: "Get Table ACL", since: V::V2012_02_12, service: Service::Table, resource: Resource::EntitySet,
                methods: &[Get, Head], marks: &[Is(COMP, "acl")],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: TABLE_ACL, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            SetTableAcl {
                title: "Set Table ACL", since: V::V2012_02_12, service: Service::Table, resource: Resource::EntitySet,
                methods: &[Put], marks: &[Is(COMP, "acl")],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Xml, access: TABLE_ACL, status: &[204],
                returns_etag: false, changes_etag: false, built: true,
            }

            QueryEntities {
                title: "Query Entities", since: V::V2009_04_14, service: Service::Table, resource: Resource::EntitySet,
                methods: &[Get], marks: &[],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: QUERY_ENTITIES, status: &[200],
                returns_etag: false, changes_etag: false, built: true,
            }

            GetEntity {
                title: "Query Entities", since: V::V2009_04_14, service: Service::Table, resource: Resource::Entity,
                methods: &[Get], marks: &[],
                conditions: C::NONE, rule: Read, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: QUERY_ENTITIES, status: &[200],
                returns_etag: true, changes_etag: false, built: true,
            }

            InsertEntity {
                title: "Insert Entity", since: V::V2009_04_14, service: Service::Table, resource: Resource::EntitySet,
                methods: &[Post], marks: &[],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: true, body: Json, access: INSERT_ENTITY, status: &[201, 204],
                returns_etag: true, changes_etag: true, built: true,
            }

            UpdateEntity {
                title: "Update Entity", since: V::V2009_04_14, service: Service::Table, resource: Resource::Entity,
                methods: &[Put], marks: &[Has(IF_MATCH)],
                conditions: C::IF_MATCH, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Json, access: UPDATE_ENTITY, status: &[204],
                returns_etag: true, changes_etag: true, built: true,
            }

            MergeEntity {
                title: "Merge Entity", since: V::V2009_04_14, service: Service::Table, resource: Resource::Entity,
                methods: &[Patch, Merge], marks: &[Has(IF_MATCH)],
                conditions: C::IF_MATCH, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Json, access: UPDATE_ENTITY, status: &[204],
                returns_etag: true, changes_etag: true, built: true,
            }

            InsertOrReplaceEntity {
                title: "Insert Or Replace Entity", since: V::V2011_08_18, service: Service::Table, resource: Resource::Entity,
                methods: &[Put], marks: &[Lacks(IF_MATCH)],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: true, body: Json, access: UPSERT_ENTITY, status: &[204],
                returns_etag: true, changes_etag: true, built: true,
            }

            InsertOrMergeEntity {
                title: "Insert Or Merge Entity", since: V::V2011_08_18, service: Service::Table, resource: Resource::Entity,
                methods: &[Patch, Merge], marks: &[Lacks(IF_MATCH)],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: true, body: Json, access: UPSERT_ENTITY, status: &[204],
                returns_etag: true, changes_etag: true, built: true,
            }

            DeleteEntity {
                title: "Delete Entity", since: V::V2009_04_14, service: Service::Table, resource: Resource::Entity,
                methods: &[Delete], marks: &[],
                conditions: C::IF_MATCH, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: false, body: Body::None, access: DELETE_ENTITY, status: &[204],
                returns_etag: false, changes_etag: false, built: true,
            }

            EntityGroupTransaction {
                title: "Performing Entity Group Transactions", since: V::V2009_04_14, service: Service::Table, resource: Resource::Batch,
                methods: &[Post], marks: &[],
                conditions: C::NONE, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: true, body: Multipart, access: BATCH, status: &[202],
                returns_etag: false, changes_etag: false, built: true,
            }
        }
    };
}
