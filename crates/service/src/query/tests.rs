//! Queries over text that comes in pieces of every size.

use lazuli_model::query::Query;

use super::scan::{RECORD_MAX, Scan, Stop};
use super::*;

/// The result, and the errors as `name@position`, an exclamation mark for those that end the query.
fn ask(text: &str, input: &Format, output: &Format, pieces: &[&[u8]]) -> (String, Vec<String>) {
    let query = Query::parse(text).expect(text);
    let (out, errors) = super::ask(query, input.clone(), output.clone(), pieces);
    let shown = |error: QueryError| {
        format!("{}{}@{}", error.name, if error.fatal { "!" } else { "" }, error.position)
    };
    (String::from_utf8(out).expect("text"), errors.into_iter().map(shown).collect())
}

/// The same whatever the pieces are.
fn ask_whole(text: &str, input: &Format, output: &Format, bytes: &str) -> (String, Vec<String>) {
    let whole = ask(text, input, output, &[bytes.as_bytes()]);
    for size in 1..8 {
        let pieces: Vec<&[u8]> = bytes.as_bytes().chunks(size).collect();
        assert_eq!(ask(text, input, output, &pieces), whole, "{text} in pieces of {size}");
    }
    whole
}

fn delimited() -> Format {
    Format::default()
}

fn named() -> Format {
    Format::Delimited(Delimited { headers: true, ..Delimited::default() })
}

fn json() -> Format {
    Format::Json { separator: b"\n".to_vec() }
}

fn told(out: &str) -> (String, Vec<String>) {
    (out.to_owned(), Vec::new())
}

#[test]
fn columns_are_read_selected_and_written() {
    let bytes = "100,200,300,400\n300,400,500,600\n";
    assert_eq!(ask_whole("SELECT * FROM BlobStorage", &delimited(), &delimited(), bytes), told(bytes));
    let some = "SELECT _2 from BlobStorage WHERE _1 > 250;";
    assert_eq!(ask_whole(some, &delimited(), &delimited(), bytes), told("400\n"));
    assert_eq!(ask_whole(some, &delimited(), &json(), bytes), told("{\"_1\":\"400\"}\n"), "recorded");
    assert_eq!(ask_whole("SELECT COUNT(*) FROM BlobStorage", &delimited(), &delimited(), bytes), told("2\n"));
    assert_eq!(
        ask_whole("SELECT * FROM BlobStorage LIMIT 1", &delimited(), &delimited(), bytes),
        told("100,200,300,400\n")
    );
    assert_eq!(ask_whole("SELECT * FROM BlobStorage LIMIT 0", &delimited(), &delimited(), bytes), told(""));
    assert_eq!(ask_whole("SELECT * FROM BlobStorage", &delimited(), &delimited(), ""), told(""));
    assert_eq!(
        ask_whole("SELECT * FROM BlobStorage", &delimited(), &delimited(), "a,b\r\nc"),
        told("a,b\nc\n")
    );
}

#[test]
fn quotes_escapes_and_long_separators_are_understood() {
    let bytes = "\"a,\"\"b\",\"c\nd\",e\"f\n";
    assert_eq!(
        ask_whole("SELECT _1, _2, _3 FROM BlobStorage", &delimited(), &json(), bytes),
        told("{\"_1\":\"a,\\\"b\",\"_2\":\"c\\nd\",\"_3\":\"e\\\"f\"}\n")
    );
    assert_eq!(
        ask_whole("SELECT * FROM BlobStorage", &delimited(), &delimited(), bytes),
        told("\"a,\"\"b\",\"c\nd\",\"e\"\"f\"\n")
    );
    let odd = Format::Delimited(Delimited {
        column: b"||".to_vec(),
        record: b"\r\n.".to_vec(),
        quote: None,
        escape: Some(b'\\'),
        headers: false,
    });
    let bytes = "a|b||c\\||d\r\n.e||\"f";
    assert_eq!(
        ask_whole("SELECT * FROM BlobStorage", &odd, &delimited(), bytes),
        told("a|b,c||d\ne,\"\"\"f\"\n")
    );
    let out = Format::Delimited(Delimited {
        column: b";".to_vec(),
        record: b".".to_vec(),
        quote: Some(b'\''),
        escape: Some(b'\\'),
        headers: true,
    });
    assert_eq!(
        ask_whole(
            "SELECT Version, Name AS n, 1 FROM BlobStorage",
            &named(),
            &out,
            "Name,Version\nit's,1.0.1\n"
        ),
        told("Version;n;_3.'1.0.1';'it\\'s';1.")
    );
    let open = ask_whole("SELECT * FROM BlobStorage", &delimited(), &delimited(), "a\n\"b");
    assert_eq!(open, ("a\n".to_owned(), vec!["ParseError!@2".to_owned()]));
}

