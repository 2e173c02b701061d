//! The operations that a key of the customer's or a scope goes with.

use std::sync::Arc;

use bytes::Bytes;
use lazuli_model::account::AccountFeatures;
use lazuli_model::admission::Preconditions;
use lazuli_model::blob::{CustomerKey, CustomerKeyHash};
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Op, WritingOp, policy};
use lazuli_model::range::ByteRange;
use lazuli_model::time::Timestamp;
use lazuli_service::blob::*;
use lazuli_service::{Answer, Body, Context, ServiceOptions};
use zeroize::Zeroizing;

use crate::support::{Bench, at, copying, drain};

/// Requests that are encrypted in one way.
pub struct Under<'a> {
    pub bench: &'a Bench,
    pub context: Context,
    pub key: Option<CustomerKey>,
}

pub fn key(byte: u8) -> CustomerKey {
    CustomerKey::new(Zeroizing::new([byte; 32]), CustomerKeyHash([byte ^ 255; 32]))
}

pub fn with_scopes(scopes: &[&str]) -> ServiceOptions {
    let mut features = AccountFeatures::default();
    features.entry("acct").encryption_scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
    ServiceOptions { features: Arc::new(features), ..ServiceOptions::default() }
}

impl<'a> Under<'a> {
    pub fn plain(bench: &'a Bench) -> Self {
        Self { bench, context: bench.context.clone(), key: None }
    }

    pub fn key(bench: &'a Bench, byte: u8) -> Self {
        Self { key: Some(key(byte)), ..Self::plain(bench) }
    }

    pub fn scope(bench: &'a Bench, scope: &str) -> Self {
        let context = Context { encryption_scope: Some(scope.into()), ..bench.context.clone() };
        Self { context, ..Self::plain(bench) }
    }

    pub fn properties(&self) -> BlobProperties {
        BlobProperties { customer_key: self.key.clone(), ..BlobProperties::default() }
    }

    pub async fn put(&self, name: &str, bytes: &[u8]) -> Answer<Stored> {
        self.put_body(name, Body::from(Bytes::copy_from_slice(bytes))).await
    }

    pub async fn put_body(&self, name: &str, body: Body) -> Answer<Stored> {
        let input = PutBlockBlob {
            at: at(name),
            preconditions: Preconditions::default(),
            properties: self.properties(),
            digests: Digests::default(),
            body,
            limit: u64::MAX,
        };
        input.execute(&self.bench.services, &self.context).await
    }

    pub async fn put_block(&self, name: &str, id: &str, bytes: &[u8]) -> Answer<BlockStored> {
        let input = PutBlock {
            at: at(name),
            preconditions: Preconditions::default(),
            block_id: id.as_bytes().to_vec(),
            digests: Digests::default(),
            body: Body::from(Bytes::copy_from_slice(bytes)),
            limit: u64::MAX,
            customer_key: self.key.clone(),
        };
        input.execute(&self.bench.services, &self.context).await
    }

    pub async fn put_block_list(&self, name: &str, blocks: &[(BlockSource, &str)]) -> Answer<Stamped> {
        let input = PutBlockList {
            at: at(name),
            preconditions: Preconditions::default(),
            properties: self.properties(),
            blocks: blocks.iter().map(|(source, id)| (*source, id.as_bytes().to_vec())).collect(),
        };
        input.execute(&self.bench.services, &self.context).await
    }

    pub async fn create_append_blob(&self, name: &str) -> Answer<Stamped> {
        let input = PutAppendBlob {
            at: at(name),
            preconditions: Preconditions::default(),
            properties: self.properties(),
        };
        input.execute(&self.bench.services, &self.context).await
    }

    pub async fn append(&self, name: &str, bytes: &[u8]) -> Answer<Appended> {
        let input = AppendBlock {
            at: at(name),
            preconditions: Preconditions::default(),
            digests: Digests::default(),
            body: Body::from(Bytes::copy_from_slice(bytes)),
            limit: u64::MAX,
            customer_key: self.key.clone(),
        };
        input.execute(&self.bench.services, &self.context, policy::AppendBlock).await
    }

