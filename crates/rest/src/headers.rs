//! Every header name that the wire knows, spelled once. Lower case, as the header map keeps them.

macro_rules! names {
    ($($name:ident $text:literal)*) => {
        $(pub const $name: &str = $text;)*

        /// The same, ready for a header map. Making one of a text means comparing it with every name that HTTP
        /// itself knows: answers that are given often use these.
        pub mod name {
            use http::HeaderName;

            $(pub const $name: HeaderName = HeaderName::from_static($text);)*
        }

        pub const ALL: &[&str] = &[$($text),*];
    };
}

names! {
    // HTTP.
    ACCEPT "accept"
    ACCEPT_RANGES "accept-ranges"
    ALLOW "allow"
    AUTHORIZATION "authorization"
    CACHE_CONTROL "cache-control"
    CONTENT_DISPOSITION "content-disposition"
    CONTENT_ENCODING "content-encoding"
    CONTENT_LANGUAGE "content-language"
    CONTENT_LENGTH "content-length"
    CONTENT_MD5 "content-md5"
    CONTENT_RANGE "content-range"
    CONTENT_TYPE "content-type"
    DATE "date"
    ETAG "etag"
    EXPECT "expect"
    HOST "host"
    IF_MATCH "if-match"
    IF_MODIFIED_SINCE "if-modified-since"
    IF_NONE_MATCH "if-none-match"
    IF_UNMODIFIED_SINCE "if-unmodified-since"
    LAST_MODIFIED "last-modified"
    LOCATION "location"
    ORIGIN "origin"
    PREFER "prefer"
    PREFERENCE_APPLIED "preference-applied"
    RANGE "range"
    SERVER "server"
    VARY "vary"
    WWW_AUTHENTICATE "www-authenticate"
    X_CONTENT_TYPE_OPTIONS "x-content-type-options"
    X_HTTP_METHOD "x-http-method"

    // CORS.
    ACCESS_CONTROL_ALLOW_CREDENTIALS "access-control-allow-credentials"
    ACCESS_CONTROL_ALLOW_HEADERS "access-control-allow-headers"
    ACCESS_CONTROL_ALLOW_METHODS "access-control-allow-methods"
    ACCESS_CONTROL_ALLOW_ORIGIN "access-control-allow-origin"
    ACCESS_CONTROL_EXPOSE_HEADERS "access-control-expose-headers"
    ACCESS_CONTROL_MAX_AGE "access-control-max-age"
    ACCESS_CONTROL_REQUEST_HEADERS "access-control-request-headers"
    ACCESS_CONTROL_REQUEST_METHOD "access-control-request-method"

    // Every request and answer.
    X_MS_CLIENT_REQUEST_ID "x-ms-client-request-id"
    X_MS_DATE "x-ms-date"
    X_MS_ERROR_CODE "x-ms-error-code"
    X_MS_REQUEST_ID "x-ms-request-id"
    X_MS_VERSION "x-ms-version"

    // Conditions.
    X_MS_ACCESS_TIER_IF_MODIFIED_SINCE "x-ms-access-tier-if-modified-since"
    X_MS_ACCESS_TIER_IF_UNMODIFIED_SINCE "x-ms-access-tier-if-unmodified-since"
    X_MS_BLOB_CONDITION_APPENDPOS "x-ms-blob-condition-appendpos"
    X_MS_BLOB_CONDITION_MAXSIZE "x-ms-blob-condition-maxsize"
    X_MS_BLOB_IF_MATCH "x-ms-blob-if-match"
    X_MS_BLOB_IF_MODIFIED_SINCE "x-ms-blob-if-modified-since"
    X_MS_BLOB_IF_NONE_MATCH "x-ms-blob-if-none-match"
    X_MS_BLOB_IF_UNMODIFIED_SINCE "x-ms-blob-if-unmodified-since"
    X_MS_IF_SEQUENCE_NUMBER_EQ "x-ms-if-sequence-number-eq"
    X_MS_IF_SEQUENCE_NUMBER_LE "x-ms-if-sequence-number-le"
    X_MS_IF_SEQUENCE_NUMBER_LT "x-ms-if-sequence-number-lt"
    X_MS_IF_TAGS "x-ms-if-tags"
    X_MS_SOURCE_IF_MATCH "x-ms-source-if-match"
    X_MS_SOURCE_IF_MODIFIED_SINCE "x-ms-source-if-modified-since"
    X_MS_SOURCE_IF_NONE_MATCH "x-ms-source-if-none-match"
    X_MS_SOURCE_IF_TAGS "x-ms-source-if-tags"
    X_MS_SOURCE_IF_UNMODIFIED_SINCE "x-ms-source-if-unmodified-since"

    // Leases.
    X_MS_LEASE_ACTION "x-ms-lease-action"
    X_MS_LEASE_BREAK_PERIOD "x-ms-lease-break-period"
    X_MS_LEASE_DURATION "x-ms-lease-duration"
    X_MS_LEASE_ID "x-ms-lease-id"
    X_MS_LEASE_STATE "x-ms-lease-state"
    X_MS_LEASE_STATUS "x-ms-lease-status"
    X_MS_LEASE_TIME "x-ms-lease-time"
    X_MS_PROPOSED_LEASE_ID "x-ms-proposed-lease-id"

    // Accounts and containers.
    X_MS_ACCOUNT_KIND "x-ms-account-kind"
    X_MS_BLOB_PUBLIC_ACCESS "x-ms-blob-public-access"
    X_MS_DEFAULT_ENCRYPTION_SCOPE "x-ms-default-encryption-scope"
    X_MS_DENY_ENCRYPTION_SCOPE_OVERRIDE "x-ms-deny-encryption-scope-override"
    X_MS_HAS_IMMUTABILITY_POLICY "x-ms-has-immutability-policy"
    X_MS_HAS_LEGAL_HOLD "x-ms-has-legal-hold"
    X_MS_IMMUTABLE_STORAGE_WITH_VERSIONING_ENABLED "x-ms-immutable-storage-with-versioning-enabled"
    X_MS_IS_HNS_ENABLED "x-ms-is-hns-enabled"
    X_MS_SKU_NAME "x-ms-sku-name"

    // Blobs.
    X_MS_ACCESS_TIER "x-ms-access-tier"
    X_MS_ACCESS_TIER_CHANGE_TIME "x-ms-access-tier-change-time"
    X_MS_ACCESS_TIER_INFERRED "x-ms-access-tier-inferred"
    X_MS_ARCHIVE_STATUS "x-ms-archive-status"
    X_MS_BLOB_APPEND_OFFSET "x-ms-blob-append-offset"
    X_MS_APPROXIMATE_MESSAGES_COUNT "x-ms-approximate-messages-count"
    X_MS_BLOB_CACHE_CONTROL "x-ms-blob-cache-control"
    X_MS_BLOB_COMMITTED_BLOCK_COUNT "x-ms-blob-committed-block-count"
    X_MS_BLOB_CONTENT_DISPOSITION "x-ms-blob-content-disposition"
    X_MS_BLOB_CONTENT_ENCODING "x-ms-blob-content-encoding"
    X_MS_BLOB_CONTENT_LANGUAGE "x-ms-blob-content-language"
    X_MS_BLOB_CONTENT_LENGTH "x-ms-blob-content-length"
    X_MS_BLOB_CONTENT_MD5 "x-ms-blob-content-md5"
    X_MS_BLOB_CONTENT_TYPE "x-ms-blob-content-type"
    X_MS_BLOB_SEALED "x-ms-blob-sealed"
    X_MS_BLOB_SEQUENCE_NUMBER "x-ms-blob-sequence-number"
    X_MS_BLOB_TYPE "x-ms-blob-type"
    X_MS_CONTENT_CRC64 "x-ms-content-crc64"
    X_MS_COPY_COMPLETION_TIME "x-ms-copy-completion-time"
    X_MS_COPY_DESTINATION_SNAPSHOT "x-ms-copy-destination-snapshot"
    X_MS_COPY_ID "x-ms-copy-id"
    X_MS_COPY_PROGRESS "x-ms-copy-progress"
    X_MS_COPY_SOURCE "x-ms-copy-source"
    X_MS_COPY_SOURCE_AUTHORIZATION "x-ms-copy-source-authorization"
    X_MS_COPY_SOURCE_BLOB_PROPERTIES "x-ms-copy-source-blob-properties"
    X_MS_COPY_SOURCE_TAG_OPTION "x-ms-copy-source-tag-option"
    X_MS_COPY_STATUS "x-ms-copy-status"
    X_MS_COPY_STATUS_DESCRIPTION "x-ms-copy-status-description"
    X_MS_CREATION_TIME "x-ms-creation-time"
    X_MS_DELETE_SNAPSHOTS "x-ms-delete-snapshots"
    X_MS_DELETE_TYPE_PERMANENT "x-ms-delete-type-permanent"
    X_MS_ENCRYPTION_ALGORITHM "x-ms-encryption-algorithm"
    X_MS_ENCRYPTION_KEY "x-ms-encryption-key"
    X_MS_ENCRYPTION_KEY_SHA256 "x-ms-encryption-key-sha256"
    X_MS_ENCRYPTION_SCOPE "x-ms-encryption-scope"
    X_MS_SOURCE_ENCRYPTION_ALGORITHM "x-ms-source-encryption-algorithm"
    X_MS_SOURCE_ENCRYPTION_KEY "x-ms-source-encryption-key"
    X_MS_SOURCE_ENCRYPTION_KEY_SHA256 "x-ms-source-encryption-key-sha256"
    X_MS_RANGE "x-ms-range"
    X_MS_RANGE_GET_CONTENT_CRC64 "x-ms-range-get-content-crc64"
    X_MS_RANGE_GET_CONTENT_MD5 "x-ms-range-get-content-md5"
    X_MS_REHYDRATE_PRIORITY "x-ms-rehydrate-priority"
    X_MS_EXPIRY_OPTION "x-ms-expiry-option"
    X_MS_EXPIRY_TIME "x-ms-expiry-time"
    X_MS_IMMUTABILITY_POLICY_MODE "x-ms-immutability-policy-mode"
    X_MS_IMMUTABILITY_POLICY_UNTIL_DATE "x-ms-immutability-policy-until-date"
    X_MS_LAST_ACCESS_TIME "x-ms-last-access-time"
    X_MS_LEGAL_HOLD "x-ms-legal-hold"
    X_MS_POPRECEIPT "x-ms-popreceipt"
    X_MS_REQUEST_SERVER_ENCRYPTED "x-ms-request-server-encrypted"
    X_MS_SEQUENCE_NUMBER_ACTION "x-ms-sequence-number-action"
    X_MS_SERVER_ENCRYPTED "x-ms-server-encrypted"
    X_MS_SMART_ACCESS_TIER "x-ms-smart-access-tier"
    X_MS_SNAPSHOT "x-ms-snapshot"
    X_MS_INCREMENTAL_COPY "x-ms-incremental-copy"
    X_MS_SEAL_BLOB "x-ms-seal-blob"
    X_MS_SOURCE_CONTENT_CRC64 "x-ms-source-content-crc64"
    X_MS_SOURCE_IF_MATCH_CRC64 "x-ms-source-if-match-crc64"
    X_MS_SOURCE_IF_NONE_MATCH_CRC64 "x-ms-source-if-none-match-crc64"
    X_MS_SOURCE_CONTENT_MD5 "x-ms-source-content-md5"
    X_MS_SOURCE_LEASE_ID "x-ms-source-lease-id"
    X_MS_SOURCE_RANGE "x-ms-source-range"
    X_MS_STRUCTURED_BODY "x-ms-structured-body"
    X_MS_STRUCTURED_CONTENT_LENGTH "x-ms-structured-content-length"
    X_MS_TAGS "x-ms-tags"
    X_MS_TAG_COUNT "x-ms-tag-count"
    X_MS_TIME_NEXT_VISIBLE "x-ms-time-next-visible"
    X_MS_VERSION_ID "x-ms-version-id"
    X_MS_IS_CURRENT_VERSION "x-ms-is-current-version"
    X_MS_DELETED_CONTAINER_NAME "x-ms-deleted-container-name"
    X_MS_DELETED_CONTAINER_VERSION "x-ms-deleted-container-version"

    // Shares, directories and files.
    X_MS_ALLOW_TRAILING_DOT "x-ms-allow-trailing-dot"
    X_MS_CACHE_CONTROL "x-ms-cache-control"
    X_MS_CONTENT_DISPOSITION "x-ms-content-disposition"
    X_MS_CONTENT_ENCODING "x-ms-content-encoding"
    X_MS_CONTENT_LANGUAGE "x-ms-content-language"
    X_MS_CONTENT_LENGTH "x-ms-content-length"
    X_MS_CONTENT_MD5 "x-ms-content-md5"
    X_MS_CONTENT_TYPE "x-ms-content-type"
    X_MS_DELETED_SHARE_NAME "x-ms-deleted-share-name"
    X_MS_DELETED_SHARE_VERSION "x-ms-deleted-share-version"
    X_MS_DESTINATION_LEASE_ID "x-ms-destination-lease-id"
    X_MS_ENABLED_PROTOCOLS "x-ms-enabled-protocols"
    X_MS_ENABLE_SMB_DIRECTORY_LEASE "x-ms-enable-smb-directory-lease"
    X_MS_ENABLE_SNAPSHOT_VIRTUAL_DIRECTORY_ACCESS "x-ms-enable-snapshot-virtual-directory-access"
    X_MS_FILE_ATTRIBUTES "x-ms-file-attributes"
    X_MS_FILE_CHANGE_TIME "x-ms-file-change-time"
    X_MS_FILE_COPY_IGNORE_READONLY "x-ms-file-copy-ignore-readonly"
    X_MS_FILE_COPY_SET_ARCHIVE "x-ms-file-copy-set-archive"
    X_MS_FILE_CREATION_TIME "x-ms-file-creation-time"
    X_MS_FILE_EXTENDED_INFO "x-ms-file-extended-info"
    X_MS_FILE_FILE_TYPE "x-ms-file-file-type"
    X_MS_FILE_ID "x-ms-file-id"
    X_MS_FILE_SUPPORT_RENAME "x-ms-file-support-rename"
    X_MS_FILE_LAST_WRITE_TIME "x-ms-file-last-write-time"
    X_MS_FILE_MODE_COPY_MODE "x-ms-file-mode-copy-mode"
    X_MS_FILE_OWNER_COPY_MODE "x-ms-file-owner-copy-mode"
    X_MS_FILE_PARENT_ID "x-ms-file-parent-id"
    X_MS_FILE_PERMISSION "x-ms-file-permission"
    X_MS_FILE_PERMISSION_COPY_MODE "x-ms-file-permission-copy-mode"
    X_MS_FILE_PERMISSION_FORMAT "x-ms-file-permission-format"
    X_MS_FILE_PERMISSION_KEY "x-ms-file-permission-key"
    X_MS_FILE_PROPERTY_SEMANTICS "x-ms-file-property-semantics"
    X_MS_FILE_RENAME_IGNORE_READONLY "x-ms-file-rename-ignore-readonly"
    X_MS_FILE_RENAME_REPLACE_IF_EXISTS "x-ms-file-rename-replace-if-exists"
    X_MS_FILE_RENAME_SOURCE "x-ms-file-rename-source"
    X_MS_FILE_REQUEST_INTENT "x-ms-file-request-intent"
    X_MS_FILE_SHARE_USAGE_BYTES "x-ms-file-share-usage-bytes"
    X_MS_FILE_TARGET_FILE "x-ms-file-target-file"
    X_MS_GROUP "x-ms-group"
    X_MS_HANDLE_ID "x-ms-handle-id"
    X_MS_LINK_COUNT "x-ms-link-count"
    X_MS_LINK_TEXT "x-ms-link-text"
    X_MS_MARKER "x-ms-marker"
    X_MS_MODE "x-ms-mode"
    X_MS_NUMBER_OF_HANDLES_CLOSED "x-ms-number-of-handles-closed"
    X_MS_NUMBER_OF_HANDLES_FAILED "x-ms-number-of-handles-failed"
    X_MS_OWNER "x-ms-owner"
    X_MS_RECURSIVE "x-ms-recursive"
    X_MS_ROOT_SQUASH "x-ms-root-squash"
    X_MS_SHARE_PAID_BURSTING_ENABLED "x-ms-share-paid-bursting-enabled"
    X_MS_SHARE_PAID_BURSTING_MAX_BANDWIDTH_MIBPS "x-ms-share-paid-bursting-max-bandwidth-mibps"
    X_MS_SHARE_PAID_BURSTING_MAX_IOPS "x-ms-share-paid-bursting-max-iops"
    X_MS_SHARE_PROVISIONED_BANDWIDTH_MIBPS "x-ms-share-provisioned-bandwidth-mibps"
    X_MS_SHARE_PROVISIONED_IOPS "x-ms-share-provisioned-iops"
    X_MS_SHARE_QUOTA "x-ms-share-quota"
    X_MS_SOURCE_ALLOW_TRAILING_DOT "x-ms-source-allow-trailing-dot"
    X_MS_TYPE "x-ms-type"

    // Tables.
    DATASERVICEID "dataserviceid"
    DATASERVICEVERSION "dataserviceversion"
    X_MS_CONTINUATION_NEXTPARTITIONKEY "x-ms-continuation-nextpartitionkey"
    X_MS_CONTINUATION_NEXTROWKEY "x-ms-continuation-nextrowkey"
    X_MS_CONTINUATION_NEXTTABLENAME "x-ms-continuation-nexttablename"
}