#[test]
fn a_record_that_cannot_be_asked_is_told_of_and_left_out() {
    let found = ask_whole(
        "SELECT _1 from BlobStorage WHERE _2 > 250;",
        &delimited(),
        &delimited(),
        "100,pizza,300,400\n300,400,500,600\n",
    );
    assert_eq!(found, ("300\n".to_owned(), vec!["InvalidTypeConversion@0".to_owned()]), "recorded");
    let found = ask_whole("SELECT b FROM BlobStorage", &named(), &delimited(), "a,B\n1,2\n3\n4,5\n");
    assert_eq!(found, ("2\n5\n".to_owned(), vec!["InvalidColumnOrdinal@8".to_owned()]));
    let found = ask_whole("SELECT c FROM BlobStorage", &named(), &delimited(), "a,B\n1,2\n");
    assert_eq!(found, (String::new(), vec!["InvalidColumnName!@0".to_owned()]));
    let found = ask_whole("SELECT c FROM BlobStorage", &delimited(), &delimited(), "1,2\n");
    assert_eq!(found, (String::new(), vec!["InvalidColumnName!@0".to_owned()]));
}

#[test]
fn documents_are_read_selected_and_written() {
    let bytes = "{\"name\": \"owner\", \"id\": 1}\n{\"name2\": \"owner2\"}\n{\"name\": \"owner\", \"id\": 1}";
    let semicolon = Format::Json { separator: b";".to_vec() };
    assert_eq!(
        ask_whole("SELECT name from BlobStorage", &json(), &semicolon, bytes),
        told("{\"name\":\"owner\"};{};{\"name\":\"owner\"};"),
        "as the Python client's own test wants it"
    );
    assert_eq!(
        ask_whole("SELECT * from BlobStorage WHERE id = 1 LIMIT 1", &json(), &json(), bytes),
        told("{\"name\":\"owner\",\"id\":1}\n")
    );
    assert_eq!(
        ask_whole("SELECT * from BlobStorage", &json(), &delimited(), bytes),
        told("owner,1\nowner2\nowner,1\n")
    );
    let nested = "{\"w\":[{\"x\":1.5,\"y\":[1,null]},{\"x\":2,\"y\":{\"z\":true}}]}";
    assert_eq!(
        ask_whole("SELECT x, y FROM BlobStorage[*].w[*]", &json(), &delimited(), nested),
        told("1.5,\"[1,null]\"\n2,\"{\"\"z\"\":true}\"\n")
    );
    assert_eq!(
        ask_whole("SELECT SUM(x) AS s FROM BlobStorage[*].w[*]", &json(), &json(), nested),
        told("{\"s\":3.5}\n")
    );
    let number = "{\"a\":2.5e1}{\"a\":-0.25E-2}";
    assert_eq!(ask_whole("SELECT a FROM BlobStorage", &json(), &delimited(), number), told("25\n-0.0025\n"));
    let marked = "\u{FEFF}{\"a\":1}";
    assert_eq!(ask_whole("SELECT a FROM BlobStorage", &json(), &delimited(), marked), told("1\n"));
    assert_eq!(
        ask_whole("SELECT a FROM BlobStorage", &named(), &delimited(), "\u{FEFF}a,b\n1,2"),
        told("1\n")
    );
    let array = " [ {\"a\":1} , {\"a\":2}\n]\n";
    assert_eq!(ask_whole("SELECT a FROM BlobStorage", &json(), &delimited(), array), told("1\n2\n"));
}

#[test]
fn what_is_no_document_ends_the_query() {
    let found = ask_whole("SELECT * from BlobStorage;", &json(), &delimited(), "100,200\n300\n");
    assert_eq!(found, ("\n".to_owned(), vec!["ParseError!@0".to_owned()]), "recorded");
    let query = Query::parse("SELECT * FROM BlobStorage").expect("a query");
    let mut scan = Scan::new(query, json(), delimited(), Timestamp(0), Arc::default());
    scan.feed(b"100,200\n");
    scan.end();
    assert_eq!(scan.advance(), Stop::Done);
    assert_eq!(
        scan.errors[0].description,
        "Unexpected token ',' at [byte: 3]. Expecting tokens '{', or '['."
    );
    for malformed in
        ["{name: owner}\n{\"a\":1}", "{\"a\":1", "[{\"a\":1}", "[{\"a\":1} {\"a\":2}]", "\"a", "tru", "[1]]"]
    {
        let (_, errors) = ask_whole("SELECT * from BlobStorage", &json(), &json(), malformed);
        assert!(matches!(&errors[..], [one] if one.starts_with("ParseError!")), "{malformed}: {errors:?}");
    }
    let deep = format!("{}1{}", "[".repeat(500), "]".repeat(500));
    let (_, errors) = ask("SELECT * from BlobStorage", &json(), &json(), &[deep.as_bytes()]);
    assert_eq!(errors, ["ParseError!@0"]);
}

#[test]
fn a_batch_holds_whole_records() {
    let line = format!("{}\n", "x".repeat(1023));
    let piece = line.repeat(1024);
    let pieces: Vec<&[u8]> = vec![piece.as_bytes(); 25];
    let found = ask("SELECT sys.split(10485761) FROM BlobStorage", &delimited(), &delimited(), &pieces);
    assert_eq!(found, told("10486784\n10486784\n5240832\n"));
}

