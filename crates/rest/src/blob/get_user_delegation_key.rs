//! Get User Delegation Key.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::time::Timestamp;

use super::XML_LIMIT;
use crate::auth::KeyInfo;
use crate::call::Call;
use crate::reply::Reply;
use crate::xml::{self, Element, Writer};

pub async fn get_user_delegation_key(call: Call) -> Result<Reply, Failure> {
    let claims = call.grant.claims.as_ref().ok_or(ErrorCode::AuthenticationFailed)?;
    let document = call.body.collect(XML_LIMIT, &call.services).await?;
    let root = call.services.compute(document.len(), move || xml::parse(&document)).await??;
    let info = key_info(&root)?;
    let key = call.auth.user_delegation_key(&call.head, claims, info, call.services.wall_now())?;
    let mut writer = Writer::new();
    writer.open("UserDelegationKey");
    writer.element("SignedOid", &key.signed_oid);
    writer.element("SignedTid", &key.signed_tid);
    writer.element("SignedStart", &seconds(key.signed_start));
    writer.element("SignedExpiry", &seconds(key.signed_expiry));
    writer.element("SignedService", key.signed_service);
    writer.element("SignedVersion", &key.signed_version);
    writer.maybe("SignedDelegatedUserTid", key.signed_delegated_user_tid.as_deref());
    writer.element("Value", &key.value);
    writer.close("UserDelegationKey");
    Ok(Reply::of(call.row).xml(writer.finish()))
}

fn key_info(root: &Element) -> Result<KeyInfo, Failure> {
    if root.name != "KeyInfo" {
        return Err(Failure::invalid_xml(0, 0, ""));
    }
    let time = |name: &str| match root.text_of(name).filter(|text| !text.is_empty()) {
        None => Ok(None),
        Some(text) => Timestamp::parse_iso(text).map(Some).ok_or_else(|| {
            Failure::new(ErrorCode::InvalidXmlNodeValue)
                .detail("XmlNodeName", name)
                .detail("XmlNodeValue", text)
        }),
    };
    let expiry = time("Expiry")?
        .ok_or_else(|| Failure::new(ErrorCode::MissingRequiredXmlNode).detail("XmlNodeName", "Expiry"))?;
    Ok(KeyInfo {
        start: time("Start")?,
        expiry,
        delegated_user_tid: root.text_of("DelegatedUserTid").map(str::to_owned),
    })
}

/// Without the fraction, as clients put it into their tokens.
fn seconds(at: Timestamp) -> String {
    let text = at.iso7();
    match text.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => text,
    }
}
