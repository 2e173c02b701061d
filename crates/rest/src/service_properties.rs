//! The StorageServiceProperties document, the same for every service but for the elements that one lacks.

use bytes::Bytes;
use lazuli_model::error::Failure;
use lazuli_model::service_properties::{
    CorsRule, Logging, Metrics, RetentionPolicy, ServiceProperties, StaticWebsite,
};
use lazuli_model::version::ApiVersion;
use lazuli_service::Services;
use lazuli_service::shared::service_properties::{SetProtocolSettings, SetServiceProperties};

use crate::xml::{self, Element, Writer, refuse_element};

const RULES: usize = 5;
const DAYS: std::ops::RangeInclusive<u32> = 1..=365;
const METHODS: [&str; 8] = ["DELETE", "GET", "HEAD", "MERGE", "POST", "OPTIONS", "PUT", "PATCH"];
/// Rules together, and each name or origin.
const CORS_BYTES: usize = 2048;
const CORS_ITEM: usize = 256;
const LITERAL_HEADERS: usize = 64;
const PREFIXED_HEADERS: usize = 2;
/// Of a list of versions or ciphers.
const PROTOCOL_LIST: usize = 256;

/// `of_blobs`: with the elements that only the Blob service has.
pub fn write(properties: &ServiceProperties, of_blobs: bool) -> String {
    let ServiceProperties {
        logging,
        hour_metrics,
        minute_metrics,
        cors,
        delete_retention,
        static_website,
        default_service_version,
        protocols: _,
    } = properties;
    let mut writer = Writer::new();
    writer.open("StorageServiceProperties");
    writer.open("Logging");
    writer.element("Version", &logging.version);
    writer.flag("Read", logging.read);
    writer.flag("Write", logging.write);
    writer.flag("Delete", logging.delete);
    retention(&mut writer, "RetentionPolicy", &logging.retention);
    writer.close("Logging");
    metrics(&mut writer, "HourMetrics", hour_metrics);
    metrics(&mut writer, "MinuteMetrics", minute_metrics);
    rules(&mut writer, cors);
    if of_blobs {
        let policy = RetentionPolicy {
            allow_permanent_delete: Some(delete_retention.allow_permanent_delete.unwrap_or(false)),
            ..delete_retention.clone()
        };
        retention(&mut writer, "DeleteRetentionPolicy", &policy);
        website(&mut writer, static_website);
        writer.maybe("DefaultServiceVersion", default_service_version.as_deref());
    }
    writer.close("StorageServiceProperties");
    writer.finish()
}

pub(crate) fn retention(writer: &mut Writer, name: &str, policy: &RetentionPolicy) {
    writer.open(name);
    writer.flag("Enabled", policy.enabled);
    if let Some(days) = policy.days.filter(|_| policy.enabled) {
        writer.number("Days", u64::from(days));
    }
    if let Some(allowed) = policy.allow_permanent_delete {
        writer.flag("AllowPermanentDelete", allowed);
    }
    writer.close(name);
}

pub(crate) fn metrics(writer: &mut Writer, name: &str, metrics: &Metrics) {
    writer.open(name);
    writer.element("Version", &metrics.version);
    writer.flag("Enabled", metrics.enabled);
    if metrics.enabled {
        writer.flag("IncludeAPIs", metrics.include_apis.unwrap_or(false));
    }
    retention(writer, "RetentionPolicy", &metrics.retention);
    writer.close(name);
}

pub(crate) fn rules(writer: &mut Writer, rules: &[CorsRule]) {
    if rules.is_empty() {
        return writer.empty("Cors");
    }
    writer.open("Cors");
    for rule in rules {
        writer.open("CorsRule");
        writer.element("AllowedMethods", &rule.allowed_methods.join(","));
        writer.element("AllowedOrigins", &rule.allowed_origins.join(","));
        writer.element("AllowedHeaders", &rule.allowed_headers.join(","));
        writer.element("ExposedHeaders", &rule.exposed_headers.join(","));
        writer.number("MaxAgeInSeconds", u64::from(rule.max_age_seconds));
        writer.close("CorsRule");
    }
    writer.close("Cors");
}

fn website(writer: &mut Writer, website: &StaticWebsite) {
    writer.open("StaticWebsite");
    writer.flag("Enabled", website.enabled);
    if website.enabled {
        writer.maybe("IndexDocument", website.index_document.as_deref());
        writer.maybe("DefaultIndexDocumentPath", website.default_index_document_path.as_deref());
        writer.maybe("ErrorDocument404Path", website.error_document_404_path.as_deref());
    }
    writer.close("StaticWebsite");
}

