//! Headers of answers that older versions of the protocol did not have yet.

use http::{HeaderMap, HeaderName};
use lazuli_model::version::{ApiVersion, Feature};

use crate::headers::name;

/// The youngest first.
static LATER: [(HeaderName, Feature); 21] = [
    (name::X_MS_SMART_ACCESS_TIER, Feature::SmartTier),
    (name::X_MS_VERSION_ID, Feature::Versions),
    (name::X_MS_IS_CURRENT_VERSION, Feature::Versions),
    (name::X_MS_REHYDRATE_PRIORITY, Feature::RehydratePriorityTold),
    (name::X_MS_IS_HNS_ENABLED, Feature::HierarchyTold),
    (name::X_MS_CREATION_TIME, Feature::CreationTime),
    (name::X_MS_ARCHIVE_STATUS, Feature::AccessTiers),
    (name::X_MS_ACCESS_TIER_CHANGE_TIME, Feature::AccessTiers),
    (name::X_MS_ACCESS_TIER_INFERRED, Feature::AccessTiers),
    (name::X_MS_ACCESS_TIER, Feature::AccessTiers),
    (name::X_MS_REQUEST_SERVER_ENCRYPTED, Feature::EncryptionFlags),
    (name::X_MS_SERVER_ENCRYPTED, Feature::EncryptionFlags),
    (name::CONTENT_DISPOSITION, Feature::ContentDisposition),
    (name::X_MS_COPY_COMPLETION_TIME, Feature::AsynchronousCopies),
    (name::X_MS_COPY_PROGRESS, Feature::AsynchronousCopies),
    (name::X_MS_COPY_STATUS_DESCRIPTION, Feature::AsynchronousCopies),
    (name::X_MS_COPY_STATUS, Feature::AsynchronousCopies),
    (name::X_MS_COPY_SOURCE, Feature::AsynchronousCopies),
    (name::X_MS_COPY_ID, Feature::AsynchronousCopies),
    (name::X_MS_LEASE_DURATION, Feature::LeaseRework),
    (name::X_MS_LEASE_STATE, Feature::LeaseRework),
];

/// Takes away what the version did not have. Of answers of current versions, nearly all, little is looked at.
pub(crate) fn take_away(headers: &mut HeaderMap, version: ApiVersion) {
    for (name, _) in LATER.iter().take_while(|(_, since)| !version.has(*since)) {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn left(version: ApiVersion) -> Vec<&'static str> {
        let mut headers = HeaderMap::new();
        for (name, _) in LATER.iter() {
            headers.insert(name, HeaderValue::from_static("x"));
        }
        take_away(&mut headers, version);
        let left = |(name, _): &&(HeaderName, Feature)| headers.contains_key(name);
        let names = crate::headers::ALL.iter().copied();
        names.filter(|name| LATER.iter().filter(left).any(|(own, _)| own == *name)).collect()
    }

    #[test]
    fn each_version_has_what_it_had() {
        assert_eq!(left(ApiVersion::V2026_10_06).len(), LATER.len());
        assert_eq!(left(ApiVersion::V2021_06_08).len(), LATER.len() - 1);
        assert!(!left(ApiVersion::V2019_02_02).contains(&"x-ms-is-hns-enabled"));
        assert!(left(ApiVersion::V2019_07_07).contains(&"x-ms-is-hns-enabled"));
        assert_eq!(
            left(ApiVersion::V2014_02_14),
            [
                "content-disposition",
                "x-ms-lease-duration",
                "x-ms-lease-state",
                "x-ms-copy-completion-time",
                "x-ms-copy-id",
                "x-ms-copy-progress",
                "x-ms-copy-source",
                "x-ms-copy-status",
                "x-ms-copy-status-description"
            ]
        );
        assert!(left(ApiVersion::V2009_09_19).is_empty());
    }

    /// To stop at the first that the version has is right: those behind it are no younger.
    #[test]
    fn the_youngest_come_first() {
        assert!(LATER.is_sorted_by_key(|(_, since)| std::cmp::Reverse(since.since())));
    }
}
