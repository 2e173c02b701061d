use lazuli_model::service_properties::ProtocolSettings;

use super::*;

fn refused(document: &str) -> Vec<(&'static str, String)> {
    let Err(failure) = read(document.as_bytes()) else { panic!("taken: {document}") };
    failure.details
}

#[test]
fn what_is_not_named_is_not_set() {
    let set = read(b"<StorageServiceProperties><Cors/></StorageServiceProperties>").unwrap();
    assert_eq!(set.cors, Some(Vec::new()));
    assert!(set.logging.is_none() && set.hour_metrics.is_none() && set.delete_retention.is_none());
}

#[test]
fn days_belong_to_a_policy_that_is_on() {
    let with = |inner: &str| {
        format!(
            "<StorageServiceProperties><DeleteRetentionPolicy>{inner}</DeleteRetentionPolicy></StorageServiceProperties>"
        )
    };
    let reason = |details: Vec<(&'static str, String)>| details.last().unwrap().1.clone();
    assert_eq!(reason(refused(&with("<Enabled>true</Enabled>"))), "Element is missing: Days.");
    let outside = "Retention days must be greater than 0 and less than or equal to 365 days.";
    for days in ["0", "366", "x", "-1"] {
        assert_eq!(reason(refused(&with(&format!("<Enabled>true</Enabled><Days>{days}</Days>")))), outside);
    }
    let set = read(with("<Enabled>true</Enabled><Days>365</Days>").as_bytes()).unwrap();
    assert_eq!(set.delete_retention.unwrap().days, Some(365));
}

fn rules(rules: &str) -> String {
    format!("<StorageServiceProperties><Cors>{rules}</Cors></StorageServiceProperties>")
}

const RULE: &str = "<CorsRule><AllowedOrigins>www.xyz.com</AllowedOrigins><AllowedMethods>GET</AllowedMethods>\
    <AllowedHeaders /><ExposedHeaders /><MaxAgeInSeconds>0</MaxAgeInSeconds></CorsRule>";

/// As recorded for six rules.
#[test]
fn five_rules_are_the_most() {
    assert_eq!(read(rules(&RULE.repeat(5)).as_bytes()).unwrap().cors.unwrap().len(), 5);
    let details = refused(&rules(&RULE.repeat(6)));
    let shown: Vec<(&str, &str)> = details.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(shown, [("LineNumber", "0"), ("LinePosition", "0"), ("Reason", "")]);
}

#[test]
fn rules_have_limits() {
    refused(&rules(&RULE.replace("GET", "STEAL")));
    refused(&rules(&RULE.replace("GET", "")));
    refused(&rules(&RULE.replace("www.xyz.com", "")));
    refused(&rules(&RULE.replace("www.xyz.com", &"a".repeat(257))));
    refused(&rules(&RULE.replace("<AllowedHeaders />", "<AllowedHeaders>a*,b*,c*</AllowedHeaders>")));
    refused(&rules(&RULE.replace(">0<", ">soon<")));
}

/// What is printed can be sent back, and prints the same.
#[test]
fn a_document_survives_reading_and_writing() {
    let document = "<StorageServiceProperties>\
        <Logging><Version>1.0</Version><Read>true</Read><Write>false</Write><Delete>true</Delete>\
        <RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Logging>\
        <HourMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs>\
        <RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></HourMetrics>\
        <MinuteMetrics><Version>1.0</Version><Enabled>false</Enabled>\
        <RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></MinuteMetrics>\
        <Cors><CorsRule><AllowedMethods>GET,PUT</AllowedMethods><AllowedOrigins>*</AllowedOrigins>\
        <AllowedHeaders>x-ms-a</AllowedHeaders><ExposedHeaders /><MaxAgeInSeconds>5</MaxAgeInSeconds></CorsRule></Cors>\
        <DeleteRetentionPolicy><Enabled>true</Enabled><Days>2</Days><AllowPermanentDelete>false</AllowPermanentDelete>\
        </DeleteRetentionPolicy><StaticWebsite><Enabled>true</Enabled><IndexDocument>i.html</IndexDocument>\
        </StaticWebsite><DefaultServiceVersion>2014-02-14</DefaultServiceVersion></StorageServiceProperties>";
    let SetServiceProperties {
        logging,
        hour_metrics,
        minute_metrics,
        cors,
        delete_retention,
        static_website,
        default_service_version,
        protocols,
    } = read(document.as_bytes()).unwrap();
    assert!(protocols.is_none());
    let properties = ServiceProperties {
        logging: logging.unwrap(),
        hour_metrics: hour_metrics.unwrap(),
        minute_metrics: minute_metrics.unwrap(),
        cors: cors.unwrap(),
        delete_retention: delete_retention.unwrap(),
        static_website: static_website.unwrap(),
        default_service_version,
        protocols: ProtocolSettings::default(),
    };
    let written = write(&properties, true);
    assert_eq!(written, format!("\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?>{document}"));
}

#[test]
fn protocols_are_set_one_by_one() {
    let set = |inner: &str| {
        let document = format!(
            "<StorageServiceProperties><ProtocolSettings>{inner}</ProtocolSettings></StorageServiceProperties>"
        );
        read(document.as_bytes()).map(|set| set.protocols.unwrap())
    };
    let on = set("<SMB><Multichannel><Enabled>True</Enabled></Multichannel></SMB>").unwrap();
    assert_eq!((on.smb_multichannel, on.smb_versions, on.smb_encryption_required), (Some(true), None, None));
    let listed = "<SMB><Versions>SMB3.1.1;</Versions><ChannelEncryption>AES-256-GCM</ChannelEncryption>\
        <EncryptionInTransit><Required>false</Required></EncryptionInTransit></SMB>\
        <NFS><EncryptionInTransit><Required>true</Required></EncryptionInTransit></NFS>";
    let listed = set(listed).unwrap();
    assert_eq!(listed.smb_multichannel, None);
    assert_eq!(listed.smb_versions.as_deref(), Some("SMB3.1.1;"));
    assert_eq!(listed.smb_channel_encryption.as_deref(), Some("AES-256-GCM"));
    assert_eq!((listed.smb_encryption_required, listed.nfs_encryption_required), (Some(false), Some(true)));
    assert!(set("<SMB><Multichannel><Enabled>perhaps</Enabled></Multichannel></SMB>").is_err());
    assert!(set(&format!("<SMB><Versions>{}</Versions></SMB>", "x".repeat(257))).is_err());
}
