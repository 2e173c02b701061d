use lazuli_model::admission::{LeaseDuration, LeaseId};

use super::*;

fn date(text: &str) -> Timestamp {
    Timestamp::parse_http_date(text).unwrap()
}

fn share(name: &str, modified: &str, etag: u64) -> ListedShare {
    ListedShare {
        name: name.into(),
        snapshot: None,
        deleted: None,
        last_modified: date(modified),
        etag: ETag(etag),
        lease: None,
        quota: 5120,
        access_tier: None,
        provisioned: None,
        metadata: Metadata::default(),
    }
}

#[track_caller]
fn assert_printed(share: &ListedShare, with_metadata: bool, expected: &str) {
    let now = date("Wed, 20 Jan 2027 17:34:36 GMT");
    let mut writer = Writer::new();
    let start = writer.len();
    entry(&mut writer, share, with_metadata, now);
    assert_eq!(writer.finish().get(start..), Some(expected));
}

/// Every form of an entry that was recorded.
#[test]
fn as_recorded() {
    let changed = date("Wed, 20 Jan 2021 17:34:36 GMT");
    let hot =
        |transition| Some(AccessTier { name: "TransactionOptimized", changed: Some(changed), transition });
    let plain = ListedShare {
        access_tier: hot(None),
        ..share("2020-04-08", "Wed, 20 Jan 2021 17:34:36 GMT", 0x8D8BD69A817C346)
    };
    assert_printed(
        &plain,
        false,
        "<Share><Name>2020-04-08</Name><Properties><Last-Modified>Wed, 20 Jan 2021 17:34:36 GMT</Last-Modified>\
         <Etag>\"0x8D8BD69A817C346\"</Etag><LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState>\
         <Quota>5120</Quota><AccessTier>TransactionOptimized</AccessTier><AccessTierChangeTime>Wed, 20 Jan 2021 \
         17:34:36 GMT</AccessTierChangeTime><DefaultEncryptionScope>$account-encryption-key</DefaultEncryptionScope>\
         <DenyEncryptionScopeOverride>false</DenyEncryptionScopeOverride></Properties></Share>",
    );
    let lease = Lease {
        id: LeaseId(uuid::Uuid::nil()),
        duration: LeaseDuration::Infinite,
        expires: None,
        breaks: None,
    };
    let leased = ListedShare {
        lease: Some(lease.clone()),
        access_tier: hot(Some("pending-from-hot".into())),
        metadata: Metadata::from_stored(vec![("hello".into(), "world".into())]),
        ..plain.clone()
    };
    assert_printed(
        &leased,
        true,
        "<Share><Name>2020-04-08</Name><Properties><Last-Modified>Wed, 20 Jan 2021 17:34:36 GMT</Last-Modified>\
         <Etag>\"0x8D8BD69A817C346\"</Etag><LeaseStatus>locked</LeaseStatus><LeaseState>leased</LeaseState>\
         <LeaseDuration>infinite</LeaseDuration><Quota>5120</Quota><AccessTier>TransactionOptimized</AccessTier>\
         <AccessTierChangeTime>Wed, 20 Jan 2021 17:34:36 GMT</AccessTierChangeTime><AccessTierTransitionState>\
         pending-from-hot</AccessTierTransitionState><DefaultEncryptionScope>$account-encryption-key\
         </DefaultEncryptionScope><DenyEncryptionScopeOverride>false</DenyEncryptionScopeOverride></Properties>\
         <Metadata><hello>world</hello></Metadata></Share>",
    );
    let deleted = ListedShare {
        deleted: Some(DeletedShare {
            version: "01D6F41A4B70B4DC".into(),
            at: date("Tue, 26 Jan 2021 19:34:42 GMT"),
            remaining_days: 1,
        }),
        lease: Some(Lease { breaks: Some(changed), ..lease }),
        ..share("gone", "Tue, 26 Jan 2021 19:34:42 GMT", 0x8D8C2316DE5EE59)
    };
    assert_printed(
        &deleted,
        false,
        "<Share><Name>gone</Name><Deleted>true</Deleted><Version>01D6F41A4B70B4DC</Version><Properties><Last-Modified>\
         Tue, 26 Jan 2021 19:34:42 GMT</Last-Modified><Etag>\"0x8D8C2316DE5EE59\"</Etag><LeaseStatus>unlocked\
         </LeaseStatus><LeaseState>broken</LeaseState><Quota>5120</Quota><DefaultEncryptionScope>\
         $account-encryption-key</DefaultEncryptionScope><DenyEncryptionScopeOverride>false\
         </DenyEncryptionScopeOverride><DeletedTime>Tue, 26 Jan 2021 19:34:42 GMT</DeletedTime>\
         <RemainingRetentionDays>1</RemainingRetentionDays></Properties></Share>",
    );
    let premium = ListedShare {
        quota: 100,
        access_tier: Some(AccessTier { name: "Premium", changed: None, transition: None }),
        provisioned: Some(Provisioned {
            protocols: "SMB",
            root_squash: None,
            iops: 500,
            bandwidth_mibps: Some(110),
            ingress_mbps: 110,
            egress_mbps: 110,
            next_quota_downgrade: date("Wed, 22 Sep 2021 03:31:23 GMT"),
        }),
        snapshot: Some(date("Thu, 09 May 2019 01:34:43 GMT")),
        ..share("share1", "Wed, 22 Sep 2021 03:31:23 GMT", 0x8D97D7973AEC90E)
    };
    assert_printed(
        &premium,
        false,
        "<Share><Name>share1</Name><Snapshot>2019-05-09T01:34:43.0000000Z</Snapshot><Properties><Last-Modified>Wed, \
         22 Sep 2021 03:31:23 GMT</Last-Modified><Etag>\"0x8D97D7973AEC90E\"</Etag><LeaseStatus>unlocked\
         </LeaseStatus><LeaseState>available</LeaseState><Quota>100</Quota><EnabledProtocols>SMB</EnabledProtocols>\
         <AccessTier>Premium</AccessTier><ProvisionedIops>500</ProvisionedIops><ProvisionedBandwidthMiBps>110\
         </ProvisionedBandwidthMiBps><ProvisionedIngressMBps>110</ProvisionedIngressMBps><ProvisionedEgressMBps>110\
         </ProvisionedEgressMBps><NextAllowedQuotaDowngradeTime>Wed, 22 Sep 2021 03:31:23 GMT\
         </NextAllowedQuotaDowngradeTime><DefaultEncryptionScope>$account-encryption-key</DefaultEncryptionScope>\
         <DenyEncryptionScopeOverride>false</DenyEncryptionScopeOverride></Properties></Share>",
    );
}
