//! Operations of the Table service. Upserts are told from updates by If-Match alone.

macro_rules! table_operations {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*

            SetTableServiceProperties: Writes {
                route: on(Service::Table, Resource::Account, &[Put], "Set Table Service Properties", V::V2009_04_14)
                    .marks(&[Is(RESTYPE, "service"), Is(COMP, "properties")]).body(Xml),
                policy: WRITE,
                access: SET_TABLE_SERVICE,
                answer: answers(&[202]),
            }

            GetTableServiceProperties: Reads {
                route: on(Service::Table, Resource::Account, &[Get], "Get Table Service Properties", V::V2009_04_14)
                    .marks(&[Is(RESTYPE, "service"), Is(COMP, "properties")]),
                policy: READ,
                access: GET_TABLE_SERVICE,
                answer: answers(&[200]),
            }

            PreflightTableRequest: Reads {
                route: on(Service::Table, Resource::Any, &[Options], "Preflight Table Request", V::V2013_08_15),
                policy: READ,
                access: PREFLIGHT,
                answer: answers(&[200]),
            }

            GetTableServiceStats: Reads {
                route: on(Service::Table, Resource::Account, &[Get], "Get Table Service Stats", V::V2013_08_15)
                    .marks(&[Is(RESTYPE, "service"), Is(COMP, "stats")]),
                policy: READ,
                access: GET_TABLE_SERVICE,
                answer: answers(&[200]),
            }

            QueryTables: Reads {
                route: on(Service::Table, Resource::Tables, &[Get], "Query Tables", V::V2009_04_14),
                policy: READ,
                access: QUERY_TABLES,
                answer: answers(&[200]),
            }

            CreateTable: Writes {
                route: on(Service::Table, Resource::Tables, &[Post], "Create Table", V::V2009_04_14).body(Json),
                policy: WRITE.creates(),
                access: CREATE_TABLE,
                answer: answers(&[201, 204]),
            }

            GetTable: Reads {
                route: on(Service::Table, Resource::Table, &[Get], "Query Tables", V::V2009_04_14),
                policy: READ,
                access: QUERY_TABLES,
                answer: answers(&[200]),
            }

            DeleteTable: Writes {
                route: on(Service::Table, Resource::Table, &[Delete], "Delete Table", V::V2009_04_14),
                policy: WRITE,
                access: DELETE_TABLE,
                answer: answers(&[204]),
            }

            GetTableAcl: Reads {
                route: on(Service::Table, Resource::EntitySet, &[Get, Head], "Get Table ACL", V::V2012_02_12)
                    .marks(&[Is(COMP, "acl")]),
                policy: READ,
                access: TABLE_ACL,
                answer: answers(&[200]),
            }

            SetTableAcl: Writes {
                route: on(Service::Table, Resource::EntitySet, &[Put], "Set Table ACL", V::V2012_02_12)
                    .marks(&[Is(COMP, "acl")]).body(Xml),
                policy: WRITE,
                access: TABLE_ACL,
                answer: answers(&[204]),
            }

            QueryEntities: Reads {
                route: on(Service::Table, Resource::EntitySet, &[Get], "Query Entities", V::V2009_04_14),
                policy: READ,
                access: QUERY_ENTITIES,
                answer: answers(&[200]),
            }

            GetEntity: Reads {
                route: on(Service::Table, Resource::Entity, &[Get], "Query Entities", V::V2009_04_14),
                policy: READ,
                access: QUERY_ENTITIES,
                answer: answers(&[200]).etag(),
            }

            InsertEntity: Writes {
                route: on(Service::Table, Resource::EntitySet, &[Post], "Insert Entity", V::V2009_04_14).body(Json),
                policy: WRITE.only_creates().changes_etag(),
                access: INSERT_ENTITY,
                answer: answers(&[201, 204]).etag(),
            }

            UpdateEntity: Writes {
                route: on(Service::Table, Resource::Entity, &[Put], "Update Entity", V::V2009_04_14)
                    .marks(&[Has(IF_MATCH)]).body(Json),
                policy: WRITE.conditions(C::IF_MATCH).changes_etag(),
                access: UPDATE_ENTITY,
                answer: answers(&[204]).etag(),
            }

            MergeEntity: Writes {
                route: on(Service::Table, Resource::Entity, &[Patch, Merge], "Merge Entity", V::V2009_04_14)
                    .marks(&[Has(IF_MATCH)]).body(Json),
                policy: WRITE.conditions(C::IF_MATCH).changes_etag(),
                access: UPDATE_ENTITY,
                answer: answers(&[204]).etag(),
            }

            InsertOrReplaceEntity: Writes {
                route: on(Service::Table, Resource::Entity, &[Put], "Insert Or Replace Entity", V::V2011_08_18)
                    .marks(&[Lacks(IF_MATCH)]).body(Json),
                policy: WRITE.creates().changes_etag(),
                access: UPSERT_ENTITY,
                answer: answers(&[204]).etag(),
            }

            InsertOrMergeEntity: Writes {
                route: on(Service::Table, Resource::Entity, &[Patch, Merge], "Insert Or Merge Entity", V::V2011_08_18)
                    .marks(&[Lacks(IF_MATCH)]).body(Json),
                policy: WRITE.creates().changes_etag(),
                access: UPSERT_ENTITY,
                answer: answers(&[204]).etag(),
            }

            DeleteEntity: Writes {
                route: on(Service::Table, Resource::Entity, &[Delete], "Delete Entity", V::V2009_04_14),
                policy: WRITE.conditions(C::IF_MATCH).needs_match(),
                access: DELETE_ENTITY,
                answer: answers(&[204]),
            }

            EntityGroupTransaction: Writes {
                route: on(Service::Table, Resource::Batch, &[Post], "Performing Entity Group Transactions", V::V2009_04_14).body(Multipart),
                policy: WRITE.creates(),
                access: BATCH,
                answer: answers(&[202]),
            }
        }
    };
}
