//! Access rules against the verdicts of the real service on requests with a SAS or with none.

use lazuli_model::Method;
use lazuli_model::access::{Credential, judge};

use crate::spec::{Request, cells, resource_named, service_named};

/// Refusals whose cause is not the credential's letters but the key range of a table SAS.
const RANGE_OF_A_TABLE_SAS: &str =
    "table | EntitySet | POST | - | service | - | a | 403 AuthorizationFailure";

#[test]
fn recorded_verdicts_on_signed_permissions() {
    let mut lines = 0;
    for line in include_str!("../../../../spec/recorded-access.txt").lines() {
        if line.starts_with(RANGE_OF_A_TABLE_SAS) {
            continue;
        }
        let [service, resource, method, marks, kind, signed, permissions, verdict, _count] = cells(line);
        let request = Request::parse(marks);
        let method = Method::parse(method).expect("a method");
        let row = request.route(service_named(service), resource_named(resource), method).expect(line);
        let credential = match kind {
            "account" => Credential::AccountSas { resource_types: signed, permissions },
            "service" => Credential::ServiceSas { permissions },
            "none" => Credential::Anonymous { level: None },
            other => panic!("{line}: {other}"),
        };
        let judged = judge(row, &credential, &|name| request.query(name), &|name| request.header(name));
        let ours = judged.map_or_else(|failure| failure.code.name(), |_| "allowed");
        let expected = match verdict.split_once(' ') {
            None => "allowed",
            // Without credentials the code depends on service and version; all of them are refusals.
            Some(_) if kind == "none" => "NoAuthenticationInformation",
            // Refused for what was found, not for who asked.
            Some(("404", _)) => "allowed",
            Some((_, code)) => code,
        };
        assert_eq!(ours, expected, "{line}: {}", row.name());
        lines += 1;
    }
    assert!(lines > 150, "the table of recordings has gone: {lines} lines");
}
