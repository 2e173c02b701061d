//! Queries as the reference writes them, asked about a record.

use super::*;
use crate::time::Timestamp;

/// A record of text columns, or a document.
enum Record<'a> {
    Columns(&'a Query, Vec<&'a str>),
    Document(&'a Query, &'a Json),
}

impl Row for Record<'_> {
    fn column(&self, slot: usize, work: &Work) -> Result<Value<'_>, Problem> {
        match self {
            Record::Columns(query, fields) => {
                let ordinal = Query::ordinal(&query.columns[slot]).expect("by number");
                let field = fields.get(ordinal.wrapping_sub(1)).ok_or(Problem::ORDINAL)?;
                Ok(Value::Text((*field).into()))
            }
            Record::Document(query, json) => {
                Ok(json.find(&query.columns[slot], work)?.map_or(Value::Missing, Json::value))
            }
        }
    }
}

const NOW: Timestamp = Timestamp(638_000_000_000_000_000);

fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Missing => "missing".to_owned(),
        Value::Json(json) => format!("{json:?}"),
        other => other.text().expect("text").into_owned(),
    }
}

/// The value of one expression about the columns `5`, `abc`, `2.5`, and an empty one.
fn value(expression: &str) -> String {
    let query = match Query::parse(&format!("SELECT {expression} FROM BlobStorage")) {
        Ok(query) => query,
        Err(failure) => return failure.message().to_owned(),
    };
    let Select::Items(items) = &query.select else { panic!("{expression} is no item") };
    let (row, work) = (Record::Columns(&query, vec!["5", "abc", "2.5", ""]), Work::default());
    let found = items[0].value(&Asked { row: &row, now: NOW, work: &work });
    found.map_or_else(|problem| problem.name.to_owned(), |value| shown(&value))
}

