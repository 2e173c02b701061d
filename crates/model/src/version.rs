//! Versions of the REST protocol (`x-ms-version`) and what each of them switched on.
//! No other file compares a version with a date: it asks [`ApiVersion::has`].

use std::fmt;

/// `YYYY-MM-DD`, kept as sent because answers echo it exactly; byte order is date order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiVersion([u8; 10]);

macro_rules! versions {
    ($($name:ident $date:literal)*) => {
        impl ApiVersion {
            $(pub const $name: ApiVersion = ApiVersion(*$date);)*

            /// Every version of contract/common.md section 2, oldest first.
            pub const KNOWN: &'static [ApiVersion] = &[$(ApiVersion::$name),*];
        }
    };
}

versions! {
    V2009_04_14 b"2009-04-14" V2009_07_17 b"2009-07-17" V2009_09_19 b"2009-09-19" V2011_08_18 b"2011-08-18"
    V2012_02_12 b"2012-02-12" V2013_08_15 b"2013-08-15" V2014_02_14 b"2014-02-14" V2015_02_21 b"2015-02-21"
    V2015_04_05 b"2015-04-05" V2015_07_08 b"2015-07-08" V2015_12_11 b"2015-12-11" V2016_05_31 b"2016-05-31"
    V2017_04_17 b"2017-04-17" V2017_07_29 b"2017-07-29" V2017_11_09 b"2017-11-09" V2018_03_28 b"2018-03-28"
    V2018_11_09 b"2018-11-09" V2019_02_02 b"2019-02-02" V2019_07_07 b"2019-07-07" V2019_10_10 b"2019-10-10"
    V2019_12_12 b"2019-12-12" V2020_02_10 b"2020-02-10" V2020_04_08 b"2020-04-08" V2020_06_12 b"2020-06-12"
    V2020_08_04 b"2020-08-04" V2020_10_02 b"2020-10-02" V2020_12_06 b"2020-12-06" V2021_02_12 b"2021-02-12"
    V2021_04_10 b"2021-04-10" V2021_06_08 b"2021-06-08" V2021_08_06 b"2021-08-06" V2021_10_04 b"2021-10-04"
    V2021_12_02 b"2021-12-02" V2022_11_02 b"2022-11-02" V2023_01_03 b"2023-01-03" V2023_05_03 b"2023-05-03"
    V2023_08_03 b"2023-08-03" V2023_11_03 b"2023-11-03" V2024_02_04 b"2024-02-04" V2024_05_04 b"2024-05-04"
    V2024_08_04 b"2024-08-04" V2024_11_04 b"2024-11-04" V2025_01_05 b"2025-01-05" V2025_05_05 b"2025-05-05"
    V2025_07_05 b"2025-07-05" V2025_11_05 b"2025-11-05" V2026_02_06 b"2026-02-06" V2026_04_06 b"2026-04-06"
    V2026_06_06 b"2026-06-06" V2026_10_06 b"2026-10-06" V2026_12_06 b"2026-12-06" V2027_03_07 b"2027-03-07"
}

impl ApiVersion {
    pub const OLDEST: ApiVersion = ApiVersion::V2009_04_14;
    /// The newest version that clients in the field send.
    pub const NEWEST: ApiVersion = ApiVersion::V2026_10_06;

