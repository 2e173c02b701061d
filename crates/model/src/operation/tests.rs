use super::*;

#[test]
fn the_index_of_an_operation_is_its_row() {
    for (index, op) in Op::ALL.iter().enumerate() {
        assert_eq!((op.row().op, *op as usize), (*op, index));
    }
}

#[test]
fn rows_of_a_service_are_neighbours_and_nobody_is_missing() {
    let services = [Service::Blob, Service::Queue, Service::Table, Service::File, Service::Dfs];
    let mut counted = 0;
    for service in services {
        assert!(rows(service).iter().all(|row| row.route.service == service));
        counted += rows(service).len();
    }
    assert_eq!(counted, all_rows().len());
    assert_eq!(
        (rows(Service::Blob).len(), rows(Service::Queue).len(), rows(Service::Table).len()),
        (68, 18, 19)
    );
    assert_eq!(rows(Service::File).len(), 54);
}

#[test]
fn columns_agree_with_each_other() {
    for row in all_rows() {
        let name = row.name();
        assert!(!row.route.methods.is_empty() && !row.answer.status.is_empty(), "{name}");
        assert!(row.answer.status.iter().all(|status| (200..300).contains(status)), "{name}");
        assert!(!row.policy.changes_etag || row.policy.rule == Rule::Write, "{name}: a read changes nothing");
        assert!(!row.policy.changes_etag || row.answer.etag, "{name}: a new ETag is told");
        assert!(
            row.policy.source == Source::None || row.route.marks.contains(&Has(COPY_SOURCE)),
            "{name}: no source without a copy source"
        );
        assert!(
            row.policy.lease != LeaseUse::Write || row.policy.rule == Rule::Write,
            "{name}: a read needs no lease id"
        );
        assert!(!row.route.addresses.version || row.route.resource == Resource::Blob, "{name}");
        assert!(
            !row.access.create_only || row.policy.creates,
            "{name}: create-only needs something to create"
        );
        assert!(
            row.route.methods.contains(&Head)
                || !row.route.title.ends_with("Metadata")
                || row.policy.rule == Rule::Write,
            "{name}"
        );
    }
}
