//! The printed reference, docs/operations.md: one line per row, one table per service.

use std::fmt::Write;

use super::{Body, LeaseUse, Mark, Name, Op, Resource, Row, Rule, Service, Source, rows};
use crate::access::{Access, AccountSas, Anonymous, Letters, Rbac, ServiceSas};

const HEAD: &str = "\
# Operations

Printed from the operation table (`crates/model/src/operation`); do not edit. A test fails when this page is
stale; `LAZULI_PRINT=1 cargo test -p lazuli-rest --test it printed` prints it anew.

- **Request**: method, path, query, and the headers that tell the row apart (`!` absent, `\u{2260}` another value).
- **Conditions**: E If-Match and If-None-Match (M the first alone), T If-Modified-Since and If-Unmodified-Since
  (I, U one alone), G x-ms-if-tags, Q sequence number, P append position, X maximum size, A tier change time,
  B the HTTP conditions as x-ms-blob-if-*, S x-ms-source-if-*. `R` or `W` is the rule by which they are judged.
- **Lease**: read = an id that is sent must be right; write = the id is needed while locked; manage = acts on it.
- **Also of**: S snapshots, V versions. **Creates**: acts where there is no target yet.
- **ETag**: ret = the answer carries it, new = the operation changes it.
- **SAS**: letters of an account SAS after its resource type, then of a service SAS (`=` the same letters,
  `-` never); `c/w` either, `au` both; `*` any token; `+` create only without `w`.
- **Bearer**: data actions, any of them. **Anyone**: public access that opens it.
- **Built**: no = answered 501 NotImplemented.
";

const SERVICES: [(&str, Service); 4] =
    [("Blob", Service::Blob), ("Queue", Service::Queue), ("Table", Service::Table), ("File", Service::File)];

/// `is_built` says which operations are carried out.
pub fn operations_markdown(is_built: impl Fn(Op) -> bool) -> String {
    let mut page = HEAD.to_owned();
    for (title, service) in SERVICES {
        let _ = write!(
            page,
            "\n## {title}\n\n\
             | Operation | Request | Since | Conditions | Lease | Also of | Creates | Body | Status | ETag | SAS | Bearer | Anyone | Built |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
        );
        for row in rows(service) {
            page.push_str(&line(row, is_built(row.op)));
        }
    }
    page
}

fn line(row: &Row, is_built: bool) -> String {
    let statuses: Vec<String> = row.answer.status.iter().map(u16::to_string).collect();
    let cells = [
        format!("{} (`{}`)", row.route.title, row.name()),
        request(row),
        row.route.since.to_string(),
        conditions(row),
        lease(row.policy.lease).to_owned(),
        also(row),
        if row.policy.creates { "yes" } else { "-" }.to_owned(),
        body(row.route.body).to_owned(),
        statuses.join(", "),
        etag(row).to_owned(),
        sas(&row.access),
        bearer(&row.access),
        anyone(&row.access).to_owned(),
        if is_built { "yes" } else { "no" }.to_owned(),
    ];
    format!("| {} |\n", cells.join(" | "))
}

fn request(row: &Row) -> String {
    let methods: Vec<&str> = row.route.methods.iter().map(|method| method.as_str()).collect();
    let mut query = Vec::new();
    let mut headers = Vec::new();
    for mark in row.route.marks {
        let (list, name) = match mark.name() {
            Name::Query(name) => (&mut query, name),
            Name::Header(name) => (&mut headers, name),
        };
        list.push(match mark {
            Mark::Is(_, value) => format!("{name}={value}"),
            Mark::OneOf(_, values) => format!("{name}={}", values.join("/")),
            Mark::Not(_, value) => format!("{name}\u{2260}{value}"),
            Mark::Maybe(_, value) => format!("[{name}={value}]"),
            Mark::Has(_) => name.to_owned(),
            Mark::Lacks(_) => format!("!{name}"),
        });
    }
    let question = if query.is_empty() { "" } else { "?" };
    let mut text = format!("`{} {}{question}{}`", methods.join("/"), path(row), query.join("&"));
    for header in headers {
        let _ = write!(text, " `{header}`");
    }
    text
}