    /// Any well-formed date is taken, later ones too: refusing them would break every client upgrade.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 10] = text.as_bytes().try_into().ok()?;
        let [y1, y2, y3, y4, dash1, m1, m2, dash2, d1, d2] = bytes;
        let digits = [y1, y2, y3, y4, m1, m2, d1, d2].iter().all(u8::is_ascii_digit);
        if !digits || dash1 != b'-' || dash2 != b'-' {
            return None;
        }
        let month = (m1 - b'0') * 10 + (m2 - b'0');
        let day = (d1 - b'0') * 10 + (d2 - b'0');
        ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(ApiVersion(bytes))
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    pub fn has(self, feature: Feature) -> bool {
        self >= feature.since()
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! features {
    ($($(#[$doc:meta])* $name:ident $since:ident)*) => {
        /// A behaviour that exists from one version on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Feature { $($(#[$doc])* $name),* }

        impl Feature {
            pub const ALL: &'static [Feature] = &[$(Feature::$name),*];

            pub const fn since(self) -> ApiVersion {
                match self { $(Feature::$name => ApiVersion::$since),* }
            }
        }
    };
}

features! {
    /// ETag headers carry quotes.
    QuotedEtags V2011_08_18
    /// `bytes=n-` without an end.
    OpenEndedRanges V2011_08_18
    /// Put Message takes `visibilitytimeout`; Update Message exists.
    QueueVisibilityOnPut V2011_08_18
    /// Lease durations, proposed ids, change, break periods, container leases.
    LeaseRework V2012_02_12
    /// Copies may go on after their answer, and reads tell of them.
    AsynchronousCopies V2012_02_12
    /// Reads take any combination of conditional headers, and lists of ETags.
    MultipleConditionsOnRead V2013_08_15
    /// A lease id on a blob that does not exist is refused with 412.
    LeaseIdOnMissingBlob V2013_08_15
    /// Lease Container leaves the ETag alone.
    ContainerLeaseKeepsEtag V2013_08_15
    ContentDisposition V2013_08_15
    /// Content-Length 0 is an empty line in the Shared Key string.
    EmptyContentLengthSigned V2015_02_21
    /// sip and spr in a SAS; the 403 codes by cause.
    AccountSas V2015_04_05
    /// Answers say whether the service encrypted.
    EncryptionFlags V2015_12_11
    /// 100 MiB blocks, 256 MiB Put Blob.
    Blocks100MiB V2016_05_31
    /// `If-None-Match: *` on a read is an error instead of ignored.
    UnsatisfiableIfNoneMatchAny V2016_05_31
    /// x-ms headers with an empty value are signed.
    EmptyHeadersSigned V2016_05_31
    /// Put Message answers with the message's id and receipt.
    PutMessageReceipt V2016_05_31
    AccessTiers V2017_04_17
    /// `x-ms-error-code` on every error.
    ErrorCodeHeader V2017_07_29
    /// SAS permission `d` may break a lease.
    DeletePermissionBreaksLease V2017_07_29
    /// messagettl may be anything, and -1.
    UnlimitedMessageTtl V2017_07_29
    BearerTokens V2017_11_09
    /// Reads of a blob tell when it was made.
    CreationTime V2017_11_09
    /// Service SAS signs sr and the snapshot time.
    SasSignsResource V2018_11_09
    UserDelegationSas V2018_11_09
    /// `x-ms-client-request-id` comes back.
    ClientRequestIdEcho V2019_02_02
    Crc64 V2019_02_02
    /// Requests say what SMB clients see of directories and files.
    SmbHeaders V2019_02_02
    /// Put Page From URL tells a failed If-Match from a condition on its source.
    PutPageFromUrlTellsTarget V2019_02_02
    /// Page and append blobs of a standard account show no access tier; before, all blobs did.
    TierOfBlockBlobsOnly V2019_02_02
    /// Get Account Information tells whether the account is hierarchical.
    HierarchyTold V2019_07_07
    /// Reads and lists tell how soon a blob is to leave the archive.
    RehydratePriorityTold V2019_12_12
    /// Answers tell versions of blobs.
    Versions V2019_12_12
    /// 4000 MiB blocks, 5000 MiB Put Blob.
    Blocks4000MiB V2019_12_12
    /// 401 with a challenge instead of 404 where credentials are missing.
    AuthenticationChallenge V2019_12_12
    /// Shares have access tiers.
    ShareTiers V2019_12_12
    /// Shares have leases, and reads and lists tell of them.
    ShareLeases V2020_02_10
    /// saoid, suoid and scid in the user delegation string.
    UserDelegationAgents V2020_02_10
    /// Set Blob Tags needs the id of an active lease.
    LeaseGuardsTags V2020_04_08
    /// File service properties tell how the service speaks SMB.
    SmbProtocolSettings V2020_02_10
    /// Files of 4 TiB.
    Files4TiB V2020_02_10
    /// Lists of files tell the ids of their entries.
    FileIdsListed V2020_10_02
    /// `ses` in the SAS strings.
    SasEncryptionScope V2020_12_06
    TableAuthenticationChallenge V2020_12_06
    /// Creates of files and directories need no SMB headers; writes to a range may keep the time of the last one, and tell it.
    SmbHeadersOptional V2021_06_08
    /// Copy Blob From URL tells that the blob is encrypted.
    CopyFromUrlTellsEncryption V2021_08_06
    ColdTier V2021_12_02
    /// Bearer tokens open files and directories, with the intent that the request names (recorded; documented a version later).
    FileBearerTokens V2021_12_02
    /// 100 MiB per Append Block.
    AppendBlocks100MiB V2022_11_02
    /// Names keep the dots at their end where the request says so.
    TrailingDots V2022_11_02
    /// List Handles says what each handle may do.
    HandleAccessRights V2023_01_03
    /// List Handles says which client holds each handle.
    HandleClientName V2024_02_04
    /// Security descriptors as bytes.
    BinaryPermissions V2024_11_04
    /// Bearer tokens open shares and the File service too.
    FileBearerTokensEverywhere V2024_11_04
    /// Create Share and Set Share Properties answer what the share has now.
    ShareProvisioningTold V2025_01_05
    /// Get and Set ACL of containers and queues with a bearer token.
    AclWithBearer V2025_07_05
    /// Bodies in segments with checksums.
    StructuredBodies V2025_07_05
    /// skdutid and sduoid in the user delegation string.
    UserDelegationBinding V2025_07_05
    /// x-ms-blob-if-* on Get and Set Blob Tags.
    ConditionsOnTags V2026_02_06
    /// srh and srq in the user delegation string.
    DynamicUserDelegation V2026_04_06
    /// Delete Blob on condition of the tier change time.
    TierTimeConditions V2026_04_06
    SmartTier V2026_06_06
    /// `sr=d` where names are no tree, as in every account here.
    DirectorySasOnFlatAccounts V2026_06_06
    /// Create File takes the bytes that the file begins with.
    FilesWithBytes V2026_06_06
    ListEndBefore V2026_10_06
    /// List Ranges answers in pages.
    RangesInPages V2026_10_06
    /// Get Blob shows the access tier.
    TierHeadersOnGetBlob V2026_10_06
    /// Data writes answer MD5 and CRC64 both when an MD5 was sent.
    BothHashesReturned V2026_10_06
}

#[cfg(test)]
mod tests;
