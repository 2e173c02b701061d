//! Get and Set Service Properties, for every service.

use lazuli_engine::Plan;
use lazuli_model::operation::Service;

use crate::fault::{Answer, Fault};
use crate::record::Record;
use crate::record::properties::{
    CorsRule, Logging, Metrics, RetentionPolicy, ServiceProperties, StaticWebsite,
};
use crate::{Context, Services, key};

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
}

fn letter(service: Service) -> u8 {
    match service {
        Service::Blob | Service::Dfs => b'b',
        Service::Queue => b'q',
        Service::Table => b't',
        Service::File => b'f',
    }
}

pub async fn get_service_properties(
    services: &Services,
    account: &str,
    service: Service,
) -> Answer<ServiceProperties> {
    let reader = services.engine().reader().await?;
    match reader.get_untracked(key::service_properties(account, letter(service))).await? {
        Some(entry) => Ok(ServiceProperties::decode(&entry.value)?),
        None => Ok(ServiceProperties::default()),
    }
}

impl SetServiceProperties {
    pub async fn execute(self, services: &Services, context: &Context, service: Service) -> Answer<()> {
        let key = key::service_properties(&context.account, letter(service));
        let (input, key) = (&self, &key);
        services
            .engine()
            .run(services.deadline(), |reader| async move {
                let mut properties = match reader.get(key.clone()).await? {
                    Some(entry) => ServiceProperties::decode(&entry.value)?,
                    None => ServiceProperties::default(),
                };
                input.apply(&mut properties);
                let mut plan = Plan::new(());
                plan.put(key.clone(), properties.encode());
                Ok::<_, Fault>(plan)
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
    }
}