/// Reads a document; a long one not on the thread that other requests share.
pub(crate) async fn read_aside(
    services: &Services,
    document: Bytes,
) -> Result<SetServiceProperties, Failure> {
    services.compute(document.len(), move || read(&document)).await?
}

/// What the document names is set, what it does not name stays.
pub fn read(document: &[u8]) -> Result<SetServiceProperties, Failure> {
    let root = xml::parse(document)?;
    if root.name != "StorageServiceProperties" {
        return Err(Failure::invalid_xml(0, 0, ""));
    }
    let reader = Reader { document };
    let version = root.text_of("DefaultServiceVersion").filter(|text| !text.is_empty());
    if version.is_some_and(|text| ApiVersion::parse(text).is_none()) {
        return Err(Failure::invalid_xml(0, 0, ""));
    }
    Ok(SetServiceProperties {
        logging: root.child("Logging").map(|found| reader.logging(found)).transpose()?,
        hour_metrics: root.child("HourMetrics").map(|found| reader.metrics(found)).transpose()?,
        minute_metrics: root.child("MinuteMetrics").map(|found| reader.metrics(found)).transpose()?,
        cors: root.child("Cors").map(|found| reader.rules(found)).transpose()?,
        delete_retention: root
            .child("DeleteRetentionPolicy")
            .or_else(|| root.child("ShareDeleteRetentionPolicy"))
            .map(|found| reader.retention(found))
            .transpose()?,
        static_website: root.child("StaticWebsite").map(|found| reader.website(found)).transpose()?,
        default_service_version: version.map(str::to_owned),
        protocols: root.child("ProtocolSettings").map(|found| reader.protocols(found)).transpose()?,
    })
}

struct Reader<'a> {
    document: &'a [u8],
}

