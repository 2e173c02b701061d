//! Reading the text tables of `spec/`.

use lazuli_model::{Method, Resource, Service};

pub const SERVICES: [(&str, Service); 4] =
    [("blob", Service::Blob), ("queue", Service::Queue), ("table", Service::Table), ("file", Service::File)];

/// A query parameter or header, as published.
#[derive(Debug, Clone)]
pub struct Parameter {
    pub name: String,
    pub value: Option<String>,
    pub required: bool,
}

#[derive(Debug)]
pub struct Published {
    pub op: String,
    pub service: Service,
    pub method: Method,
    pub resource: Resource,
    pub query: Vec<Parameter>,
    pub headers: Vec<Parameter>,
    pub status: Vec<u16>,
    pub answers: Vec<String>,
}

impl Published {
    pub fn takes_header(&self, name: &str) -> bool {
        self.headers.iter().any(|header| header.name.eq_ignore_ascii_case(name))
    }

    pub fn takes_query(&self, name: &str) -> bool {
        self.query.iter().any(|query| query.name == name)
    }
}

pub fn published() -> Vec<Published> {
    let texts = [
        (Service::Blob, include_str!("../../../../spec/operations-blob.txt")),
        (Service::Queue, include_str!("../../../../spec/operations-queue.txt")),
        (Service::Table, include_str!("../../../../spec/operations-table.txt")),
        (Service::File, include_str!("../../../../spec/operations-file.txt")),
    ];
    texts
        .iter()
        .flat_map(|(service, text)| text.split("\n\n").map(|block| operation(*service, block)))
        .collect()
}

fn operation(service: Service, block: &str) -> Published {
    let mut lines = block.lines();
    let op = lines.next().expect("a title").to_owned();
    let mut cell = |name: &str| {
        let line = lines.next().unwrap_or_default().trim();
        line.strip_prefix(name).unwrap_or_else(|| panic!("{op}: {line} should be {name}")).trim().to_owned()
    };
    let request = cell("request");
    let (query, headers) = (parameters(&cell("query")), parameters(&cell("headers")));
    let status = cell("status").split(' ').map(|status| status.parse().expect("a status")).collect();
    let answers = cell("answers").split(' ').map(str::to_owned).collect();
    let (method, path) = request.split_once(' ').expect("a method and a path");
    let method = Method::parse(method).expect("a method");
    Published { resource: resource(path), op, service, method, query, headers, status, answers }
}

fn parameters(text: &str) -> Vec<Parameter> {
    let parameter = |word: &str| {
        let (name, required) = match word.strip_suffix('?') {
            Some(name) => (name, false),
            None => (word, true),
        };
        match name.split_once('=') {
            Some((name, value)) => Parameter { name: name.into(), value: Some(value.into()), required },
            None => Parameter { name: name.into(), value: None, required },
        }
    };
    text.split_ascii_whitespace().map(parameter).collect()
}

fn resource(path: &str) -> Resource {
    match path {
        "/" => Resource::Account,
        "/{container}" => Resource::Container,
        "/{container}/{blob}" => Resource::Blob,
        "/{queue}" => Resource::Queue,
        "/{queue}/messages" => Resource::Messages,
        "/{queue}/messages/{messageId}" => Resource::Message,
        "/Tables" => Resource::Tables,
        "/Tables('{table}')" => Resource::Table,
        "/{table}" | "/{table}()" => Resource::EntitySet,
        "/{table}(PartitionKey='{partitionKey}',RowKey='{rowKey}')" => Resource::Entity,
        "/{share}" => Resource::Share,
        "/{share}/{path}" => Resource::Path,
        other => panic!("unknown path {other}"),
    }
}

pub fn resource_named(name: &str) -> Resource {
    match name {
        "Account" => Resource::Account,
        "Container" => Resource::Container,
        "Blob" => Resource::Blob,
        "Queue" => Resource::Queue,
        "Messages" => Resource::Messages,
        "Message" => Resource::Message,
        "Tables" => Resource::Tables,
        "Table" => Resource::Table,
        "EntitySet" => Resource::EntitySet,
        "Entity" => Resource::Entity,
        "Batch" => Resource::Batch,
        "Share" => Resource::Share,
        "Path" => Resource::Path,
        other => panic!("unknown resource {other}"),
    }
}

pub fn service_named(name: &str) -> Service {
    SERVICES.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("unknown service {name}")).1
}

/// A request as far as routing looks at it.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
}

impl Request {
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// `?comp=list ?snapshot x-ms-blob-type=BlockBlob x-ms-copy-source`; what has no value gets `x`.
    pub fn parse(marks: &str) -> Request {
        let mut request = Request::default();
        for word in marks.split_ascii_whitespace().filter(|word| *word != "-") {
            let (list, word) = match word.strip_prefix('?') {
                Some(word) => (&mut request.query, word),
                None => (&mut request.headers, word),
            };
            let (name, value) = word.split_once('=').unwrap_or((word, "x"));
            list.push((name.to_owned(), value.to_owned()));
        }
        request
    }

    pub fn route(
        &self,
        service: Service,
        resource: Resource,
        method: Method,
    ) -> Result<&'static lazuli_model::Row, lazuli_model::Failure> {
        lazuli_model::route(service, resource, method, &|name| self.query(name), &|name| self.header(name))
    }
}

/// The cells of a table whose columns are separated by ` | `.
pub fn cells<const N: usize>(line: &str) -> [&str; N] {
    let cells: Vec<&str> = line.split(" | ").map(str::trim).collect();
    cells.try_into().unwrap_or_else(|cells| panic!("{N} columns expected: {cells:?}"))
}
