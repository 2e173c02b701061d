//! A service over a fresh engine, and short names for what the tests do with it.

use bytes::Bytes;
use lazuli_engine::{Engine, Host, KeyRange, Scan};
use lazuli_model::Timestamp;
use lazuli_model::access::PublicAccess;
use lazuli_model::admission::Preconditions;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Op, WritingOp, policy};
use lazuli_model::range::ByteRange;
use lazuli_model::version::ApiVersion;
use lazuli_service::blob::*;
use lazuli_service::{Answer, Body, Context, ServiceOptions, Services};

use crate::SERVERS;
use crate::testing::Servers;

pub struct Bench {
    pub services: Servers,
    pub context: Context,
}

impl Bench {
    pub async fn new() -> Self {
        Self::with(ServiceOptions::default()).await
    }

    pub async fn with(options: ServiceOptions) -> Self {
        Self::over(crate::testing::engine(Host::real()).await, options).await
    }

    pub async fn over(engine: Engine, options: ServiceOptions) -> Self {
        let services = Servers::new(engine, options, SERVERS).await;
        let bench = Self { services, context: Context::of_owner("acct", ApiVersion::NEWEST) };
        bench.create_container("c").await;
        bench
    }

    pub async fn create_container(&self, name: &str) {
        let input = CreateContainer {
            container: name.into(),
            metadata: Metadata::default(),
            public_access: PublicAccess::Private,
            default_encryption_scope: None,
            deny_encryption_scope_override: false,
        };
        input.execute(&self.services, &self.context).await.unwrap();
    }

    pub async fn put(&self, name: &str, body: &[u8]) -> Answer<Stored> {
        let input = PutBlockBlob {
            at: at(name),
            preconditions: Preconditions::default(),
            properties: BlobProperties::default(),
            digests: Digests::default(),
            body: Body::from(Bytes::copy_from_slice(body)),
            limit: u64::MAX,
        };
        input.execute(&self.services, &self.context).await
    }

    pub async fn put_block(&self, name: &str, id: &str, body: &[u8]) -> Answer<BlockStored> {
        let input = PutBlock {
            at: at(name),
            preconditions: Preconditions::default(),
            block_id: id.as_bytes().to_vec(),
            digests: Digests::default(),
            body: Body::from(Bytes::copy_from_slice(body)),
            limit: u64::MAX,
            customer_key: None,
        };
        input.execute(&self.services, &self.context).await
    }

    pub async fn put_block_list(&self, name: &str, blocks: &[(BlockSource, &str)]) -> Answer<Stamped> {
        let input = PutBlockList {
            at: at(name),
            preconditions: Preconditions::default(),
            properties: BlobProperties::default(),
            blocks: blocks.iter().map(|(source, id)| (*source, id.as_bytes().to_vec())).collect(),
        };
        input.execute(&self.services, &self.context).await
    }

    pub async fn create_append_blob(&self, name: &str) -> Answer<Stamped> {
        let input = PutAppendBlob {
            at: at(name),
            preconditions: Preconditions::default(),
            properties: BlobProperties::default(),
        };
        input.execute(&self.services, &self.context).await
    }

    pub async fn append(&self, name: &str, body: &[u8]) -> Answer<Appended> {
        self.append_if(name, body, Preconditions::default()).await
    }

    pub async fn append_if(&self, name: &str, body: &[u8], preconditions: Preconditions) -> Answer<Appended> {
        self.append_on(&self.services, name, body, preconditions).await
    }

    /// To this server.
    pub async fn append_on(
        &self,
        server: &Services,
        name: &str,
        body: &[u8],
        preconditions: Preconditions,
    ) -> Answer<Appended> {
        let input = AppendBlock {
            at: at(name),
            preconditions,
            digests: Digests::default(),
            body: Body::from(Bytes::copy_from_slice(body)),
            limit: u64::MAX,
            customer_key: None,
        };
        input.execute(server, &self.context, policy::AppendBlock).await
    }

    pub async fn snapshot(&self, name: &str) -> Answer<Timestamp> {
        let input = SnapshotBlob {
            at: at(name),
            preconditions: Preconditions::default(),
            metadata: Metadata::default(),
            customer_key: None,
        };
        Ok(input.execute(&self.services, &self.context).await?.snapshot)
    }

    /// `op` is one of the three copies of whole blobs.
    pub async fn copy(&self, op: Op, from: &str, snapshot: Option<Timestamp>, to: &str) -> Answer<Copied> {
        let source = OwnSource {
            account: self.context.account.clone(),
            at: at(from),
            state: snapshot.into(),
            preconditions: Preconditions::default(),
            customer_key: None,
        };
        self.copy_from(op, CopySource::Own(source), to).await
    }

