//! Get Directory Properties, Get Directory Metadata.

use lazuli_model::error::Failure;
use lazuli_service::file::{Described, GetDirectoryProperties};

use super::path_headers::{is_root, tell};
use crate::call::Call;
use crate::headers::name;
use crate::reply::Reply;

pub async fn get_directory_properties(call: Call) -> Result<Reply, Failure> {
    let found = find(&call).await?;
    Ok(tell(Reply::of(call.row), call.head.version, &found)
        // Of the root it is not said (recorded).
        .header(name::X_MS_SERVER_ENCRYPTED, !is_root(&found.record))
        .metadata(found.record.metadata.iter()))
}

pub async fn get_directory_metadata(call: Call) -> Result<Reply, Failure> {
    let found = find(&call).await?.record;
    Ok(Reply::of(call.row).stamped(found.stamped()).metadata(found.metadata.iter()))
}

async fn find(call: &Call) -> Result<Described, Failure> {
    let input = GetDirectoryProperties { at: call.path()?, preconditions: call.preconditions()? };
    Ok(input.execute(&call.services, &call.context, call.reading()).await?)
}
