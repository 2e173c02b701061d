//! Get Container ACL.

use lazuli_model::error::Failure;
use lazuli_model::time::Timestamp;
use lazuli_service::record::container::StoredPolicy;

use super::get_container_properties::{find, public_access};
use crate::call::Call;
use crate::headers;
use crate::reply::Reply;
use crate::xml::Writer;

pub async fn get_container_acl(call: Call) -> Result<Reply, Failure> {
    let (container, _) = find(call).await?;
    let document = signed_identifiers(&container.fields.policies);
    Ok(Reply::xml(200, document)
        .etag(container.etag(), container.last_modified())
        .maybe(headers::X_MS_BLOB_PUBLIC_ACCESS, public_access(container.fields.public_access)))
}

fn signed_identifiers(policies: &[StoredPolicy]) -> String {
    let mut writer = Writer::new();
    if policies.is_empty() {
        writer.empty("SignedIdentifiers");
        return writer.finish();
    }
    writer.open("SignedIdentifiers");
    for policy in policies {
        writer.open("SignedIdentifier");
        writer.element("Id", &policy.id);
        writer.open("AccessPolicy");
        writer.maybe("Start", policy.start.map(|at| Timestamp(at).iso7()).as_deref());
        writer.maybe("Expiry", policy.expiry.map(|at| Timestamp(at).iso7()).as_deref());
        writer.maybe("Permission", policy.permission.as_deref());
        writer.close("AccessPolicy");
        writer.close("SignedIdentifier");
    }
    writer.close("SignedIdentifiers");
    writer.finish()
}