    pub async fn copy_from(&self, op: Op, source: CopySource, to: &str) -> Answer<Copied> {
        copying(source, to).execute(&self.services, &self.context, WritingOp::of(op).unwrap()).await
    }

    pub async fn properties(&self, name: &str) -> Answer<BlobRecord> {
        let input = GetBlobProperties {
            at: at(name),
            state: BlobState::Base,
            preconditions: Preconditions::default(),
            customer_key: None,
        };
        Ok(*input.execute(&self.services, &self.context, policy::GetBlobProperties).await?.blob)
    }

    pub async fn delete(
        &self,
        name: &str,
        snapshot: Option<Timestamp>,
        snapshots: Option<DeleteSnapshots>,
    ) -> Answer<()> {
        let input = DeleteBlob {
            at: at(name),
            state: snapshot.into(),
            preconditions: Preconditions::default(),
            snapshots,
            is_permanent: false,
        };
        input.execute(&self.services, &self.context).await.map(|_| ())
    }

    pub async fn open(
        &self,
        name: &str,
        snapshot: Option<Timestamp>,
        range: Option<&str>,
    ) -> Answer<lazuli_service::download::Download> {
        let properties = GetBlobProperties {
            at: at(name),
            state: snapshot.into(),
            preconditions: Preconditions::default(),
            customer_key: None,
        };
        let input = GetBlob { properties, range: range.and_then(ByteRange::parse) };
        let (_, content) = input.execute(&self.services, &self.context, policy::GetBlob).await?;
        Ok(content.unwrap().1)
    }

    pub async fn get(&self, name: &str, snapshot: Option<Timestamp>) -> Answer<Vec<u8>> {
        drain(self.open(name, snapshot, None).await?).await
    }

    pub async fn sweep(&self) {
        self.services.sweep().await;
    }

    /// Every key that a caller of the engine wrote, but those that servers tell each other something by.
    pub async fn keys(&self) -> Vec<String> {
        let reader = self.services.engine().reader().await.unwrap();
        let range = KeyRange { start: Bytes::from_static(&[1]), end: None };
        let page = reader.scan(Scan { limit: 100_000, max_bytes: 1 << 30, ..Scan::of(range) }).await.unwrap();
        let keys = page.items.iter().map(|(key, _)| key.escape_ascii().to_string());
        keys.filter(|key| !key.starts_with(['z', 'j'])).collect()
    }
}

pub async fn drain(mut download: lazuli_service::download::Download) -> Answer<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(part) = download.next().await {
        bytes.extend_from_slice(&part?);
    }
    Ok(bytes)
}

pub fn at(name: &str) -> BlobAddress {
    BlobAddress { container: "c".into(), blob: name.into() }
}

pub fn copying(source: CopySource, to: &str) -> CopyBlob {
    CopyBlob {
        at: at(to),
        preconditions: Preconditions::default(),
        source,
        shown_source: "http://127.0.0.1/source".into(),
        given: GivenProperties::default(),
        md5: None,
        tells_md5: false,
        limit: u64::MAX,
    }
}

/// A bench whose clock the test moves.
pub async fn with_clock(
    options: ServiceOptions,
) -> (Bench, std::sync::Arc<lazuli_engine::host::ManualClock>) {
    let host = Host::test();
    let lazuli_engine::host::Clock::Manual(clock) = host.clock.clone() else { panic!("a test's clock") };
    (Bench::over(crate::testing::engine(host).await, options).await, clock)
}

/// "ok", or the code of the refusal.
pub fn code<T>(answer: Answer<T>) -> String {
    match answer {
        Ok(_) => "ok".to_owned(),
        Err(fault) => lazuli_model::Failure::from(fault).code.name().to_owned(),
    }
}

pub fn done<T>(answer: Answer<T>) -> T {
    answer.map_err(|fault| fault.0).unwrap()
}

/// The names that a list shows, with `@` behind those of snapshots, `?` behind those of uncommitted blocks.
pub async fn listed(bench: &Bench, delimiter: &str) -> Vec<String> {
    let input = ListBlobs {
        container: "c".into(),
        delimiter: delimiter.into(),
        max_results: 1_000,
        max_bytes: 1 << 20,
        snapshots: delimiter.is_empty(),
        uncommitted: true,
        ..ListBlobs::default()
    };
    let list = done(input.execute(&bench.services, &bench.context).await);
    let shown = list.items.iter().map(|item| match item {
        BlobListItem::Blob { name, state: BlobState::Snapshot(_), .. } => format!("{name}@"),
        BlobListItem::Blob { name, .. } | BlobListItem::VersionsOnly { name, .. } => name.clone(),
        BlobListItem::Uncommitted { name, .. } => format!("{name}?"),
        BlobListItem::Prefix(prefix) => prefix.clone(),
    });
    shown.collect()
}