#[test]
fn expressions_of_the_reference_have_its_values() {
    for (expression, expected) in [
        ("CHARACTER_LENGTH('abcdefg')", "7"),
        ("CHAR_LENGTH(_1)", "1"),
        ("LOWER('AbCdEfG')", "abcdefg"),
        ("upper('AbCdEfG')", "ABCDEFG"),
        ("SUBSTRING('123456789', 1, 5)", "23456"),
        ("SUBSTRING('123', 2)", "3"),
        ("SUBSTRING('123', -1, 2)", "1"),
        ("TRIM(BOTH '123' FROM '1112211Microsoft22211122')", "Microsoft"),
        ("TRIM(LEADING FROM '  a ')", "a "),
        ("TRIM(TRAILING 'x' FROM 'xax')", "xa"),
        ("TRIM('  a ')", "a"),
        ("DATE_ADD('minute', 1, CAST('2017-01-02T03:04:05.006Z' AS TIMESTAMP))", "2017-01-02T03:05:05.006Z"),
        ("DATE_ADD(month, 1, '2024-01-31')", "2024-02-29T00:00:00Z"),
        ("DATE_ADD('year', -1, '2024-02-29T')", "2023-02-28T00:00:00Z"),
        ("DATE_DIFF('hour','2018-11-09T00:00+05:30','2018-11-09T01:00:23-08:00')", "14"),
        ("DATE_DIFF(year, '2020-03-01', '2022-02-28')", "1"),
        ("DATE_DIFF(month, '2022-02-28', '2020-03-01')", "-23"),
        ("EXTRACT(YEAR FROM '2010-01-01T')", "2010"),
        ("EXTRACT(timezone_hour FROM '2010-01-01T00:00-05:30')", "-5"),
        ("EXTRACT(timezone_minute FROM '2010-01-01T00:00-05:30')", "-30"),
        ("TO_STRING(CAST('1969-07-20T20:18Z' AS TIMESTAMP), 'MMMM d, y')", "July 20, 1969"),
        (
            "TO_STRING('1969-07-20T20:18:05.25+05:30', 'yy-MM-dd hh:mm:ss.SS a XXX')",
            "69-07-20 08:18:05.25 PM +05:30",
        ),
        ("TO_STRING('1969-07-20T20:18:05.25Z', 'S.SSSSSSSSS')", "2.250000000"),
        ("TRIM(BOTH 'éa\u{1F600}' FROM 'aé\u{1F600}boa\u{1F600}')", "bo"),
        ("TO_TIMESTAMP('2007T')", "2007-01-01T00:00:00Z"),
        ("UTCNOW()", "2022-09-28T22:13:20Z"),
        ("NULLIF(_1, 5)", "null"),
        ("COALESCE(NULL, NULLIF(1, 1), _2)", "abc"),
        ("CAST(_1 AS INT) + 2 * 3", "11"),
        ("(_1 + 2) * 3 % 4", "1"),
        ("-_1 - -1", "-4"),
        ("_1 + _3", "7.5"),
        ("7 / 2", "3"),
        ("7 / 2.0", "3.5"),
        ("CAST(_3 AS INT)", "2"),
        ("CAST('2017-01-02' AS TIMESTAMP) + 1", "2017-01-03T00:00:00Z"),
        ("CAST('true' AS BOOLEAN)", "true"),
        ("CASE WHEN _1 > 4 THEN 'more' ELSE 'less' END", "more"),
        ("CASE _2 WHEN 'x' THEN 1 WHEN 'abc' THEN 2 END", "2"),
        ("CASE _2 WHEN 'x' THEN 1 END", "null"),
        ("CASE (_1) WHEN (5) THEN (1) ELSE (2) END", "1"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn conditions_know_null_and_types() {
    for (condition, expected) in [
        ("_1 = 5", "true"),
        ("_1 = '5'", "true"),
        ("_1 > 4.5 AND _1 <= 5", "true"),
        ("_1 <> 5 OR NOT _2 != 'abc'", "true"),
        ("NOT NOT _1 = 5", "true"),
        ("_2 < 'abd'", "true"),
        ("_2 > 5", "InvalidTypeConversion"),
        ("_4 > 5", "InvalidTypeConversion"),
        ("_9 = 1", "InvalidColumnOrdinal"),
        ("_0 = 1", "InvalidColumnOrdinal"),
        ("1 / 0 = 1", "DivideByZero"),
        ("9223372036854775807 + 1 = 1", "ArithmeticOverflow"),
        ("NULL = NULL", "null"),
        ("NULL = 1 AND 1 = 2", "false"),
        ("NULL = 1 OR 1 = 1", "true"),
        ("NOT NULL = 1", "null"),
        ("NULL IS NULL", "true"),
        ("_1 IS NOT NULL", "true"),
        ("_1 IN (4, 5)", "true"),
        ("_1 NOT IN (4, 6)", "true"),
        ("_1 IN (4, NULL)", "null"),
        ("_1 BETWEEN 5 AND 6", "true"),
        ("_1 NOT BETWEEN 5 AND 6", "false"),
        ("_2 LIKE 'a%'", "true"),
        ("_2 LIKE '_b_'", "true"),
        ("_2 LIKE '%c%%'", "true"),
        ("_2 LIKE '[^a]%'", "false"),
        ("_2 LIKE '[a-c]b[cd]'", "true"),
        ("_2 NOT LIKE 'b%'", "true"),
        ("'10%' LIKE '%!%' ESCAPE '!'", "true"),
        ("'100' LIKE '%!%' ESCAPE '!'", "false"),
        ("'2018-11-09T00:00+05:30' = CAST('2018-11-08T18:30Z' AS TIMESTAMP)", "true"),
    ] {
        assert_eq!(value(condition), expected, "{condition}");
    }
}

#[test]
fn fields_of_documents_are_found_by_path() {
    let text = |text: &str| Json::Text(text.to_owned());
    let member = |name: &str, value: Json| (name.to_owned(), value);
    let warehouse = |latitude: f64| Json::Object(vec![member("Latitude", Json::Float(latitude))]);
    let document = Json::Object(vec![
        member("id", Json::Int(1)),
        member("tags", Json::Array(vec![text("wireless"), text("accessory")])),
        member("dimensions", Json::Object(vec![member("length", Json::Int(3))])),
        member("warehouses", Json::Array(vec![warehouse(41.8), warehouse(42.5)])),
    ]);
    let ask = |text: &str| {
        let query = Query::parse(text).expect(text);
        let mut found = Vec::new();
        let Select::Items(items) = &query.select else { panic!("{text}") };
        let mut records = std::collections::VecDeque::new();
        document.clone().records(&query.from, &mut records);
        for record in &records {
            let (row, work) = (Record::Document(&query, record), Work::default());
            let asked = Asked { row: &row, now: NOW, work: &work };
            if query.wants(&asked).expect(text) {
                let value = |item: &Item| shown(&item.value(&asked).expect(text));
                found.push(items.iter().map(value).collect::<Vec<_>>().join(","));
            }
        }
        found.join(";")
    };
    assert_eq!(ask("SELECT latitude FROM BlobStorage[*].warehouses[*]"), "41.8;42.5");
    assert_eq!(ask("SELECT latitude FROM BlobStorage[*].warehouses[*] WHERE latitude > 42"), "42.5");
    assert_eq!(ask("SELECT length FROM BlobStorage[*].dimensions"), "3");
    assert_eq!(ask("SELECT warehouses[0].latitude,id,tags[1] FROM BlobStorage[*]"), "41.8,1,accessory");
    assert_eq!(ask("SELECT b.id FROM BlobStorage AS b WHERE b.name IS MISSING"), "1");
    assert_eq!(ask("SELECT \"Id\" FROM BlobStorage"), "missing", "quoted names keep their case");
    assert_eq!(ask("SELECT id FROM BlobStorage WHERE id IS NOT MISSING AND id IS NOT NULL"), "1");
    assert_eq!(ask("SELECT id FROM BlobStorage[*].none[*]"), "");
}

#[test]
fn aggregates_count_what_they_can() {
    let query =
        Query::parse("SELECT COUNT(*), COUNT(_2), SUM(_1), AVG(_1), MIN(_1), MAX(_2) AS m FROM BlobStorage");
    let query = query.expect("a query");
    let Select::Aggregates(aggregates) = &query.select else { panic!("no aggregates") };
    let mut counted = Aggregates::new(aggregates);
    let values =
        |counted: &Aggregates| counted.values(aggregates).iter().map(shown).collect::<Vec<_>>().join(",");
    assert_eq!(values(&counted), "0,0,null,null,null,null");
    for fields in [["1", "b"], ["3", "a"], ["2.5", "c"]] {
        let (row, work) = (Record::Columns(&query, fields.to_vec()), Work::default());
        counted.add(aggregates, &Asked { row: &row, now: NOW, work: &work }).expect("counted");
    }
    let (row, work) = (Record::Columns(&query, vec!["x", "z"]), Work::default());
    let refused = counted.add(aggregates, &Asked { row: &row, now: NOW, work: &work });
    assert_eq!(refused.expect_err("no number").name, "InvalidTypeConversion");
    assert_eq!(values(&counted), "3,3,6.5,2.1666666666666665,1,c", "what cannot be taken changes nothing");
}

#[test]
fn what_is_no_query_is_refused_with_its_place() {
    for (text, message) in [
        ("", "The expression ends too early."),
        ("SELECT", "The expression ends too early."),
        ("UPDATE x", "Unexpected token 'UPDATE' at [byte: 0]."),
        ("SELECT * FROM Other", "Unexpected token 'Other' at [byte: 14]."),
        ("SELECT * FROM BlobStorage WHERE", "The expression ends too early."),
        ("SELECT * FROM BlobStorage WHERE _1 ? 2", "Unexpected token '?' at [byte: 35]."),
        ("SELECT * FROM BlobStorage WHERE _1 = 'a", "Unexpected token ''' at [byte: 37]."),
        ("SELECT * FROM BlobStorage LIMIT -1", "Unexpected token '-' at [byte: 32]."),
        ("SELECT *; DROP", "Unexpected token ';' at [byte: 8]."),
        ("SELECT NOPE(1) FROM BlobStorage", "Unexpected token 'NOPE' at [byte: 7]."),
        (
            "SELECT COUNT(*), _1 FROM BlobStorage",
            "Aggregates cannot be selected together with other expressions.",
        ),
        ("SELECT sys.split(10) FROM BlobStorage", "The size of sys.split must be at least 10485760."),
        ("SELECT LOWER() FROM BlobStorage", "LOWER has a wrong number of arguments."),
        ("SELECT _1 FROM BlobStorage WHERE _1 LIKE '[a'", "The pattern of LIKE is invalid."),
    ] {
        let failure = Query::parse(text).expect_err(text);
        assert_eq!((failure.code.name(), failure.message()), ("ParseError", message), "{text}");
    }
    assert!(Query::parse("select _1 from blobstorage where _1 < 1 limit 5;").is_ok());
    assert!(matches!(
        Query::parse("SELECT sys.split(10485760)FROM BlobStorage").expect("split").select,
        Select::Split(10_485_760)
    ));
}

#[test]
fn depth_length_and_work_are_bounded() {
    let nested =
        |levels: usize| format!("SELECT {}1{} FROM BlobStorage", "(".repeat(levels), ")".repeat(levels));
    assert!(Query::parse(&nested(30)).is_ok());
    assert!(Query::parse(&nested(5_000)).is_err());
    let signs =
        format!("SELECT {}1 FROM BlobStorage WHERE {} _1 = 1", "- ".repeat(5_000), "NOT ".repeat(5_000));
    assert!(Query::parse(&signs).is_ok(), "signs and negations do not nest");
    let chain = format!("SELECT 1{} FROM BlobStorage", "+1".repeat(900));
    let query = Query::parse(&chain).expect("a long chain");
    let Select::Items(items) = &query.select else { panic!("no items") };
    let (row, work) = (Record::Columns(&query, vec![]), Work::default());
    assert_eq!(items[0].value(&Asked { row: &row, now: NOW, work: &work }), Ok(Value::Int(901)));
    let chain = format!("SELECT 1{} FROM BlobStorage", "+1".repeat(2_000));
    assert_eq!(Query::parse(&chain).expect_err("too much").message(), "The expression is too complex.");
    let columns = format!("SELECT {} FROM BlobStorage", vec!["_1"; 50].join(","));
    assert_eq!(
        Query::parse(&columns).expect_err("too many").message(),
        "The expression selects more than 49 columns."
    );
    assert!(Query::parse(&format!("SELECT '{}' FROM BlobStorage", "x".repeat(40_000))).is_err());
}

/// A text of the record, and how often the query may look at it.
#[test]
fn the_work_for_one_record_is_bounded() {
    let text = "a".repeat(1024 * 1024);
    let ask = |expression: &str| {
        let query = Query::parse(&format!("SELECT * FROM BlobStorage WHERE {expression}")).expect("a query");
        let (row, work) = (Record::Columns(&query, vec![&text]), Work::default());
        let found = query.wants(&Asked { row: &row, now: NOW, work: &work });
        (found.map_err(|problem| (problem.name, problem.is_fatal)), work.take_spent())
    };
    for (once, result) in [
        ("_1 LIKE '%a_b%'", false),
        ("_1 LIKE '%b%'", false),
        ("_1 LIKE TRIM(BOTH _1 FROM _1)", false),
        ("TRIM(BOTH _1 FROM _1) = ''", true),
        ("LOWER(_1) = UPPER(_1)", false),
        ("CHAR_LENGTH(_1) = 1", false),
        ("SUBSTRING(_1, 1048575) = 'a'", true),
        ("_1 = _1", true),
        ("_1 BETWEEN _1 AND _1", true),
        ("_1 IN ('x', _1)", true),
        ("CASE _1 WHEN _1 THEN TRUE END", true),
        ("NULLIF(_1, _1) IS NULL", true),
        ("COALESCE(NULL, CAST(_1 AS STRING)) = _1", true),
    ] {
        assert_eq!(ask(once).0, Ok(result), "{once}");
        let (found, spent) = ask(&vec![format!("({once}) = {result}"); 70].join(" AND "));
        assert_eq!(found, Err(("QueryTooComplex", true)), "{once}");
        assert!(spent <= RECORD_WORK + 16 * text.len(), "{once}: {spent}");
    }
    for refused in
        ["_1 + 1 = 1", "-_1 = 1", "CAST(_1 AS INT) = 1", "_1 = 1", "_1 AND TRUE", "EXTRACT(YEAR FROM _1) = 1"]
    {
        let (found, spent) = ask(refused);
        assert_eq!(found, Err(("InvalidTypeConversion", false)), "{refused}");
        assert!(spent >= text.len(), "{refused} is counted");
    }
}

#[test]
fn a_query_that_is_left_stops() {
    let query = Query::parse("SELECT * FROM BlobStorage WHERE _1 = 1").expect("a query");
    let stopped = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (row, work) = (Record::Columns(&query, vec!["1"]), Work::until(stopped.clone()));
    let asked = Asked { row: &row, now: NOW, work: &work };
    assert_eq!(query.wants(&asked), Ok(true));
    stopped.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(query.wants(&asked).is_err_and(|problem| problem.is_fatal));
}

/// Longer than a width that the standard library can format.
#[test]
fn a_format_is_as_long_as_it_is_written() {
    let query = Query::parse("SELECT TO_STRING('2020-01-01', _1) FROM BlobStorage").expect("a query");
    let Select::Items(items) = &query.select else { panic!("no items") };
    for letter in ["S", "y", "M", "d", "a", "h", "H", "m", "s", "X", "x", "é", "'"] {
        let format = letter.repeat(70_000);
        let (row, work) = (Record::Columns(&query, vec![&format]), Work::default());
        let made = items[0].value(&Asked { row: &row, now: NOW, work: &work });
        assert!(made.is_ok_and(|made| letter != "S" || made.length() == 70_000), "{letter}");
    }
}
