//! Get Blob Service Properties.

use lazuli_model::error::Failure;
use lazuli_model::operation::Service;
use lazuli_service::shared::service_properties::get_service_properties;

use crate::call::Call;
use crate::reply::Reply;
use crate::service_properties;

pub async fn get_blob_service_properties(call: Call) -> Result<Reply, Failure> {
    let found = get_service_properties(&call.services, &call.context.account, Service::Blob);
    let properties = found.await?;
    Ok(Reply::of(call.row).xml(service_properties::write(&properties, true)))
}