/// Before the name of each metadata pair.
pub const X_MS_META_PREFIX: &str = "x-ms-meta-";

/// Whether an operation may act by this header. Such a header has a value that is text, or the request is refused
/// (see `RequestHeaders::check`). Metadata has letters of its own, and the client's request id is only handed back.
pub fn is_read(name: &str) -> bool {
    let starts_with =
        |prefix: &str| name.get(..prefix.len()).is_some_and(|own| own.eq_ignore_ascii_case(prefix));
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    if starts_with("x-ms-") {
        return !starts_with(X_MS_META_PREFIX) && !is(X_MS_CLIENT_REQUEST_ID);
    }
    // What is wrong with an Authorization header has an answer of its own.
    !is(AUTHORIZATION) && ALL.iter().any(|known| is(known))
}

/// Whether several lines of the header are one list.
pub fn is_list(name: &str) -> bool {
    matches!(
        name,
        IF_MATCH
            | IF_NONE_MATCH
            | ACCEPT
            | PREFER
            | EXPECT
            | VARY
            | CACHE_CONTROL
            | CONTENT_ENCODING
            | CONTENT_LANGUAGE
            | X_HTTP_METHOD
            | ACCESS_CONTROL_REQUEST_HEADERS
    )
}

/// The name as the service's error bodies spell it; `x-ms-*` names are spelled as they are.
pub fn spelled(name: &str) -> &str {
    match name {
        CONTENT_LENGTH => "Content-Length",
        CONTENT_MD5 => "Content-MD5",
        CONTENT_TYPE => "Content-Type",
        RANGE => "Range",
        ORIGIN => "Origin",
        IF_MATCH => "If-Match",
        IF_NONE_MATCH => "If-None-Match",
        IF_MODIFIED_SINCE => "If-Modified-Since",
        IF_UNMODIFIED_SINCE => "If-Unmodified-Since",
        ACCESS_CONTROL_REQUEST_METHOD => "Access-Control-Request-Method",
        other => other,
    }
}
