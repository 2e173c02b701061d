//! Requests for unit tests.

use http::HeaderMap;
use lazuli_model::operation::{Method, Resource, Service};
use lazuli_model::version::ApiVersion;

use crate::head::Head;
use crate::query::Query;
use crate::target::Target;

/// A request for the blob `b` with these headers.
pub fn head(headers: &[(&str, &str)]) -> Head {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(http::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
    }
    Head {
        method: Method::Put,
        raw_path: "/a/c/b".into(),
        query: Query::default(),
        headers: map.into(),
        target: Target {
            service: Service::Blob,
            account: "a".into(),
            secondary: false,
            path_style: true,
            resource: Resource::Blob,
            container: "c".into(),
            object: "b".into(),
        },
        peer: None,
        secure: false,
        request_id: uuid::Uuid::nil(),
        version: ApiVersion::V2021_06_08,
        version_sent: None,
        metadata_names: Vec::new(),
    }
}

/// A request for the blob `b` with this query string.
pub fn asking(query: &str) -> Head {
    Head { query: Query::parse(query).unwrap(), ..head(&[]) }
}
