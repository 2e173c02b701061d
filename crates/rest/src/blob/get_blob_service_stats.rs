//! Get Blob Service Stats: how far the secondary is behind. It is the primary itself, so never.

use lazuli_model::error::Failure;

use crate::call::Call;
use crate::reply::Reply;
use crate::xml::Writer;

pub async fn get_blob_service_stats(call: Call) -> Result<Reply, Failure> {
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