#[test]
fn what_is_held_and_done_at_a_time_is_bounded() {
    let query = Query::parse("SELECT * FROM BlobStorage").expect("a query");
    let mut scan = Scan::new(query.clone(), delimited(), delimited(), Timestamp(0), Arc::default());
    let piece = "a,b\n".repeat(256 * 1024);
    scan.feed(piece.as_bytes());
    let mut turns = 0;
    while scan.advance() == Stop::Turn {
        assert!(scan.take_output().len() < 128 * 1024);
        turns += 1;
    }
    assert!(turns >= 8, "{turns}");
    let mut scan = Scan::new(query, delimited(), delimited(), Timestamp(0), Arc::default());
    let piece = vec![b'x'; 256 * 1024];
    let mut fed = 0;
    while scan.advance() == Stop::Input {
        scan.feed(&piece);
        fed += piece.len();
        assert!(fed <= RECORD_MAX + 2 * piece.len(), "a record without an end is given up");
    }
    assert_eq!(scan.errors[0].description, "A record is longer than 4194304 bytes.");
    let commas = ",".repeat(20_000);
    let (_, errors) = ask("SELECT * FROM BlobStorage", &delimited(), &delimited(), &[commas.as_bytes()]);
    assert_eq!(errors, ["ParseError!@0"]);
    let wide = format!("{}\n", "x".repeat(1024 * 1024));
    let all = format!("SELECT {} FROM BlobStorage", vec!["_1"; 49].join(","));
    let (out, errors) = ask(&all, &delimited(), &delimited(), &[wide.as_bytes(), b"y\n"]);
    assert_eq!((out.len(), errors), (98, vec!["ResultTooLarge@0".to_owned()]));
}

/// Asks about a record without a pause, so there is a bound to it; the records of one document are asked about in slices.
#[test]
fn the_work_of_a_turn_is_bounded() {
    let long = format!("{}\nb\n", "a".repeat(1024 * 1024));
    let condition = vec!["_1 LIKE '%a%a%a%a%a%b_%'"; 100].join(" OR ");
    let text = format!("SELECT * FROM BlobStorage WHERE {condition}");
    let found = ask(&text, &delimited(), &delimited(), &[long.as_bytes()]);
    assert_eq!(found, (String::new(), vec!["QueryTooComplex!@0".to_owned()]));
    let once = "SELECT _2 FROM BlobStorage WHERE TRIM(BOTH _1 FROM _1) = ''";
    let same = format!("{0},x\n{0},y\n", "é".repeat(512 * 1024));
    assert_eq!(ask(once, &delimited(), &delimited(), &[same.as_bytes()]), told("x\ny\n"));
    let objects = vec!["{\"a\":1}"; 90_000].join(",");
    let document = format!("{{\"all\":[{objects}]}}");
    let query = Query::parse("SELECT COUNT(*) FROM BlobStorage[*].all[*] WHERE a = 1").expect("a query");
    let mut scan = Scan::new(query, json(), delimited(), Timestamp(0), Arc::default());
    scan.feed(document.as_bytes());
    scan.end();
    let mut turns = 0;
    while scan.advance() == Stop::Turn {
        turns += 1;
        assert!(scan.held() > document.len(), "what was read and not asked about is held");
    }
    assert!(turns > 20, "{turns}");
    assert_eq!(scan.take_output(), b"90000\n");
    let members: Vec<String> = (0..100_000).map(|number| format!("\"{number}\":0")).collect();
    let wide = format!("{{{},\"a\":1}}", members.join(","));
    let text =
        |times: usize| format!("SELECT 1 FROM BlobStorage WHERE {}", vec!["a = 1"; times].join(" AND "));
    assert_eq!(ask(&text(5), &json(), &delimited(), &[wide.as_bytes()]), told("1\n"));
    let (_, errors) = ask(&text(200), &json(), &delimited(), &[wide.as_bytes()]);
    assert_eq!(errors, ["QueryTooComplex!@0"]);
}

#[test]
fn texts_that_aggregates_keep_are_counted() {
    let long = format!("{}\nbb", "a".repeat(1024 * 1024));
    let all = ["MAX(_1)"; 10].join(",");
    let query = Query::parse(&format!("SELECT {all} FROM BlobStorage")).expect("a query");
    let mut scan = Scan::new(query, delimited(), delimited(), Timestamp(0), Arc::default());
    scan.feed(long.as_bytes());
    assert_ne!(scan.advance(), Stop::Done);
    assert!(scan.held() >= 10 * 1024 * 1024, "{}", scan.held());
}

#[test]
fn a_scan_that_is_stopped_goes_no_further() {
    let stopped = Arc::<std::sync::atomic::AtomicBool>::default();
    let query = Query::parse("SELECT * FROM BlobStorage").expect("a query");
    let mut scan = Scan::new(query, delimited(), delimited(), Timestamp(0), Arc::clone(&stopped));
    scan.feed(b"a\nb\n");
    stopped.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!((scan.advance(), scan.take_output()), (Stop::Done, Vec::new()));
}
