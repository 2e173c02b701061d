//! Get and Set Table Service Properties, Get Table Service Stats.

use lazuli_model::error::Failure;
use lazuli_model::operation::Service;
use lazuli_service::shared::service_properties::get_service_properties;

use super::XML_LIMIT;
use crate::call::Call;
use crate::reply::Reply;
use crate::service_properties as document;
use crate::xml::Writer;

pub async fn get_table_service_properties(call: Call) -> Result<Reply, Failure> {
    let properties = get_service_properties(&call.services, &call.context.account, Service::Table);
    Ok(Reply::of(call.row).xml(document::write(&properties.await?, false)))
}

pub async fn set_table_service_properties(call: Call) -> Result<Reply, Failure> {
    let body = call.body.collect(XML_LIMIT, &call.services).await?;
    let input = document::read_aside(&call.services, body).await?;
    input.execute(&call.services, &call.context, Service::Table).await?;
    Ok(Reply::of(call.row))
}

/// How far the secondary is behind. It is the primary itself, so never.
pub async fn get_table_service_stats(call: Call) -> Result<Reply, Failure> {
    if !call.head.target.secondary {
        let comp = call.head.query("comp").unwrap_or_default();
        return Err(Failure::invalid_query("comp", comp, "Stats are available on the secondary only."));
    }
    let mut writer = Writer::new();
    writer.open("StorageServiceStats");
    writer.open("GeoReplication");
    writer.element("Status", "live");
    writer.element("LastSyncTime", &call.services.wall_now().rfc1123());
    writer.close("GeoReplication");
    writer.close("StorageServiceStats");
    Ok(Reply::of(call.row).xml(writer.finish()))
}
