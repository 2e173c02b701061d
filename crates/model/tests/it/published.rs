//! The cells of the table against the published operations, one by one. Where the service is known to do
//! otherwise than published, `spec/differences.txt` says so and why; that file may only get shorter.

use std::collections::BTreeSet;

use lazuli_model::operation::{Body, Conditions, LeaseUse, Mark, Name, Source, all_rows};
use lazuli_model::{Row, Service};

use crate::spec::{Published, Request, cells, published};

/// Lower it when a line of differences.txt goes; raise it with a new service only.
const DIFFERENCES: usize = 8;

/// Rows that no published client operation describes, with what the reference says of them: since, statuses,
/// lease, body, ETag, snapshot and version. Metadata is reached by clients through the properties; preflights
/// are the browser's own; upserts are published as updates with an optional If-Match; the last two are built
/// by clients themselves; Put Range is published once for both of its writes.
const UNPUBLISHED: &str = "
GetContainerMetadata   | 2009-04-14 | 200 | Read | None      | ret | -
GetBlobMetadata        | 2009-04-14 | 200 | Read | None      | ret | sv
PreflightBlobRequest   | 2013-08-15 | 200 | None | None      | -   | -
PreflightQueueRequest  | 2013-08-15 | 200 | None | None      | -   | -
PreflightTableRequest  | 2013-08-15 | 200 | None | None      | -   | -
InsertOrReplaceEntity  | 2011-08-18 | 204 | None | Json      | ret | -
InsertOrMergeEntity    | 2011-08-18 | 204 | None | Json      | ret | -
GetTable               | 2009-04-14 | 200 | None | None      | -   | -
EntityGroupTransaction | 2009-04-14 | 202 | None | Multipart | -   | -
PreflightFileRequest   | 2015-02-21 | 200 | None | None      | -   | -
GetShareMetadata       | 2014-02-14 | 200 | Read | None      | ret | s
GetDirectoryMetadata   | 2014-02-14 | 200 | None | None      | ret | s
GetFileMetadata        | 2014-02-14 | 200 | Read | None      | ret | s
ClearRange             | 2014-02-14 | 201 | Write | None     | ret | -
";

/// The row that a client's request goes to.
pub fn row_of(published: &Published) -> &'static Row {
    let given = |list: &[crate::spec::Parameter]| {
        let required = list.iter().filter(|parameter| parameter.required);
        required.map(|p| (p.name.clone(), p.value.clone().unwrap_or_else(|| "x".into()))).collect()
    };
    let mut request = Request { query: given(&published.query), headers: given(&published.headers) };
    // An entity operation that knows If-Match is the conditional one; the upsert is its other row.
    if published.takes_header("If-Match") && published.op.starts_with("Table.") {
        request.headers.push(("If-Match".into(), "*".into()));
    }
    request
        .route(published.service, published.resource, published.method)
        .unwrap_or_else(|failure| panic!("{}: {failure} {:?}", published.op, failure.details))
}

