//! Blob operations that read a source, and those that control them.

macro_rules! blob_copy_operations {
    ($next:ident $($before:tt)*) => {
        $next! {
            $($before)*

            CopyBlob {
                title: "Copy Blob", since: V::V2009_09_19, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Has(COPY_SOURCE), Not(BLOB_TYPE, "BlockBlob"), Not(REQUIRES_SYNC, "true")],
                conditions: C::ETG, rule: Write, lease: LeaseUse::Write, source: true, addresses: BASE,
                creates: true, body: Body::None, access: CREATE_BLOB, status: &[202],
                returns_etag: true, changes_etag: true, built: false,
            }

            CopyBlobFromUrl {
                title: "Copy Blob From URL", since: V::V2018_11_09, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Has(COPY_SOURCE), Not(BLOB_TYPE, "BlockBlob"), Is(REQUIRES_SYNC, "true")],
                conditions: C::ETG, rule: Write, lease: LeaseUse::Write, source: true, addresses: BASE,
                creates: true, body: Body::None, access: CREATE_BLOB, status: &[202],
                returns_etag: true, changes_etag: true, built: false,
            }

            PutBlobFromUrl {
                title: "Put Blob From URL", since: V::V2020_04_08, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Has(COPY_SOURCE), Is(BLOB_TYPE, "BlockBlob")],
                conditions: C::ETG, rule: Write, lease: LeaseUse::Write, source: true, addresses: BASE,
                creates: true, body: Body::None, access: CREATE_BLOB, status: &[201],
                returns_etag: true, changes_etag: true, built: false,
            }

            AbortCopyBlob {
                title: "Abort Copy Blob", since: V::V2012_02_12, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "copy"), Has(query("copyid")), Is(Name::Header("x-ms-copy-action"), "abort")],
                conditions: C::NONE, rule: Write, lease: LeaseUse::Write, source: false, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_BLOB, status: &[204],
                returns_etag: false, changes_etag: false, built: false,
            }

            IncrementalCopyBlob {
                title: "Incremental Copy Blob", since: V::V2016_05_31, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "incrementalcopy"), Has(COPY_SOURCE)],
                conditions: C::ETG, rule: Write, lease: LeaseUse::None, source: false, addresses: BASE,
                creates: true, body: Body::None, access: CREATE_BLOB, status: &[202],
                returns_etag: true, changes_etag: true, built: false,
            }

            PutBlockFromUrl {
                title: "Put Block From URL", since: V::V2018_03_28, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "block"), Has(query("blockid")), Has(COPY_SOURCE)],
                conditions: C::NONE, rule: Write, lease: LeaseUse::Write, source: true, addresses: BASE,
                creates: true, body: Body::None, access: CREATE_BLOB, status: &[201],
                returns_etag: false, changes_etag: false, built: false,
            }

            PutPageFromUrl {
                title: "Put Page From URL", since: V::V2018_11_09, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "page"), Is(PAGE_WRITE, "update"), Has(COPY_SOURCE)],
                conditions: C::ETG.and(C::SEQUENCE), rule: Write, lease: LeaseUse::Write, source: true, addresses: BASE,
                creates: false, body: Body::None, access: WRITE_BLOB, status: &[201],
                returns_etag: true, changes_etag: true, built: false,
            }

            AppendBlockFromUrl {
                title: "Append Block From URL", since: V::V2018_11_09, service: Service::Blob, resource: Resource::Blob,
                methods: &[Put], marks: &[Is(COMP, "appendblock"), Has(COPY_SOURCE)],
                conditions: C::ETG.and(C::APPEND_POSITION).and(C::MAX_SIZE), rule: Write, lease: LeaseUse::Write, source: true, addresses: BASE,
                creates: false, body: Body::None, access: APPEND_BLOB, status: &[201],
                returns_etag: true, changes_etag: true, built: false,
            }
        }
    };
}
