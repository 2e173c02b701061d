//! From a request to its row: exactly one, or the error that says why there is none.

use super::{COMP, Mark, Method, Name, RESTYPE, Resource, Row, Service, rows};
use crate::error::{ErrorCode, Failure};

/// `query` and `header` answer the value of a parameter or header by name; header names without case.
/// An empty `comp` or `restype` counts as absent.
pub fn route<'r>(
    service: Service,
    resource: Resource,
    method: Method,
    query: &dyn Fn(&str) -> Option<&'r str>,
    header: &dyn Fn(&str) -> Option<&'r str>,
) -> Result<&'static Row, Failure> {
    let present = |key| query(key).filter(|value| !value.is_empty());
    let (comp, restype) = (present("comp"), present("restype"));
    let value = |name: Name| match name {
        COMP => comp,
        RESTYPE => restype,
        Name::Query(key) => query(key),
        Name::Header(key) => header(key),
    };
    let dispatched = |row: &&Row| dispatches(row, COMP, comp) && dispatches(row, RESTYPE, restype);
    let candidates = || {
        let here = rows(service).iter().filter(|row| addressed(row, resource));
        here.filter(|row| row.route.methods.contains(&method)).filter(dispatched)
    };
    if let Some(row) =
        candidates().find(|row| row.route.marks.iter().all(|mark| mark.fits(value(mark.name()))))
    {
        return Ok(row);
    }
    let candidates: Vec<&'static Row> = candidates().collect();
    if !candidates.is_empty() {
        return Err(unmet(&candidates, &value));
    }
    // The same parameters under another method: the verb is wrong. No such parameters: they are.
    let mut own = rows(service).iter().filter(|row| row.route.resource == resource);
    let known_method = own.clone().any(|row| row.route.methods.contains(&method));
    // Recorded: a request to the File service itself that says nothing lacks its `comp` before it has a wrong verb.
    let says_nothing =
        service == Service::File && resource == Resource::Account && comp.or(restype).is_none();
    if says_nothing {
        return Err(wrong_parameters(service, comp, restype));
    }
    if !known_method || own.any(|row| dispatched(&row)) {
        return Err(wrong_method(service));
    }
    Err(wrong_parameters(service, comp, restype))
}

/// The methods that a resource knows, for the `Allow` header of a 405.
pub fn allowed(service: Service, resource: Resource) -> Vec<Method> {
    let known = |method: &Method| {
        rows(service).iter().any(|row| addressed(row, resource) && row.route.methods.contains(method))
    };
    Method::ALL.into_iter().filter(known).collect()
}

fn addressed(row: &Row, resource: Resource) -> bool {
    row.route.resource == resource || row.route.resource == Resource::Any
}

/// Whether the row takes this value of `comp` or `restype`; a row that does not mention it wants it absent,
/// except a row for any resource, which does not care.
fn dispatches(row: &Row, name: Name, value: Option<&str>) -> bool {
    let mut marks = row.route.marks.iter().filter(|mark| mark.name() == name).peekable();
    if marks.peek().is_none() {
        return value.is_none() || row.route.resource == Resource::Any;
    }
    marks.all(|mark| mark.fits(value))
}

fn wrong_method(service: Service) -> Failure {
    match service {
        Service::Table => ErrorCode::MethodNotAllowed.into(),
        _ => ErrorCode::UnsupportedHttpVerb.into(),
    }
}

fn wrong_parameters(service: Service, comp: Option<&str>, restype: Option<&str>) -> Failure {
    for (name, value) in [(COMP, comp), (RESTYPE, restype)] {
        let (Name::Query(key) | Name::Header(key)) = name;
        let Some(value) = value else { continue };
        let known = rows(service)
            .iter()
            .flat_map(|row| row.route.marks)
            .any(|mark| mark.name() == name && mark.fits(Some(value)));
        if !known {
            return Failure::invalid_query(key, value, "");
        }
    }
    match restype {
        Some(value) if comp.is_none() => Failure::invalid_query("restype", value, ""),
        _ => Failure::invalid_query("comp", comp.unwrap_or_default(), ""),
    }
}

/// Candidates agree in path, method, comp and restype: what is wrong is a header or another parameter.
/// A value that no candidate takes is reported first, then what is absent, then values that do not go together.
fn unmet<'r>(candidates: &[&'static Row], value: &dyn Fn(Name) -> Option<&'r str>) -> Failure {
    let wanted = |mark: &&Mark| matches!(mark, Mark::Is(..) | Mark::OneOf(..) | Mark::Has(_));
    let marks: Vec<Mark> =
        candidates.iter().flat_map(|row| row.route.marks).filter(wanted).copied().collect();
    let unfit: Vec<Mark> = marks.iter().copied().filter(|mark| !mark.fits(value(mark.name()))).collect();
    let strange = |mark: &&Mark| {
        let given = value(mark.name());
        given.is_some() && !marks.iter().any(|other| other.name() == mark.name() && other.fits(given))
    };
    if let Some(mark) = unfit.iter().find(strange) {
        return wrong_value(mark.name(), value(mark.name()).unwrap_or_default());
    }
    if let Some(mark) = unfit.iter().find(|mark| value(mark.name()).is_none()) {
        return absent(mark.name());
    }
    match unfit.first() {
        Some(mark) => wrong_value(mark.name(), value(mark.name()).unwrap_or_default()),
        None => ErrorCode::InvalidInput.into(),
    }
}

fn wrong_value(name: Name, value: &str) -> Failure {
    match name {
        Name::Query(key) => Failure::invalid_query(key, value, ""),
        Name::Header(key) => Failure::invalid_header(key, value),
    }
}

fn absent(name: Name) -> Failure {
    match name {
        Name::Query(key) => Failure::missing_query(key),
        Name::Header(key) => Failure::missing_header(key),
    }
}