    pub async fn create_page_blob(&self, name: &str, length: u64) -> Answer<Stamped> {
        let input = PutPageBlob {
            at: at(name),
            preconditions: Preconditions::default(),
            properties: self.properties(),
            length,
            sequence_number: 0,
        };
        input.execute(&self.bench.services, &self.context).await
    }

    pub async fn put_page(&self, name: &str, from: u64, bytes: &[u8]) -> Answer<PageStored> {
        let input = PutPage {
            at: at(name),
            preconditions: Preconditions::default(),
            range: from..from + bytes.len() as u64,
            digests: Digests::default(),
            body: Body::from(Bytes::copy_from_slice(bytes)),
            customer_key: self.key.clone(),
        };
        input.execute(&self.bench.services, &self.context).await
    }

    pub async fn clear_pages(&self, name: &str, range: std::ops::Range<u64>) -> Answer<()> {
        let preconditions = Preconditions::default();
        let input = ClearPages { at: at(name), preconditions, range, customer_key: self.key.clone() };
        input.execute(&self.bench.services, &self.context).await.map(drop)
    }

    pub async fn set_metadata(&self, name: &str) -> Answer<Stamped> {
        let input = SetBlobMetadata {
            at: at(name),
            preconditions: Preconditions::default(),
            metadata: Metadata::default(),
            customer_key: self.key.clone(),
        };
        input.execute(&self.bench.services, &self.context).await
    }

    pub async fn snapshot(&self, name: &str) -> Answer<Timestamp> {
        let input = SnapshotBlob {
            at: at(name),
            preconditions: Preconditions::default(),
            metadata: Metadata::default(),
            customer_key: self.key.clone(),
        };
        Ok(input.execute(&self.bench.services, &self.context).await?.snapshot)
    }

    pub async fn get_part(
        &self,
        name: &str,
        snapshot: Option<Timestamp>,
        range: Option<&str>,
    ) -> Answer<Vec<u8>> {
        let properties = GetBlobProperties {
            at: at(name),
            state: snapshot.into(),
            preconditions: Preconditions::default(),
            customer_key: self.key.clone(),
        };
        let input = GetBlob { properties, range: range.and_then(ByteRange::parse) };
        let (_, content) = input.execute(&self.bench.services, &self.context, policy::GetBlob).await?;
        drain(content.unwrap().1).await
    }

    pub async fn get(&self, name: &str) -> Answer<Vec<u8>> {
        self.get_part(name, None, None).await
    }

    /// Copies what these requests can read to what `to` writes.
    pub async fn copy(&self, op: Op, from: &str, to: &Under<'_>, name: &str) -> Answer<Copied> {
        let source = OwnSource {
            account: self.context.account.clone(),
            at: at(from),
            state: BlobState::Base,
            preconditions: Preconditions::default(),
            customer_key: self.key.clone(),
        };
        let mut copy = copying(CopySource::Own(source), name);
        copy.given.customer_key = to.key.clone();
        copy.execute(&self.bench.services, &to.context, WritingOp::of(op).unwrap()).await
    }
}

impl Under<'_> {
    /// Stages a block in another container, under a scope.
    pub async fn put_block_in(&self, container: &str, scope: &str) -> Answer<BlockStored> {
        let input = PutBlock {
            at: BlobAddress { container: container.into(), blob: "b".into() },
            preconditions: Preconditions::default(),
            block_id: b"a".to_vec(),
            digests: Digests::default(),
            body: Body::from(Bytes::from_static(b"bytes")),
            limit: u64::MAX,
            customer_key: None,
        };
        let context = Context { encryption_scope: Some(scope.into()), ..self.context.clone() };
        input.execute(&self.bench.services, &context).await
    }
}
