//! A store in memory that fails as it is told, and counts.

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use lazuli_engine::object_store::memory::InMemory;
use lazuli_engine::object_store::path::Path;
use lazuli_engine::object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use tokio::sync::Semaphore;

#[derive(Debug)]
pub struct Faulty {
    pub inner: InMemory,
    /// Nothing is written.
    pub refuse_puts: AtomicBool,
    /// Written, and yet an error.
    pub lose_answers: AtomicBool,
    pub refuse_gets: AtomicBool,
    pub refuse_deletes: AtomicBool,
    /// Objects are deleted by requests of ten, and so many of these fail as a whole, with one error each.
    pub refused_requests: AtomicU64,
    /// What deletes panics, as the client of a store does when an answer makes no sense to it.
    pub panic_on_deletes: AtomicBool,
    /// So many answers to reads have a bit flipped.
    pub damage: AtomicU64,
    /// Puts of chunks need one each.
    pub puts_allowed: Semaphore,
    pub delay_millis: AtomicU64,
    pub puts: AtomicU64,
    pub gets: AtomicU64,
    pub get_bytes: AtomicU64,
}

impl Default for Faulty {
    fn default() -> Self {
        Self {
            inner: InMemory::new(),
            refuse_puts: Default::default(),
            lose_answers: Default::default(),
            refuse_gets: Default::default(),
            refuse_deletes: Default::default(),
            refused_requests: Default::default(),
            panic_on_deletes: Default::default(),
            damage: Default::default(),
            puts_allowed: Semaphore::new(Semaphore::MAX_PERMITS >> 1),
            delay_millis: Default::default(),
            puts: Default::default(),
            gets: Default::default(),
            get_bytes: Default::default(),
        }
    }
}

impl Faulty {
    /// Chunks that are there.
    pub async fn chunks(&self) -> Vec<Path> {
        let listed = self.inner.list(Some(&Path::from("c")));
        listed.map(|object| object.unwrap().location).collect().await
    }
}

fn failed() -> Error {
    Error::Generic { store: "faulty", source: "told to fail".into() }
}

impl std::fmt::Display for Faulty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Faulty")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.puts_allowed.acquire().await.unwrap().forget();
        if self.refuse_puts.load(SeqCst) {
            return Err(failed());
        }
        let done = self.inner.put_opts(path, payload, options).await?;
        self.puts.fetch_add(1, SeqCst);
        if self.lose_answers.load(SeqCst) { Err(failed()) } else { Ok(done) }
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        Err(failed())
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.gets.fetch_add(1, SeqCst);
        tokio::time::sleep(Duration::from_millis(self.delay_millis.load(SeqCst))).await;
        if self.refuse_gets.load(SeqCst) {
            return Err(failed());
        }
        let GetResult { meta, range, attributes, payload, .. } = self.inner.get_opts(path, options).await?;
        let read = GetResult {
            meta: meta.clone(),
            range: range.clone(),
            attributes: attributes.clone(),
            payload,
            extensions: Default::default(),
        };
        let mut bytes = read.bytes().await?.to_vec();
        self.get_bytes.fetch_add(bytes.len() as u64, SeqCst);
        if self.damage.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0x10;
        }
        let payload = GetResultPayload::Stream(futures_util::stream::iter([Ok(Bytes::from(bytes))]).boxed());
        Ok(GetResult { meta, range, attributes, payload, extensions: Default::default() })
    }

    async fn get_ranges(&self, path: &Path, ranges: &[std::ops::Range<u64>]) -> Result<Vec<Bytes>> {
        let mut found = Vec::new();
        for range in ranges {
            found.push(self.get_range(path, range.clone()).await?);
        }
        Ok(found)
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        if self.refuse_deletes.load(SeqCst) {
            return paths.map(|_| Err(failed())).boxed();
        }
        if self.panic_on_deletes.load(SeqCst) {
            return paths.map(|_| panic!("as a test wants it")).boxed();
        }
        let inner = self.inner.clone();
        let refused = self.refused_requests.swap(0, SeqCst) as usize;
        let answers = paths.chunks(10).enumerate().map(move |(request, paths)| match request < refused {
            true => futures_util::stream::iter([Err(failed())]).boxed(),
            false => inner.delete_stream(futures_util::stream::iter(paths).boxed()),
        });
        answers.flatten().boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(failed())
    }
}
