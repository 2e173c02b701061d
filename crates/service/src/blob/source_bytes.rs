//! The bytes of a source, or of a part of one: what Put Block, Put Page, Append Block and Put Range From URL write.

use std::ops::Range;

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Judged;
use lazuli_model::range::ByteRange;

use super::copy_source::{CopySource, FileSource, OwnSource};
use super::write::refuse_archived;
use crate::download::Download;
use crate::fault::Answer;
use crate::{Body, Context, Services};

/// A source elsewhere was asked for the range already, and sends nothing else.
pub(crate) async fn source_bytes(
    services: &Services,
    context: &Context,
    source: CopySource,
    range: Option<ByteRange>,
    op: impl Judged,
) -> Answer<Body> {
    match source {
        CopySource::Own(own) => own_bytes(services, context, &own, range, op).await,
        CopySource::File(file) => file_bytes(services, context, &file, range, op).await,
        CopySource::Foreign(foreign) => Ok(foreign.body),
    }
}

async fn own_bytes(
    services: &Services,
    context: &Context,
    own: &OwnSource,
    range: Option<ByteRange>,
    op: impl Judged,
) -> Answer<Body> {
    let active = services.readers().enter();
    let view = services.view(context).await?;
    let source = view.copy_source(own, op).await?;
    refuse_archived(&source)?;
    let key = own.customer_key.as_ref();
    view.check_readable(&own.account, &source, key)?;
    let length = source.length();
    let range = wanted(range, length)?;
    let origin = own.origin(source.etag);
    Ok(Download::open(services, active, &view, &source.content, range, key, origin).await?.into_body())
}

async fn file_bytes(
    services: &Services,
    context: &Context,
    file: &FileSource,
    range: Option<ByteRange>,
    op: impl Judged,
) -> Answer<Body> {
    services
        .look(context, |view| async move {
            let active = services.readers().enter();
            let source = view.file_source(file, op).await?;
            let content = source.content()?;
            let range = wanted(range, content.length)?;
            let origin = file.origin(source.record().etag);
            Ok(Download::open(services, active, &view, content, range, None, origin).await?.into_body())
        })
        .await
}

/// What of the source is asked for, which must be there.
fn wanted(range: Option<ByteRange>, length: u64) -> Result<Range<u64>, Failure> {
    match range {
        None => Ok(0..length),
        Some(range) => range.resolve(length).map_err(|failure| {
            let status = failure.status();
            Failure::new(ErrorCode::CannotVerifyCopySource)
                .with_status(status)
                .with_message(failure.code.message())
        }),
    }
}
