//! Get and Set Service Properties, for every service.

use lazuli_model::admission::Preconditions;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::{Service, policy};

use crate::blob::CreateContainer;
use crate::fault::Answer;
use crate::{Context, Services};
use lazuli_model::service_properties::{
    CorsRule, Logging, Metrics, ProtocolSettings, RetentionPolicy, ServiceProperties, StaticWebsite,
};

/// Where the static website of an account lies. Enabling the website makes it, if it is not there.
const WEBSITE: &str = "$web";

/// The root elements that a request names; the others keep their settings.
#[derive(Clone, Debug, Default)]
pub struct SetServiceProperties {
    pub logging: Option<Logging>,
    pub hour_metrics: Option<Metrics>,
    pub minute_metrics: Option<Metrics>,
    pub cors: Option<Vec<CorsRule>>,
    pub delete_retention: Option<RetentionPolicy>,
    pub static_website: Option<StaticWebsite>,
    pub default_service_version: Option<String>,
    pub protocols: Option<SetProtocolSettings>,
}

/// The settings that a request names; the others stay as they are.
#[derive(Clone, Debug, Default)]
pub struct SetProtocolSettings {
    pub smb_multichannel: Option<bool>,
    pub smb_versions: Option<String>,
    pub smb_authentication_methods: Option<String>,
    pub smb_kerberos_ticket_encryption: Option<String>,
    pub smb_channel_encryption: Option<String>,
    pub smb_encryption_required: Option<bool>,
    pub nfs_encryption_required: Option<bool>,
}

impl SetProtocolSettings {
    fn apply(self, settings: &mut ProtocolSettings) {
        let ProtocolSettings {
            smb_multichannel,
            smb_versions,
            smb_authentication_methods,
            smb_kerberos_ticket_encryption,
            smb_channel_encryption,
            smb_encryption_required,
            nfs_encryption_required,
        } = std::mem::take(settings);
        *settings = ProtocolSettings {
            smb_multichannel: self.smb_multichannel.unwrap_or(smb_multichannel),
            smb_versions: self.smb_versions.or(smb_versions),
            smb_authentication_methods: self.smb_authentication_methods.or(smb_authentication_methods),
            smb_kerberos_ticket_encryption: self
                .smb_kerberos_ticket_encryption
                .or(smb_kerberos_ticket_encryption),
            smb_channel_encryption: self.smb_channel_encryption.or(smb_channel_encryption),
            smb_encryption_required: self.smb_encryption_required.or(smb_encryption_required),
            nfs_encryption_required: self.nfs_encryption_required.or(nfs_encryption_required),
        };
    }
}

pub async fn get_service_properties(
    services: &Services,
    account: &str,
    service: Service,
) -> Answer<ServiceProperties> {
    let context = Context::reading(account);
    services.read(&context, |view| async move { view.service_properties(service).await }).await
}

impl SetServiceProperties {
    pub async fn execute(self, services: &Services, context: &Context, service: Service) -> Answer<()> {
        let input = &self;
        services
            .commit(context, |mut unit| async move {
                let mut properties = unit.service_properties(service).await?;
                input.apply(&mut properties);
                unit.put_service_properties(service, &properties);
                if input.static_website.as_ref().is_some_and(|website| website.enabled) {
                    let found = unit.container(WEBSITE).await?;
                    let admitted = found.admit(policy::CreateContainer, &Preconditions::default());
                    match admitted.and_then(|place| place.create(&CreateContainer::private(WEBSITE))) {
                        Err(failure) if failure.code != ErrorCode::ContainerAlreadyExists => {
                            return Err(failure.into());
                        }
                        _ => {}
                    }
                }
                Ok(())
            })
            .await
    }

    fn apply(&self, properties: &mut ServiceProperties) {
        let Self {
            logging,
            hour_metrics,
            minute_metrics,
            cors,
            delete_retention,
            static_website,
            default_service_version,
            protocols,
        } = self.clone();
        if let Some(logging) = logging {
            properties.logging = logging;
        }
        if let Some(metrics) = hour_metrics {
            properties.hour_metrics = metrics;
        }
        if let Some(metrics) = minute_metrics {
            properties.minute_metrics = metrics;
        }
        if let Some(cors) = cors {
            properties.cors = cors;
        }
        if let Some(retention) = delete_retention {
            properties.delete_retention = retention;
        }
        if let Some(website) = static_website {
            properties.static_website = website;
        }
        if let Some(version) = default_service_version {
            properties.default_service_version = Some(version);
        }
        if let Some(protocols) = protocols {
            protocols.apply(&mut properties.protocols);
        }
    }
}
