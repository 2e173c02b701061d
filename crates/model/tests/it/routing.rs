//! A request matches one row or none. The judge here knows only the marks; the code under test is `route`.

use std::collections::{BTreeMap, BTreeSet};

use lazuli_model::operation::{Mark, Name, all_rows, allowed};
use lazuli_model::{ErrorCode, Method, Op, Resource, Row, Service, rows};

use crate::spec::{Request, SERVICES, cells, resource_named, service_named};

const COMP: Name = Name::Query("comp");
const RESTYPE: Name = Name::Query("restype");
const STRANGE: &str = "strange";

const RESOURCES: [Resource; 13] = [
    Resource::Account,
    Resource::Container,
    Resource::Blob,
    Resource::Queue,
    Resource::Messages,
    Resource::Message,
    Resource::Tables,
    Resource::Table,
    Resource::EntitySet,
    Resource::Entity,
    Resource::Batch,
    Resource::Share,
    Resource::Path,
];

type Assignment = BTreeMap<(bool, &'static str), Option<&'static str>>;

fn key(name: Name) -> (bool, &'static str) {
    match name {
        Name::Query(name) => (false, name),
        Name::Header(name) => (true, name),
    }
}

/// Whether the row takes the request, by its marks alone.
fn takes(row: &Row, values: &Assignment) -> bool {
    let value = |name: Name| values.get(&key(name)).copied().flatten();
    let silent = |name: Name| row.route.marks.iter().all(|mark| mark.name() != name);
    let closed = |name: Name| row.route.resource == Resource::Any || !silent(name) || value(name).is_none();
    row.route.marks.iter().all(|mark| mark.fits(value(mark.name()))) && closed(COMP) && closed(RESTYPE)
}

/// All values that any mark of these rows asks about, and one that none does, and absence.
fn domains(rows: &[&'static Row]) -> BTreeMap<(bool, &'static str), BTreeSet<Option<&'static str>>> {
    let mut domains = BTreeMap::new();
    for name in [COMP, RESTYPE] {
        domains.insert(key(name), BTreeSet::from([None, Some(STRANGE)]));
    }
    for mark in rows.iter().flat_map(|row| row.route.marks) {
        let values: &mut BTreeSet<Option<&'static str>> = domains.entry(key(mark.name())).or_default();
        values.extend([None, Some(STRANGE)]);
        match mark {
            Mark::Is(_, value) | Mark::Not(_, value) | Mark::Maybe(_, value) => values.extend([Some(*value)]),
            Mark::OneOf(_, several) => values.extend(several.iter().map(|value| Some(*value))),
            Mark::Has(_) | Mark::Lacks(_) => {}
        }
    }
    domains
}

fn request(values: &Assignment) -> Request {
    let mut request = Request::default();
    for ((header, name), value) in values {
        let list = if *header { &mut request.headers } else { &mut request.query };
        list.extend(value.map(|value| (name.to_string(), value.to_owned())));
    }
    request
}

/// Every combination of values for one resource and method. Marks of rows with another `comp` cannot matter,
/// so names are combined only within the rows of one `comp`.
fn each_request(resource: Resource, service: Service, mut visit: impl FnMut(&Assignment, &[&'static Row])) {
    let here: Vec<&'static Row> = rows(service)
        .iter()
        .filter(|row| row.route.resource == resource || row.route.resource == Resource::Any)
        .collect();
    let comps = domains(&here).remove(&key(COMP)).unwrap_or_default();
    for comp in comps {
        let of_comp: Vec<&'static Row> = here
            .iter()
            .copied()
            .filter(|row| row.route.marks.iter().filter(|m| m.name() == COMP).all(|m| m.fits(comp)))
            .collect();
        let mut assignments = vec![Assignment::from([(key(COMP), comp)])];
        for (name, values) in domains(&of_comp).into_iter().filter(|(name, _)| *name != key(COMP)) {
            let extend = |assignment: Assignment| {
                values.clone().into_iter().map(move |value| {
                    let mut longer = assignment.clone();
                    longer.insert(name, value);
                    longer
                })
            };
            assignments = assignments.into_iter().flat_map(extend).collect();
        }
        for assignment in &assignments {
            visit(assignment, &here);
        }
    }
}

#[test]
fn a_request_has_one_row_or_none_and_every_row_is_reached() {
    let mut reached: BTreeSet<&'static str> = BTreeSet::new();
    let mut requests = 0u64;
    for (_, service) in SERVICES {
        for resource in RESOURCES {
            each_request(resource, service, |values, here| {
                let request = request(values);
                for method in Method::ALL {
                    let takers: Vec<Op> = here
                        .iter()
                        .filter(|row| row.route.methods.contains(&method) && takes(row, values))
                        .map(|row| row.op)
                        .collect();
                    assert!(takers.len() <= 1, "{method:?} {request:?}: {takers:?}");
                    let routed = request.route(service, resource, method).ok().map(|row| row.op);
                    assert_eq!(routed, takers.first().copied(), "{method:?} {resource:?} {request:?}");
                    reached.extend(routed.map(Op::name));
                    requests += 1;
                }
            });
        }
    }
    let missing: Vec<_> = all_rows().iter().map(Row::name).filter(|name| !reached.contains(name)).collect();
    assert!(missing.is_empty(), "unreachable: {missing:?}");
    assert!(requests > 10_000, "{requests} requests are not all of them");
}

/// service | resource | method | request | the row, or the refusal with its details
const CASES: &str = "
blob | Blob | PUT | x-ms-blob-type=blockblob | PutBlockBlob
blob | Blob | PUT | - | MissingRequiredHeader HeaderName=x-ms-blob-type
blob | Blob | PUT | x-ms-blob-type=Blob | InvalidHeaderValue HeaderName=x-ms-blob-type HeaderValue=Blob
blob | Blob | PUT | x-ms-copy-source x-ms-requires-sync=false | CopyBlob
blob | Blob | PUT | x-ms-copy-source x-ms-requires-sync=true x-ms-blob-type=BlockBlob | PutBlobFromUrl
blob | Blob | PUT | ?comp=lease | MissingRequiredHeader HeaderName=x-ms-lease-action
blob | Blob | PUT | ?comp=lease x-ms-lease-action=steal | InvalidHeaderValue HeaderName=x-ms-lease-action HeaderValue=steal
blob | Blob | PUT | ?comp=block | MissingRequiredQueryParameter QueryParameterName=blockid
blob | Blob | PUT | ?comp=page | MissingRequiredHeader HeaderName=x-ms-page-write
blob | Blob | PUT | ?comp=page x-ms-page-write=clear x-ms-copy-source | InvalidHeaderValue HeaderName=x-ms-page-write HeaderValue=clear
blob | Blob | PUT | ?comp=copy ?copyid | MissingRequiredHeader HeaderName=x-ms-copy-action
blob | Blob | PUT | ?comp=nothing | InvalidQueryParameterValue QueryParameterName=comp QueryParameterValue=nothing Reason=
blob | Blob | GET | ?comp= | GetBlob
blob | Blob | GET | ?comp=metadata ?timeout=30 ?whatever | GetBlobMetadata
blob | Blob | GET | ?comp=block ?blockid | UnsupportedHttpVerb
blob | Blob | POST | - | UnsupportedHttpVerb
blob | Blob | PATCH | - | UnsupportedHttpVerb
blob | Blob | GET | ?restype=container | InvalidQueryParameterValue QueryParameterName=restype QueryParameterValue=container Reason=
blob | Blob | OPTIONS | ?comp=anything ?restype=whatever | PreflightBlobRequest
blob | Container | GET | ?restype=container ?comp=list ?delimiter=/ | ListBlobs
blob | Container | HEAD | ?restype=container | GetContainerProperties
blob | Container | POST | ?restype=container | UnsupportedHttpVerb
blob | Account | GET | - | InvalidQueryParameterValue QueryParameterName=comp QueryParameterValue= Reason=
blob | Account | GET | ?comp=list ?prefix=a | ListContainers
blob | Account | PUT | ?comp=list | UnsupportedHttpVerb
queue | Messages | GET | ?peekonly=true | PeekMessages
queue | Messages | GET | ?peekonly=false | GetMessages
queue | Message | DELETE | - | MissingRequiredQueryParameter QueryParameterName=popreceipt
queue | Message | PUT | ?popreceipt | MissingRequiredQueryParameter QueryParameterName=visibilitytimeout
queue | Message | GET | - | UnsupportedHttpVerb
table | Entity | PUT | - | InsertOrReplaceEntity
table | Entity | PUT | if-match=* | UpdateEntity
table | Entity | MERGE | if-match=* | MergeEntity
table | Entity | PATCH | - | InsertOrMergeEntity
table | Tables | PUT | - | MethodNotAllowed
table | Batch | POST | - | EntityGroupTransaction
file | Account | GET | ?comp=list | ListShares
file | Share | PUT | ?restype=share | CreateShare
file | Share | PUT | ?restype=share ?comp=lease x-ms-lease-action=renew | RenewShareLease
file | Share | HEAD | ?restype=share ?comp=metadata | GetShareMetadata
file | Path | PUT | ?restype=directory | CreateDirectory
file | Path | GET | ?restype=directory ?comp=list | ListDirectoriesAndFiles
file | Path | PUT | x-ms-type=file | CreateFile
file | Path | PUT | x-ms-type=File x-ms-content-length=5 | CreateFile
file | Path | PUT | - | MissingRequiredHeader HeaderName=x-ms-type
file | Path | PUT | x-ms-type=folder | InvalidHeaderValue HeaderName=x-ms-type HeaderValue=folder
file | Path | PUT | x-ms-copy-source | CopyFile
file | Path | PUT | x-ms-copy-source x-ms-type=file | CopyFile
file | Path | PUT | ?comp=range x-ms-write=update | PutRange
file | Path | PUT | ?comp=range x-ms-write=clear | ClearRange
file | Path | PUT | ?comp=range x-ms-write=update x-ms-copy-source | PutRangeFromUrl
file | Path | PUT | ?comp=range | MissingRequiredHeader HeaderName=x-ms-write
file | Path | PUT | ?comp=range x-ms-write=append | InvalidHeaderValue HeaderName=x-ms-write HeaderValue=append
file | Path | PUT | ?comp=rename | MissingRequiredHeader HeaderName=x-ms-file-rename-source
file | Path | PUT | ?restype=directory ?comp=rename x-ms-file-rename-source | RenameDirectory
file | Path | PUT | ?comp=lease x-ms-lease-action=renew | InvalidHeaderValue HeaderName=x-ms-lease-action HeaderValue=renew
file | Path | PUT | ?comp=forceclosehandles | MissingRequiredHeader HeaderName=x-ms-handle-id
file | Path | GET | ?restype=share | InvalidQueryParameterValue QueryParameterName=restype QueryParameterValue=share Reason=
file | Path | POST | - | UnsupportedHttpVerb
file | Path | GET | ?comp=range | UnsupportedHttpVerb
file | Path | PUT | ?restype=symboliclink | CreateSymbolicLink
file | Account | DELETE | - | InvalidQueryParameterValue QueryParameterName=comp QueryParameterValue= Reason=
file | Account | HEAD | - | InvalidQueryParameterValue QueryParameterName=comp QueryParameterValue= Reason=
";

#[test]
fn examples_and_the_errors_of_routing() {
    for line in CASES.trim().lines() {
        let [service, resource, method, marks, expected] = cells(line);
        let method = Method::parse(method).expect("a method");
        let routed = Request::parse(marks).route(service_named(service), resource_named(resource), method);
        let answer = match routed {
            Ok(row) => row.name().to_owned(),
            Err(failure) => {
                let details = failure.details.iter().map(|(name, value)| format!(" {name}={value}"));
                failure.code.name().to_owned() + &details.collect::<String>()
            }
        };
        assert_eq!(answer, expected, "{line}");
    }
}

#[test]
fn allow_lists_the_methods_of_a_resource() {
    let names = |service, resource| allowed(service, resource).iter().map(|m| m.as_str()).collect::<Vec<_>>();
    assert_eq!(names(Service::Blob, Resource::Account), ["GET", "HEAD", "PUT", "POST", "OPTIONS"]);
    assert_eq!(names(Service::Queue, Resource::Message), ["PUT", "DELETE", "OPTIONS"]);
    assert_eq!(ErrorCode::UnsupportedHttpVerb.status(), 405);
}
