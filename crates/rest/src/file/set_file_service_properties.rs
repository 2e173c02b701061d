//! Set File Service Properties.

use lazuli_model::error::Failure;
use lazuli_model::operation::Service;

use super::XML_LIMIT;
use crate::call::Call;
use crate::reply::Reply;
use crate::service_properties;

pub async fn set_file_service_properties(call: Call) -> Result<Reply, Failure> {
    let document = call.body.collect(XML_LIMIT, &call.services).await?;
    let input = service_properties::read_aside(&call.services, document).await?;
    input.execute(&call.services, &call.context, Service::File).await?;
    Ok(Reply::of(call.row))
}
