//! Service properties of an account.

use lazuli_model::service_properties::{
    CorsRule, Logging, Metrics, ProtocolSettings, RetentionPolicy, ServiceProperties, StaticWebsite,
};
use serde::{Deserialize, Serialize};

use super::{Shape, first_shape};

/// Both directions between a stored struct and the one that it stores, field by field: one that is not stored does not
/// compile.
macro_rules! stored {
    ($stored:ident of $known:ident { $($field:ident: $type:ty),* $(,)? }) => {
        #[derive(Serialize, Deserialize)]
        pub struct $stored { $($field: $type),* }

        impl From<&$known> for $stored {
            fn from(known: &$known) -> Self {
                let $known { $($field),* } = known;
                Self { $($field: Stored::store($field)),* }
            }
        }

        impl From<$stored> for $known {
            fn from(stored: $stored) -> Self {
                let $stored { $($field),* } = stored;
                Self { $($field: Stored::known($field)),* }
            }
        }

        impl Stored<$known> for $stored {
            fn store(known: &$known) -> Self {
                known.into()
            }

            fn known(self) -> $known {
                self.into()
            }
        }
    };
}

/// A field as stored and as known.
trait Stored<K> {
    fn store(known: &K) -> Self;
    fn known(self) -> K;
}

macro_rules! stored_as_it_is {
    ($($type:ty),*) => {$(
        impl Stored<$type> for $type {
            fn store(known: &$type) -> Self {
                known.clone()
            }

            fn known(self) -> $type {
                self
            }
        }
    )*};
}

stored_as_it_is!(bool, u32, String, Option<bool>, Option<u32>, Option<String>, Vec<String>);

impl Stored<Vec<CorsRule>> for Vec<CorsRuleV1> {
    fn store(known: &Vec<CorsRule>) -> Self {
        known.iter().map(CorsRuleV1::from).collect()
    }

    fn known(self) -> Vec<CorsRule> {
        self.into_iter().map(CorsRule::from).collect()
    }
}

stored! {
    RetentionPolicyV1 of RetentionPolicy {
        enabled: bool,
        days: Option<u32>,
        allow_permanent_delete: Option<bool>,
    }
}

stored! {
    LoggingV1 of Logging {
        version: String,
        read: bool,
        write: bool,
        delete: bool,
        retention: RetentionPolicyV1,
    }
}

stored! {
    MetricsV1 of Metrics {
        version: String,
        enabled: bool,
        include_apis: Option<bool>,
        retention: RetentionPolicyV1,
    }
}

stored! {
    CorsRuleV1 of CorsRule {
        allowed_methods: Vec<String>,
        allowed_origins: Vec<String>,
        allowed_headers: Vec<String>,
        exposed_headers: Vec<String>,
        max_age_seconds: u32,
    }
}

stored! {
    StaticWebsiteV1 of StaticWebsite {
        enabled: bool,
        index_document: Option<String>,
        error_document_404_path: Option<String>,
        default_index_document_path: Option<String>,
    }
}

stored! {
    ProtocolSettingsV1 of ProtocolSettings {
        smb_multichannel: bool,
        smb_versions: Option<String>,
        smb_authentication_methods: Option<String>,
        smb_kerberos_ticket_encryption: Option<String>,
        smb_channel_encryption: Option<String>,
        smb_encryption_required: Option<bool>,
        nfs_encryption_required: Option<bool>,
    }
}

#[derive(Serialize, Deserialize)]
pub struct ServicePropertiesV1 {
    logging: LoggingV1,
    hour_metrics: MetricsV1,
    minute_metrics: MetricsV1,
    cors: Vec<CorsRuleV1>,
    delete_retention: RetentionPolicyV1,
    static_website: StaticWebsiteV1,
    default_service_version: Option<String>,
}

first_shape!(ServicePropertiesV1);

stored! {
    ServicePropertiesV2 of ServiceProperties {
        logging: LoggingV1,
        hour_metrics: MetricsV1,
        minute_metrics: MetricsV1,
        cors: Vec<CorsRuleV1>,
        delete_retention: RetentionPolicyV1,
        static_website: StaticWebsiteV1,
        default_service_version: Option<String>,
        protocols: ProtocolSettingsV1,
    }
}

/// With what the File service speaks; the others have the settings of one that was never told any.
impl Shape for ServicePropertiesV2 {
    const NUMBER: u8 = 2;
    type Before = ServicePropertiesV1;

    fn step(before: ServicePropertiesV1) -> Self {
        let ServicePropertiesV1 {
            logging,
            hour_metrics,
            minute_metrics,
            cors,
            delete_retention,
            static_website,
            default_service_version,
        } = before;
        let protocols = Stored::store(&ProtocolSettings::default());
        Self {
            logging,
            hour_metrics,
            minute_metrics,
            cors,
            delete_retention,
            static_website,
            default_service_version,
            protocols,
        }
    }
}
