//! The Data Lake (dfs) form of requests. Accounts are flat: what only a hierarchical one can do is refused as a flat account
//! of the service refuses it, so that clients which probe go on with blobs. The rest is not built.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Service;
use lazuli_model::time::Timestamp;

use crate::auth::{Auth, Credential};
use crate::head::Head;
use crate::not_built::not_built;
use crate::query::Query;

/// Actions on access control lists, which a flat account does not have.
const HIERARCHICAL: [&str; 3] = ["getAccessControl", "setAccessControl", "setAccessControlRecursive"];

/// What `restype` may say to the Blob service.
const OF_BLOBS: [&str; 3] = ["container", "service", "account"];

/// The service that a path-style request speaks to: both forms come to both ports, and the query tells them apart.
pub fn service_of(listener: Service, query: &Query) -> Service {
    let has = |name: &str| query.given(name).is_some();
    let of_blobs = |kind: &str| OF_BLOBS.iter().any(|own| own.eq_ignore_ascii_case(kind));
    match listener {
        Service::Blob if has("action") || has("resource") => Service::Dfs,
        Service::Dfs if has("comp") || query.given("restype").is_some_and(of_blobs) => Service::Blob,
        other => other,
    }
}

/// Why a request is refused. It is authenticated first; what is said does not depend on what exists.
pub fn refuse(auth: &Auth, head: &Head, now: Timestamp) -> Failure {
    let hierarchical = |action: &str| HIERARCHICAL.iter().any(|name| name.eq_ignore_ascii_case(action));
    if !head.query("action").is_some_and(hierarchical) {
        return not_built("The Data Lake (dfs) endpoint");
    }
    match auth.authenticate(head, now) {
        Err(failure) => failure,
        Ok(Credential::Anonymous) => ErrorCode::AuthenticationFailed.into(),
        Ok(_) => ErrorCode::HierarchicalNamespaceNotEnabled.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_tells_the_forms_apart() {
        let service = |listener, query: &str| service_of(listener, &Query::parse(query).expect("a query"));
        assert_eq!(service(Service::Blob, ""), Service::Blob);
        assert_eq!(service(Service::Dfs, ""), Service::Dfs);
        assert_eq!(service(Service::Blob, "action=getAccessControl&upn=false"), Service::Dfs);
        assert_eq!(service(Service::Blob, "resource=filesystem"), Service::Dfs);
        assert_eq!(service(Service::Dfs, "restype=container&comp=list"), Service::Blob);
        assert_eq!(service(Service::Dfs, "resource=filesystem"), Service::Dfs);
        assert_eq!(service(Service::Queue, "comp=list"), Service::Queue);
    }
}
