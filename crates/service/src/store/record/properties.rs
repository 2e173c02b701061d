//! Service properties of an account: logging, metrics, CORS and what else the service keeps for its clients.

use serde::{Deserialize, Serialize};

use super::Record;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetentionPolicy {
    pub enabled: bool,
    pub days: Option<u32>,
    pub allow_permanent_delete: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logging {
    pub version: String,
    pub read: bool,
    pub write: bool,
    pub delete: bool,
    pub retention: RetentionPolicy,
}

impl Default for Logging {
    fn default() -> Self {
        Self {
            version: "1.0".into(),
            read: false,
            write: false,
            delete: false,
            retention: RetentionPolicy::default(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metrics {
    pub version: String,
    pub enabled: bool,
    pub include_apis: Option<bool>,
    pub retention: RetentionPolicy,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            version: "1.0".into(),
            enabled: false,
            include_apis: None,
            retention: RetentionPolicy::default(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorsRule {
    pub allowed_methods: Vec<String>,
    pub allowed_origins: Vec<String>,
    pub allowed_headers: Vec<String>,
    pub exposed_headers: Vec<String>,
    pub max_age_seconds: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaticWebsite {
    pub enabled: bool,
    pub index_document: Option<String>,
    pub error_document_404_path: Option<String>,
    pub default_index_document_path: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceProperties {
    pub logging: Logging,
    pub hour_metrics: Metrics,
    pub minute_metrics: Metrics,
    pub cors: Vec<CorsRule>,
    pub delete_retention: RetentionPolicy,
    pub static_website: StaticWebsite,
    pub default_service_version: Option<String>,
}

impl Record for ServiceProperties {
    const SHAPE: u8 = 1;
    const NAME: &'static str = "service properties";
}
