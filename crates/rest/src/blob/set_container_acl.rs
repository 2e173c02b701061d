//! Set Container ACL.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::time::Timestamp;
use lazuli_service::blob::SetContainerAcl;
use lazuli_service::record::container::StoredPolicy;

use super::XML_LIMIT;
use crate::call::Call;
use crate::decode;
use crate::front::unwrap;
use crate::reply::Reply;
use crate::xml::{self, Element};

const POLICIES: usize = 5;
const ID_LENGTH: usize = 64;

pub async fn set_container_acl(call: Call) -> Result<Reply, Failure> {
    let public_access = decode::public_access(&call.head)?;
    let preconditions = call.preconditions()?;
    let container = call.container();
    let document = call.body.collect(XML_LIMIT).await.map_err(unwrap)?;
    let policies =
        if document.is_empty() { Vec::new() } else { signed_identifiers(&xml::parse(&document)?)? };
    let input = SetContainerAcl { container, preconditions, public_access, policies };
    let stamped = input.execute(&call.services, &call.context).await.map_err(unwrap)?;
    Ok(Reply::new(200).etag(stamped.etag, stamped.last_modified))
}

fn signed_identifiers(root: &Element) -> Result<Vec<StoredPolicy>, Failure> {
    if root.name != "SignedIdentifiers" {
        return Err(Failure::invalid_xml(0, 0, ""));
    }
    let policies: Vec<StoredPolicy> = root.children.iter().map(policy).collect::<Result<_, _>>()?;
    let is_repeated = |(at, policy): (usize, &StoredPolicy)| {
        policies.iter().skip(at + 1).any(|other| other.id == policy.id)
    };
    if policies.len() > POLICIES || policies.iter().enumerate().any(is_repeated) {
        return Err(Failure::invalid_xml(0, 0, ""));
    }
    Ok(policies)
}

fn policy(element: &Element) -> Result<StoredPolicy, Failure> {
    let id = element.text_of("Id").unwrap_or_default();
    let is_id = !id.is_empty() && id.chars().count() <= ID_LENGTH;
    if element.name != "SignedIdentifier" || !is_id {
        return Err(Failure::invalid_xml(0, 0, ""));
    }
    let Some(access) = element.child("AccessPolicy") else {
        return Ok(StoredPolicy { id: id.to_owned(), ..StoredPolicy::default() });
    };
    let permission = access.text_of("Permission").filter(|text| !text.is_empty());
    if permission.is_some_and(|letters| !letters.bytes().all(|letter| LETTERS.contains(&letter))) {
        return Err(Failure::invalid_xml(0, 0, "Permission is not valid."));
    }
    Ok(StoredPolicy {
        id: id.to_owned(),
        start: time(access, "Start")?,
        expiry: time(access, "Expiry")?,
        permission: permission.map(str::to_owned),
    })
}

/// Every permission that a container's token can carry.
const LETTERS: &[u8] = b"racwdxyltfmeopi";

fn time(access: &Element, name: &str) -> Result<Option<u64>, Failure> {
    let Some(text) = access.text_of(name).filter(|text| !text.is_empty()) else { return Ok(None) };
    match Timestamp::parse_iso(text) {
        Some(at) => Ok(Some(at.0)),
        None => Err(Failure::new(ErrorCode::InvalidXmlNodeValue)
            .detail("XmlNodeName", name)
            .detail("XmlNodeValue", text)),
    }
}
