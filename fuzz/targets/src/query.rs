//! Query Blob Contents: the document of a request, and a query about a blob. The input is a document; and it is an
//! expression, a zero byte, and the bytes of the blob. What is found does not depend on how the bytes come.

use lazuli_model::query::Query;
use lazuli_rest::blob::query_blob_contents::read;
use lazuli_service::query::{Delimited, Format, ask};

pub fn run(data: &[u8]) {
    if let Ok(request) = read(data) {
        asked(&request.query, &request.input, &request.output, b"a,b\n\"c\",1\n{\"a\":[1]}");
    }
    let split = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (text, blob) = (&data[..split], data.get(split + 1..).unwrap_or_default());
    let Ok(query) = Query::parse(&String::from_utf8_lossy(text)) else { return };
    assert!(query.cost() <= 1_000 + text.len());
    let json = Format::Json { separator: b"\n".to_vec() };
    let escaping = Delimited { escape: Some(b'\\'), headers: true, ..Delimited::default() };
    for input in [Format::default(), Format::Delimited(escaping), json.clone()] {
        for output in [Format::default(), json.clone()] {
            asked(&query, &input, &output, blob);
        }
    }
}

fn asked(query: &Query, input: &Format, output: &Format, blob: &[u8]) {
    let ask = |pieces: &[&[u8]]| ask(query.clone(), input.clone(), output.clone(), pieces);
    let whole = ask(&[blob]);
    for size in [1, 3, 16] {
        let pieces: Vec<&[u8]> = blob.chunks(size).collect();
        assert_eq!(ask(&pieces), whole, "in pieces of {size}");
    }
    let (_, errors) = whole;
    let fatal = errors.iter().position(|error| error.fatal);
    assert!(fatal.is_none_or(|at| at + 1 == errors.len()), "nothing follows what ends a query");
}
