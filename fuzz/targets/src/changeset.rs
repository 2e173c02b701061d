//! Batches: the multipart around them, the requests inside, the entities of those. What was cut apart and is put together
//! again is cut apart in the same way. What is looked at and what is kept grows with the input and no faster.

use lazuli_model::odata::EdmValue;
use lazuli_rest::multipart::{self, HEAD_MAX, HEADERS_MAX, PARTS_MAX, Part, Request};
use lazuli_rest::table::read_entity;
use lazuli_rest::table::select::{NAMES_MAX, Select};

pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Some(boundary) = multipart::boundary(text.lines().next().unwrap_or_default()) {
        assert!(!boundary.is_empty() && boundary.len() <= 200 && !boundary.contains(';'));
        cut(data, boundary, 0);
    }
    if let Some(boundary) = multipart::own_boundary(data) {
        assert!(!boundary.is_empty() && boundary.len() <= 200);
        cut(data, boundary, 0);
    }
    request(data);
    entity(data);
    select(&text);
}

fn cut(data: &[u8], boundary: &str, depth: u32) {
    let mut looked = 0;
    let parts = multipart::parts_counted(data, boundary, &mut looked);
    assert!(looked <= 3 * data.len(), "{looked} of {} were looked at: {}", data.len(), data.escape_ascii());
    let Some(parts) = parts else { return };
    assert!(parts.len() <= PARTS_MAX);
    let kept: usize = parts.iter().map(|part| part.body.len() + size(&part.headers)).sum();
    assert!(kept <= data.len(), "{kept} of {} are parts", data.len());
    together_again(&parts);
    for part in &parts {
        let inner = part.header("content-type").and_then(multipart::boundary);
        match inner {
            Some(inner) if depth < 2 => cut(part.body, inner, depth + 1),
            _ => request(part.body),
        }
    }
}

fn size(headers: &[(&str, &str)]) -> usize {
    headers.iter().map(|(name, value)| name.len() + value.len()).sum()
}

/// Each name once, and no more of them than may be.
fn select(text: &str) {
    let Ok(select) = Select::parse(text) else { return };
    let names = select.names();
    assert!(names.len() <= NAMES_MAX && select.text.len() <= text.len());
    assert!(names.iter().enumerate().all(|(at, name)| select.place(name) == Some(at)), "{text}");
}

fn within(outer: &[u8], inner: &[u8]) -> bool {
    outer.windows(inner.len().max(1)).any(|window| window == inner)
}

fn together_again(parts: &[Part<'_>]) {
    // A line that none of them has.
    let names = (0..).map(|number: u32| format!("again_{number}"));
    let mut free = names.filter(|name| !parts.iter().any(|part| within(part.body, name.as_bytes())));
    let boundary = free.next().unwrap();
    let mut body = Vec::new();
    for part in parts {
        assert!(part.headers.len() <= HEADERS_MAX);
        body.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        for (name, value) in &part.headers {
            body.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        body.extend_from_slice(b"\r\n");
        body.extend_from_slice(part.body);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    if parts.iter().any(|part| {
        part.headers.iter().any(|(name, value)| [name, value].iter().any(|word| word.contains(&*boundary)))
    }) {
        return;
    }
    let again = multipart::parts(&body, &boundary).unwrap();
    assert_eq!(again.len(), parts.len(), "{}", body.escape_ascii());
    for (part, again) in parts.iter().zip(&again) {
        assert_eq!(part.headers, again.headers, "{}", body.escape_ascii());
        assert_eq!(part.body, again.body, "{}", body.escape_ascii());
    }
}

fn request(data: &[u8]) {
    let Some(Request { method, url, headers, body }) = multipart::request(data) else { return };
    assert!(!method.contains([' ', '\n']) && !url.contains('\n'));
    assert!(headers.len() <= HEADERS_MAX && body.len() <= data.len());
    assert!(method.len() + url.len() + size(&headers) <= HEAD_MAX);
    entity(body);
    if let Some((_, selected)) = url.split_once("$select=") {
        select(selected);
    }
}

/// An entity is what its JSON says: a number without a point or an exponent is a whole one, and a small one.
fn entity(data: &[u8]) {
    let mut looked = 0;
    let sent = read_entity::read_counted(data, &mut looked);
    assert!(looked <= 2 * data.len(), "{looked} of {} were looked at: {}", data.len(), data.escape_ascii());
    let Ok(sent) = sent else { return };
    let kept: usize = sent.properties.iter().map(|(name, value)| name.len() + bytes(value)).sum();
    assert!(kept <= 2 * data.len(), "{kept} bytes of entity from {}", data.len());
    let text = std::str::from_utf8(data).unwrap();
    for (index, (name, value)) in sent.properties.iter().enumerate() {
        assert!(sent.properties.iter().skip(index + 1).all(|(other, _)| other != name), "{name} twice");
        let annotated = text.contains("@odata.type") || text.contains('\\');
        if let EdmValue::Double(_) = value
            && !annotated
        {
            assert!(text.contains(['.', 'e', 'E']), "{name} is a Double in {text}");
        }
    }
}

fn bytes(value: &EdmValue) -> usize {
    match value {
        EdmValue::String(text) => text.len(),
        EdmValue::Binary(bytes) => bytes.len(),
        EdmValue::Boolean(_) => 1,
        EdmValue::Int32(_) => 4,
        EdmValue::Int64(_) | EdmValue::Double(_) | EdmValue::DateTime(_) => 8,
        EdmValue::Guid(_) => 16,
    }
}
