//! Service properties of an account: logging, metrics, CORS and what else a service keeps for its clients.

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetentionPolicy {
    pub enabled: bool,
    pub days: Option<u32>,
    pub allow_permanent_delete: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
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

#[derive(Debug, Clone, PartialEq, Eq)]
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

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CorsRule {
    pub allowed_methods: Vec<String>,
    pub allowed_origins: Vec<String>,
    pub allowed_headers: Vec<String>,
    pub exposed_headers: Vec<String>,
    pub max_age_seconds: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StaticWebsite {
    pub enabled: bool,
    pub index_document: Option<String>,
    pub error_document_404_path: Option<String>,
    pub default_index_document_path: Option<String>,
}

/// How the File service speaks the protocols that clients mount shares with. What was never set is not told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProtocolSettings {
    /// One SMB session over several connections.
    pub smb_multichannel: bool,
    /// The lists of what SMB may use, as they were set.
    pub smb_versions: Option<String>,
    pub smb_authentication_methods: Option<String>,
    pub smb_kerberos_ticket_encryption: Option<String>,
    pub smb_channel_encryption: Option<String>,
    /// Clients that do not encrypt are turned away.
    pub smb_encryption_required: Option<bool>,
    pub nfs_encryption_required: Option<bool>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServiceProperties {
    pub logging: Logging,
    pub hour_metrics: Metrics,
    pub minute_metrics: Metrics,
    pub cors: Vec<CorsRule>,
    /// Of blobs, or of shares.
    pub delete_retention: RetentionPolicy,
    pub static_website: StaticWebsite,
    pub default_service_version: Option<String>,
    pub protocols: ProtocolSettings,
}
