//! The SignedIdentifiers document: stored access policies of a container, queue or table.

use bytes::Bytes;
use lazuli_model::access::AccessPolicy;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::time::Timestamp;
use lazuli_service::Services;

use crate::xml::{self, Element, Writer, refuse_element};

const POLICIES: usize = 5;
const ID_LENGTH: usize = 64;
/// Recorded.
const BAD_ID: &str = "Signed identifier ID cannot be empty or over 64 characters in length";

/// A policy that says nothing is an identifier without an AccessPolicy (recorded).
pub fn write(policies: &[AccessPolicy]) -> String {
    let mut writer = Writer::new();
    if policies.is_empty() {
        writer.empty("SignedIdentifiers");
        return writer.finish();
    }
    writer.open("SignedIdentifiers");
    for policy in policies {
        writer.open("SignedIdentifier");
        writer.element("Id", &policy.id);
        if policy.start.is_some() || policy.expiry.is_some() || policy.permission.is_some() {
            writer.open("AccessPolicy");
            writer.maybe("Start", policy.start.map(Timestamp::iso7).as_deref());
            writer.maybe("Expiry", policy.expiry.map(Timestamp::iso7).as_deref());
            writer.maybe("Permission", policy.permission.as_deref());
            writer.close("AccessPolicy");
        }
        writer.close("SignedIdentifier");
    }
    writer.close("SignedIdentifiers");
    writer.finish()
}

/// Reads a document; a long one not on the thread that other requests share.
pub(crate) async fn read_aside(
    services: &Services,
    document: Bytes,
    letters: &'static str,
) -> Result<Vec<AccessPolicy>, Failure> {
    services.compute(document.len(), move || read(&document, letters)).await?
}

/// `letters`: every permission that a token of this kind of resource can carry. No document, no policies.
pub fn read(document: &[u8], letters: &str) -> Result<Vec<AccessPolicy>, Failure> {
    if document.is_empty() {
        return Ok(Vec::new());
    }
    let root = xml::parse(document)?;
    if root.name != "SignedIdentifiers" {
        return Err(Failure::invalid_xml(0, 0, ""));
    }
    // Too many is judged before what they are (recorded).
    if root.children.len() > POLICIES {
        return Err(Failure::invalid_xml(0, 0, ""));
    }
    let mut policies: Vec<AccessPolicy> = Vec::new();
    for element in &root.children {
        let policy = policy(document, element, letters)?;
        if policies.iter().any(|other| other.id == policy.id) {
            return Err(Failure::invalid_xml(0, 0, ""));
        }
        policies.push(policy);
    }
    Ok(policies)
}

fn policy(document: &[u8], element: &Element, letters: &str) -> Result<AccessPolicy, Failure> {
    if element.name != "SignedIdentifier" {
        return Err(refuse_element(document, element, ""));
    }
    let Some(id) = element.child("Id") else { return Err(refuse_element(document, element, BAD_ID)) };
    let text = id.text.trim();
    if text.is_empty() || text.chars().count() > ID_LENGTH {
        return Err(refuse_element(document, id, BAD_ID));
    }
    let Some(access) = element.child("AccessPolicy") else {
        return Ok(AccessPolicy { id: text.to_owned(), ..AccessPolicy::default() });
    };
    let permission = access.text_of("Permission").filter(|text| !text.is_empty());
    if permission.is_some_and(|given| !given.chars().all(|letter| letters.contains(letter))) {
        return Err(Failure::invalid_xml(0, 0, "Permission is not valid."));
    }
    Ok(AccessPolicy {
        id: text.to_owned(),
        start: time(access, "Start")?,
        expiry: time(access, "Expiry")?,
        permission: permission.map(str::to_owned),
    })
}

fn time(access: &Element, name: &str) -> Result<Option<Timestamp>, Failure> {
    let Some(text) = access.text_of(name).filter(|text| !text.is_empty()) else { return Ok(None) };
    match Timestamp::parse_iso(text) {
        Some(at) => Ok(Some(at)),
        None => Err(Failure::new(ErrorCode::InvalidXmlNodeValue)
            .detail("XmlNodeName", name)
            .detail("XmlNodeValue", text)),
    }
}

#[cfg(test)]
mod tests;
