//! Host, path and query to what they name.

use lazuli_model::operation::{Resource, Service};
use lazuli_rest::query::Query;
use lazuli_rest::target::Target;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::fields::Fields;

const SERVICES: [Service; 5] = [Service::Blob, Service::Queue, Service::Table, Service::File, Service::Dfs];

pub fn run(data: &[u8]) {
    let fields = Fields::of(data);
    let (host, path, raw) = (fields.line(0), fields.line(1), fields.line(2));
    let Ok(query) = Query::parse(raw) else { return };
    decoded_once(&query);
    for service in SERVICES {
        let Ok(target) = Target::parse(service, host, path, &query) else { continue };
        assert!(!target.account.is_empty(), "an account has a name");
        if target.path_style && service == Service::Blob && target.resource == Resource::Blob {
            comes_back(&target, &query);
        }
    }
}

/// Encoded again, the pairs are the same: nothing is decoded twice or lost.
fn decoded_once(query: &Query) {
    let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let again: Vec<String> =
        query.pairs().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    let parsed = Query::parse(&again.join("&")).unwrap();
    assert!(parsed.pairs().eq(query.pairs()), "{:?} became {:?}", query.raw(), parsed.raw());
}

/// A blob's name, encoded as clients encode it, is found again: two names never meet in one address.
fn comes_back(target: &Target, query: &Query) {
    let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let account =
        if target.secondary { format!("{}-secondary", target.account) } else { target.account.clone() };
    let (account, container) = (encode(&account), encode(&target.container));
    let path = format!("/{account}/{container}/{}", encode(&target.object));
    let again = Target::parse(Service::Blob, "127.0.0.1:10000", &path, query).unwrap();
    assert_eq!((&again.account, again.secondary), (&target.account, target.secondary));
    assert_eq!((&again.container, &again.object), (&target.container, &target.object), "{path}");
}