fn path(row: &Row) -> &'static str {
    match row.route.resource {
        Resource::Any => "*",
        Resource::Account => "/",
        Resource::Container => "/{container}",
        Resource::Blob => "/{container}/{blob}",
        Resource::Queue => "/{queue}",
        Resource::Messages => "/{queue}/messages",
        Resource::Message => "/{queue}/messages/{id}",
        Resource::Tables => "/Tables",
        Resource::Table => "/Tables('{table}')",
        Resource::EntitySet => "/{table}",
        Resource::Entity => "/{table}(PartitionKey='{pk}',RowKey='{rk}')",
        Resource::Batch => "/$batch",
        Resource::Share => "/{share}",
        Resource::Path => "/{share}/{path}",
        Resource::FileSystem => "/{filesystem}",
    }
}

fn conditions(row: &Row) -> String {
    let source = if row.policy.source != Source::None { "S" } else { "" };
    let letters = format!("{}{source}", row.policy.conditions);
    let rule = match row.policy.rule {
        Rule::Read => "R",
        Rule::Write => "W",
    };
    if letters.is_empty() { "-".into() } else { format!("{letters} {rule}") }
}

fn lease(lease: LeaseUse) -> &'static str {
    match lease {
        LeaseUse::None => "-",
        LeaseUse::Read => "read",
        LeaseUse::Write => "write",
        LeaseUse::Manage => "manage",
    }
}

fn also(row: &Row) -> String {
    match (row.route.addresses.snapshot, row.route.addresses.version) {
        (true, true) => "S V".into(),
        (true, false) => "S".into(),
        (false, true) => "V".into(),
        (false, false) => "-".into(),
    }
}

fn body(body: Body) -> &'static str {
    match body {
        Body::None => "-",
        Body::Xml => "XML",
        Body::Json => "JSON",
        Body::Bytes => "bytes",
        Body::Multipart => "multipart",
    }
}

fn etag(row: &Row) -> &'static str {
    match (row.answer.etag, row.policy.changes_etag) {
        (true, true) => "ret new",
        (true, false) => "ret",
        (false, _) => "-",
    }
}

fn sas(access: &Access) -> String {
    let letters = |any_of: Letters| any_of.join("/");
    let account = match access.account_sas {
        AccountSas::Never => "-".into(),
        AccountSas::Any => "*".into(),
        AccountSas::Needs { level, any_of } => format!("{level}: {}", letters(any_of)),
    };
    let service = match (access.service_sas, access.account_sas) {
        (ServiceSas::Never, _) => "-".into(),
        (ServiceSas::Any, _) => "*".into(),
        (ServiceSas::AnyOf(own), AccountSas::Needs { any_of, .. }) if own == any_of => "=".into(),
        (ServiceSas::AnyOf(own), _) => letters(own),
    };
    let mut text = format!("{account}; {service}");
    for variant in access.variants {
        let (Name::Query(name) | Name::Header(name)) = variant.mark.name();
        let _ = write!(text, "; {} with {name}", letters(variant.letters));
    }
    if access.create_only {
        text.push_str("; +");
    }
    if access.shared_key { text } else { "-; - (no Shared Key)".into() }
}

fn bearer(access: &Access) -> String {
    match access.rbac {
        Rbac::Never => "-".into(),
        Rbac::Any => "*".into(),
        Rbac::AnyOf(actions) => actions.join(", "),
        Rbac::Since(feature, actions) => format!("{} from {}", actions.join(", "), feature.since()),
    }
}

fn anyone(access: &Access) -> &'static str {
    match access.anonymous {
        Anonymous::Never => "-",
        Anonymous::BlobLevel => "blob",
        Anonymous::ContainerLevel => "container",
        Anonymous::Always => "always",
    }
}
