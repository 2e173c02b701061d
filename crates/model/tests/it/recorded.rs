//! Every shape of request that the real service answered with success goes to a row that expects that
//! status, and that says whether an ETag comes.

use lazuli_model::Method;

use crate::spec::{Request, cells, resource_named, service_named};

/// Answers without an ETag although the row has one: a blob of uncommitted blocks only (blob.md section 3).
const BARE: [&str; 1] = ["GetBlockList"];

#[test]
fn recorded_successes_are_what_the_row_says() {
    let mut lines = 0;
    for line in include_str!("../../../../spec/recorded-requests.txt").lines() {
        let [service, resource, method, marks, status, etag, _count] = cells(line);
        let method = Method::parse(method).expect("a method");
        let row = Request::parse(marks)
            .route(service_named(service), resource_named(resource), method)
            .unwrap_or_else(|failure| panic!("{line}: {failure} {:?}", failure.details));
        let status: u16 = status.parse().expect("a status");
        assert!(
            row.answer.status.contains(&status),
            "{line}: {} answers {:?}",
            row.name(),
            row.answer.status
        );
        if etag == "etag" || !BARE.contains(&row.name()) {
            assert_eq!(row.answer.etag, etag == "etag", "{line}: {}", row.name());
        }
        if marks.contains("?snapshot") || marks.contains("?sharesnapshot") {
            assert!(row.route.addresses.snapshot, "{line}: {}", row.name());
        }
        if marks.contains("?versionid") {
            assert!(row.route.addresses.version, "{line}: {}", row.name());
        }
        lines += 1;
    }
    assert!(lines > 150, "the table of recordings has gone: {lines} lines");
}
