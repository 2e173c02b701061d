//! Query Blob Contents.

mod avro;
mod request;

pub use request::{QueryRequest, read};

use bytes::Bytes;
use futures_util::stream;
use lazuli_model::error::Failure;
use lazuli_service::blob::QueryBlobContents;
use lazuli_service::query::Running;

use super::XML_LIMIT;
use super::get_blob::{describe, properties};
use crate::call::Call;
use crate::decode;
use crate::headers::name;
use crate::reply::Reply;

pub async fn query_blob_contents(call: Call) -> Result<Reply, Failure> {
    let properties = properties(&call)?;
    let digests = decode::digests(&call.head)?;
    let Call { services, context, row, head, grant, body, auth, sources } = call;
    let document = body.collect(XML_LIMIT, &services).await?;
    let length = document.len();
    let read = move || {
        digests.verify_bytes(&document)?;
        request::read(&document)
    };
    let QueryRequest { query, input, output } = services.compute(length, read).await??;
    let input = QueryBlobContents { properties, query, input, output };
    let (found, running) = input.execute(&services, &context).await?;
    let body = lazuli_service::Body::empty();
    let call = Call { services, context, row, head, grant, body, auth, sources };
    let mut reply = describe(&call, &found).header(name::CONTENT_TYPE, "avro/binary");
    // Reads of the blob tell how many tags it has, this one does not (recorded).
    reply.headers.remove(name::X_MS_TAG_COUNT);
    Ok(reply.stream(answer(running)))
}

/// The records as they come, each in a block of its own.
fn answer(running: Running) -> impl futures_util::Stream<Item = lazuli_service::Answer<Bytes>> + Send {
    let writer = avro::Writer::new(lazuli_service::fresh_uuid().into_bytes());
    stream::unfold((running, writer), |(mut running, mut writer)| async move {
        let records = match running.next().await? {
            Ok(records) => records,
            Err(fault) => return Some((Err(fault), (running, writer))),
        };
        let mut bytes = Vec::new();
        for record in &records {
            writer.write(&mut bytes, record);
        }
        Some((Ok(bytes.into()), (running, writer)))
    })
}