impl Reader<'_> {
    fn logging(&self, element: &Element) -> Result<Logging, Failure> {
        Ok(Logging {
            version: self.version(element)?,
            read: self.flag(element, "Read")?,
            write: self.flag(element, "Write")?,
            delete: self.flag(element, "Delete")?,
            retention: self.retention_policy(element)?,
        })
    }

    /// IncludeAPIs belongs to metrics that are on, and to none else.
    fn metrics(&self, element: &Element) -> Result<Metrics, Failure> {
        let enabled = self.flag(element, "Enabled")?;
        let include_apis = match element.child("IncludeAPIs") {
            Some(_) if enabled => Some(self.flag(element, "IncludeAPIs")?),
            _ => None,
        };
        Ok(Metrics {
            version: self.version(element)?,
            enabled,
            include_apis,
            retention: self.retention_policy(element)?,
        })
    }

    fn version(&self, element: &Element) -> Result<String, Failure> {
        match element.text_of("Version") {
            None => Ok("1.0".to_owned()),
            Some(text @ ("1.0" | "2.0")) => Ok(text.to_owned()),
            Some(_) => Err(refuse_element(self.document, element, "")),
        }
    }

    fn retention_policy(&self, element: &Element) -> Result<RetentionPolicy, Failure> {
        element.child("RetentionPolicy").map_or(Ok(RetentionPolicy::default()), |found| self.retention(found))
    }

    fn retention(&self, element: &Element) -> Result<RetentionPolicy, Failure> {
        let enabled = self.flag(element, "Enabled")?;
        let days = match element.child("Days") {
            None => None,
            Some(days) => {
                const REASON: &str =
                    "Retention days must be greater than 0 and less than or equal to 365 days.";
                let number: Option<u32> = days.text.trim().parse().ok();
                let number = number.filter(|number| DAYS.contains(number));
                Some(number.ok_or_else(|| refuse_element(self.document, days, REASON))?)
            }
        };
        if enabled && days.is_none() {
            return Err(refuse_element(self.document, element, "Element is missing: Days."));
        }
        let allow_permanent_delete = match element.child("AllowPermanentDelete") {
            Some(_) => Some(self.flag(element, "AllowPermanentDelete")?),
            None => None,
        };
        Ok(RetentionPolicy { enabled, days: days.filter(|_| enabled), allow_permanent_delete })
    }

    fn website(&self, element: &Element) -> Result<StaticWebsite, Failure> {
        let text = |name| element.text_of(name).filter(|text| !text.is_empty()).map(str::to_owned);
        let enabled = self.flag(element, "Enabled")?;
        // A website that is off has no index.
        if let Some(index) = element.child("IndexDocument").filter(|index| !enabled && !index.text.is_empty())
        {
            return Err(refuse_element(self.document, index, ""));
        }
        Ok(StaticWebsite {
            enabled,
            index_document: text("IndexDocument"),
            error_document_404_path: text("ErrorDocument404Path"),
            default_index_document_path: text("DefaultIndexDocumentPath"),
        })
    }

    fn protocols(&self, element: &Element) -> Result<SetProtocolSettings, Failure> {
        let within = |element: Option<&Element>, name: &str, flag: &str| {
            let inner = element.and_then(|element| element.child(name));
            let told = inner.filter(|inner| inner.child(flag).is_some());
            told.map(|inner| self.flag(inner, flag)).transpose()
        };
        let (smb, nfs) = (element.child("SMB"), element.child("NFS"));
        let list = |name: &str| match smb.and_then(|smb| smb.child(name)) {
            Some(found) if found.text.len() > PROTOCOL_LIST => Err(refuse_element(self.document, found, "")),
            found => Ok(found.map(|found| found.text.trim().to_owned())),
        };
        Ok(SetProtocolSettings {
            smb_multichannel: within(smb, "Multichannel", "Enabled")?,
            smb_versions: list("Versions")?,
            smb_authentication_methods: list("AuthenticationMethods")?,
            smb_kerberos_ticket_encryption: list("KerberosTicketEncryption")?,
            smb_channel_encryption: list("ChannelEncryption")?,
            smb_encryption_required: within(smb, "EncryptionInTransit", "Required")?,
            nfs_encryption_required: within(nfs, "EncryptionInTransit", "Required")?,
        })
    }

    fn flag(&self, element: &Element, name: &str) -> Result<bool, Failure> {
        match element.child(name) {
            None => Ok(false),
            Some(child) => match child.text.trim() {
                "true" | "True" | "1" => Ok(true),
                "false" | "False" | "0" | "" => Ok(false),
                _ => Err(refuse_element(self.document, child, "")),
            },
        }
    }

    fn rules(&self, element: &Element) -> Result<Vec<CorsRule>, Failure> {
        let rules: Vec<CorsRule> =
            element.all("CorsRule").map(|found| self.rule(found)).collect::<Result<_, _>>()?;
        let bytes: usize = rules.iter().map(size).sum();
        if rules.len() > RULES || bytes > CORS_BYTES {
            return Err(Failure::invalid_xml(0, 0, ""));
        }
        Ok(rules)
    }

    fn rule(&self, element: &Element) -> Result<CorsRule, Failure> {
        let refuse = || refuse_element(self.document, element, "");
        let list = |name: &str| -> Vec<String> {
            let text = element.text_of(name).unwrap_or_default();
            text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
        };
        let rule = CorsRule {
            allowed_methods: list("AllowedMethods"),
            allowed_origins: list("AllowedOrigins"),
            allowed_headers: literal_first(list("AllowedHeaders")),
            exposed_headers: literal_first(list("ExposedHeaders")),
            max_age_seconds: match element.text_of("MaxAgeInSeconds") {
                None => 0,
                Some(text) => text.parse().map_err(|_| refuse())?,
            },
        };
        let knows = |method: &String| METHODS.iter().any(|known| known.eq_ignore_ascii_case(method));
        let is_short = |item: &String| item.len() <= CORS_ITEM;
        let lists = [&rule.allowed_origins, &rule.allowed_headers, &rule.exposed_headers];
        let is_good = !rule.allowed_origins.is_empty()
            && !rule.allowed_methods.is_empty()
            && rule.allowed_methods.iter().all(knows)
            && lists.iter().all(|list| list.iter().all(is_short))
            && fits(&rule.allowed_headers)
            && fits(&rule.exposed_headers);
        if is_good { Ok(rule) } else { Err(refuse()) }
    }
}

/// Literal names come back first, prefixes last (recorded).
fn literal_first(names: Vec<String>) -> Vec<String> {
    let (prefixed, mut literal): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|name| name.ends_with('*'));
    literal.extend(prefixed);
    literal
}

fn fits(names: &[String]) -> bool {
    let prefixed = names.iter().filter(|name| name.ends_with('*')).count();
    prefixed <= PREFIXED_HEADERS && names.len() - prefixed <= LITERAL_HEADERS
}

fn size(rule: &CorsRule) -> usize {
    let CorsRule { allowed_methods, allowed_origins, allowed_headers, exposed_headers, max_age_seconds: _ } =
        rule;
    let lists = [allowed_methods, allowed_origins, allowed_headers, exposed_headers];
    lists.iter().flat_map(|list| list.iter()).map(String::len).sum()
}

#[cfg(test)]
mod tests;
