//! Get File Properties, Get File Metadata.

use lazuli_model::error::Failure;
use lazuli_model::time::Timestamp;
use lazuli_service::file::{Described, GetFileProperties};

use super::file_headers::describe;
use crate::call::Call;
use crate::headers::name;
use crate::reply::Reply;

pub async fn get_file_properties(call: Call) -> Result<Reply, Failure> {
    let (found, now) = find(&call).await?;
    let reply = describe(&call, &found, now).header(name::CONTENT_LENGTH, found.record.length());
    Ok(match found.record.file() {
        Some(file) => reply.content_md5(name::CONTENT_MD5, &file.headers.content_md5),
        None => reply,
    })
}

pub async fn get_file_metadata(call: Call) -> Result<Reply, Failure> {
    let (found, _) = find(&call).await?;
    Ok(Reply::of(call.row).stamped(found.record.stamped()).metadata(found.record.metadata.iter()))
}

async fn find(call: &Call) -> Result<(Described, Timestamp), Failure> {
    let input = GetFileProperties { at: call.path()?, preconditions: call.preconditions()? };
    Ok(input.execute(&call.services, &call.context, call.reading()).await?)
}
