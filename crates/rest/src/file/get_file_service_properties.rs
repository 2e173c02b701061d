//! Get File Service Properties.

use lazuli_model::error::Failure;
use lazuli_model::operation::Service;
use lazuli_model::service_properties::{ProtocolSettings, ServiceProperties};
use lazuli_model::version::{ApiVersion, Feature};
use lazuli_service::shared::service_properties::get_service_properties;

use crate::call::Call;
use crate::reply::Reply;
use crate::service_properties::{metrics, retention, rules};
use crate::xml::Writer;

pub async fn get_file_service_properties(call: Call) -> Result<Reply, Failure> {
    let found = get_service_properties(&call.services, &call.context.account, Service::File);
    let properties = found.await?;
    Ok(Reply::of(call.row).xml(write(&properties, call.head.version)))
}

/// No logging, and the protocols last. How long deleted shares are kept is told where it was set here: the service has
/// it in the settings of the account, and does not tell (recorded).
fn write(properties: &ServiceProperties, version: ApiVersion) -> String {
    let ServiceProperties { hour_metrics, minute_metrics, cors, delete_retention, protocols, .. } =
        properties;
    let mut writer = Writer::new();
    writer.open("StorageServiceProperties");
    metrics(&mut writer, "HourMetrics", hour_metrics);
    metrics(&mut writer, "MinuteMetrics", minute_metrics);
    rules(&mut writer, cors);
    if delete_retention.enabled {
        retention(&mut writer, "ShareDeleteRetentionPolicy", delete_retention);
    }
    if version.has(Feature::SmbProtocolSettings) {
        settings(&mut writer, protocols);
    }
    writer.close("StorageServiceProperties");
    writer.finish()
}

fn settings(writer: &mut Writer, settings: &ProtocolSettings) {
    let ProtocolSettings {
        smb_multichannel,
        smb_versions,
        smb_authentication_methods,
        smb_kerberos_ticket_encryption,
        smb_channel_encryption,
        smb_encryption_required,
        nfs_encryption_required,
    } = settings;
    writer.open("ProtocolSettings");
    writer.open("SMB");
    writer.open("Multichannel");
    writer.flag("Enabled", *smb_multichannel);
    writer.close("Multichannel");
    writer.maybe("Versions", smb_versions.as_deref());
    writer.maybe("AuthenticationMethods", smb_authentication_methods.as_deref());
    writer.maybe("KerberosTicketEncryption", smb_kerberos_ticket_encryption.as_deref());
    writer.maybe("ChannelEncryption", smb_channel_encryption.as_deref());
    encryption(writer, *smb_encryption_required);
    writer.close("SMB");
    if nfs_encryption_required.is_some() {
        writer.open("NFS");
        encryption(writer, *nfs_encryption_required);
        writer.close("NFS");
    }
    writer.close("ProtocolSettings");
}

fn encryption(writer: &mut Writer, required: Option<bool>) {
    if let Some(required) = required {
        writer.open("EncryptionInTransit");
        writer.flag("Required", required);
        writer.close("EncryptionInTransit");
    }
}