/// (cell, ours, published), where they differ.
fn differences(published: &Published, row: &Row) -> Vec<(&'static str, String, String)> {
    let mut found = Vec::new();
    let mut compare = |cell: &'static str, ours: String, theirs: String| {
        if ours != theirs {
            found.push((cell, ours, theirs));
        }
    };
    compare("status", statuses(row.answer.status), statuses(&published.status));

    let headers: [(&str, Conditions, &str); 13] = [
        ("If-Match", Conditions::IF_MATCH, "If-Match"),
        ("If-None-Match", Conditions::IF_NONE_MATCH, "If-None-Match"),
        ("If-Modified-Since", Conditions::IF_MODIFIED_SINCE, "If-Modified-Since"),
        ("If-Unmodified-Since", Conditions::IF_UNMODIFIED_SINCE, "If-Unmodified-Since"),
        ("tags", Conditions::TAGS, "x-ms-if-tags"),
        ("sequence", Conditions::SEQUENCE, "x-ms-if-sequence-number-le"),
        ("sequence", Conditions::SEQUENCE, "x-ms-if-sequence-number-lt"),
        ("sequence", Conditions::SEQUENCE, "x-ms-if-sequence-number-eq"),
        ("append position", Conditions::APPEND_POSITION, "x-ms-blob-condition-appendpos"),
        ("max size", Conditions::MAX_SIZE, "x-ms-blob-condition-maxsize"),
        ("tier time", Conditions::TIER_TIME, "x-ms-access-tier-if-modified-since"),
        ("prefixed", Conditions::BLOB_PREFIXED, "x-ms-blob-if-match"),
        ("prefixed", Conditions::BLOB_PREFIXED, "x-ms-blob-if-modified-since"),
    ];
    for (cell, condition, header) in headers {
        compare(cell, yes(row.policy.conditions.has(condition)), yes(published.takes_header(header)));
    }
    for header in ["x-ms-source-if-match", "x-ms-source-if-none-match", "x-ms-source-if-modified-since"] {
        // Clients send none of these for sources of files.
        let takes = row.policy.source != Source::None && published.service != Service::File;
        compare("source", yes(takes), yes(published.takes_header(header)));
    }
    let snapshot = match published.service {
        Service::File => "sharesnapshot",
        _ => "snapshot",
    };
    compare("snapshot", yes(row.route.addresses.snapshot), yes(published.takes_query(snapshot)));
    compare("version", yes(row.route.addresses.version), yes(published.takes_query("versionid")));
    // Acquire and break act on the lease without naming it.
    if row.policy.lease != LeaseUse::Manage {
        compare(
            "lease",
            yes(row.policy.lease != LeaseUse::None),
            yes(["x-ms-lease-id", "x-ms-destination-lease-id"]
                .iter()
                .any(|name| published.takes_header(name))),
        );
    }
    let etag = published.answers.iter().any(|name| name == "ETag");
    compare("etag", yes(row.answer.etag), yes(etag));
    compare("body", yes(row.route.body != Body::None), yes(published.takes_header("Content-Type")));
    for parameter in
        published.query.iter().filter(|parameter| parameter.required && parameter.value.is_some())
    {
        let marked = row.route.marks.iter().any(|mark| {
            matches!(mark, Mark::Is(Name::Query(name), value)
                if *name == parameter.name && Some(*value) == parameter.value.as_deref())
        });
        compare("query", yes(marked), yes(true));
    }
    found
}

fn statuses(list: &[u16]) -> String {
    list.iter().map(u16::to_string).collect::<Vec<_>>().join(",")
}

fn yes(is: bool) -> String {
    if is { "yes".into() } else { "no".into() }
}

#[test]
fn cells_are_as_published_or_listed_with_a_reason() {
    let listed: Vec<[&str; 5]> = include_str!("../../../../spec/differences.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(cells)
        .collect();
    let mut found = BTreeSet::new();
    for published in published() {
        let row = row_of(&published);
        for (cell, ours, theirs) in differences(&published, row) {
            found.insert([published.op.clone(), cell.to_owned(), ours, theirs]);
        }
    }
    let known: BTreeSet<[String; 4]> = listed
        .iter()
        .map(|[op, cell, ours, theirs, _]| [op, cell, ours, theirs].map(|c| c.to_string()))
        .collect();
    let new: Vec<_> = found.difference(&known).map(|cells| cells.join(" | ")).collect();
    let stale: Vec<_> = known.difference(&found).map(|cells| cells.join(" | ")).collect();
    assert!(new.is_empty(), "not as published, and not listed:\n{}", new.join("\n"));
    assert!(stale.is_empty(), "listed, but no longer so:\n{}", stale.join("\n"));
    assert!(listed.iter().all(|[.., reason]| reason.len() > 10), "a difference needs a reason");
    assert_eq!(listed.len(), DIFFERENCES, "differences.txt may only get shorter");
}

#[test]
fn every_row_is_published_or_known_not_to_be() {
    let described: BTreeSet<&str> = published().iter().map(|published| row_of(published).name()).collect();
    let unpublished: Vec<[&str; 7]> = UNPUBLISHED.trim().lines().map(cells).collect();
    for row in all_rows() {
        let listed = unpublished.iter().find(|[name, ..]| *name == row.name());
        assert_ne!(described.contains(row.name()), listed.is_some(), "{}", row.name());
        let Some(cells) = listed else { continue };
        let addresses = match (row.route.addresses.snapshot, row.route.addresses.version) {
            (true, true) => "sv",
            (true, false) => "s",
            (false, true) => "v",
            (false, false) => "-",
        };
        let ours = [
            row.name().to_owned(),
            row.route.since.to_string(),
            statuses(row.answer.status),
            format!("{:?}", row.policy.lease),
            format!("{:?}", row.route.body),
            if row.answer.etag { "ret".into() } else { "-".into() },
            addresses.to_owned(),
        ];
        assert_eq!(ours, *cells);
        assert!(row.policy.source == Source::None, "{}", row.name());
    }
}
