use super::*;
use std::ops::RangeBounds as _;

fn tags(text: &str) -> Tags {
    Tags::parse_header(text).expect(text)
}

fn code(result: Result<Tags, Failure>) -> &'static str {
    result.expect_err("refused").code.name()
}

#[test]
fn the_header_is_a_query_string() {
    // Recorded: every special character that is allowed, `+` for a space.
    let special = tags("+%2B-.%3A=_+%3D&%2B-.%3A%3D+_=%2B+%2F%2F+_");
    let pairs: Vec<_> = special.iter().collect();
    assert_eq!(pairs, [(" +-.:", "_ ="), ("+-.:= _", "+ // _")]);
    let sorted: Vec<_> = tags("b=2&a=1&B=3").iter().map(|(key, _)| key.to_owned()).collect();
    assert_eq!(sorted, ["B", "a", "b"]);
    assert_eq!(tags("a=").get("a"), Some(""));
    assert!(tags("").is_empty());
}

#[test]
fn limits() {
    let pair = |key: usize, value: usize| vec![("k".repeat(key), "v".repeat(value))];
    let many = |count: usize| (0..count).map(|n| (format!("k{n}"), String::new())).collect::<Vec<_>>();
    assert_eq!(Tags::new(pair(128, 256)).map(|tags| tags.len()).ok(), Some(1));
    assert_eq!(Tags::new(many(10)).map(|tags| tags.len()).ok(), Some(10));
    assert_eq!(code(Tags::new(pair(129, 1))), "TagsTooLarge");
    assert_eq!(code(Tags::new(pair(1, 257))), "TagsTooLarge");
    assert_eq!(code(Tags::new(many(11))), "TagsTooLarge");
    assert_eq!(code(Tags::new(pair(0, 1))), "EmptyTagName");
    assert_eq!(code(Tags::parse_header("a=1&b=2&a=3")), "DuplicateTagNames");
    for text in ["a=%C3%A4", "a=%27", "%22=1", "a=1%261", "a=%00"] {
        assert_eq!(code(Tags::parse_header(text)), "InvalidTag", "{text}");
    }
    for text in ["a", "a=1&", "&", "a=%4", "a=%zz", "a=%FF"] {
        assert_eq!(code(Tags::parse_header(text)), "InvalidHeaderValue", "{text}");
    }
    assert_eq!(code(Tags::parse_header(&format!("a={}", "%41".repeat(683)))), "TagsTooLarge");
}

/// Expression, and whether it holds for colour=red, size=10, "my key"=x.
const EXPRESSIONS: &[(&str, bool)] = &[
    ("colour = 'red'", true),
    ("\"colour\"='red'", true),
    ("colour = 'blue'", false),
    ("Colour = 'red'", false),
    ("colour <> 'blue'", true),
    ("colour <> 'red'", false),
    ("\"my key\" = 'x'", true),
    // As strings: "10" < "9".
    ("size < '9'", true),
    ("size <= '10'", true),
    ("size < '10'", false),
    ("size >= '10'", true),
    ("size > '10'", false),
    ("size > '1'", true),
    // A tag that is not there.
    ("shape = 'round'", false),
    ("shape < 'z'", false),
    ("shape >= ''", false),
    ("shape <> 'round'", true),
    // AND binds more closely than OR.
    ("colour = 'red' OR colour = 'blue' AND size = '11'", true),
    ("(colour = 'red' OR colour = 'blue') AND size = '11'", false),
    ("colour = 'blue' AND size = '10' OR size = '10'", true),
    ("colour = 'red' and size = '10'", true),
    ("colour = 'blue' oR size = '10'", true),
    ("((colour = 'red'))", true),
    ("  colour='red'AND size='10'  ", true),
    ("orange = 'x' OR android = 'y' OR _a1 <> 'z'", true),
];

#[test]
fn expressions_hold_or_not() {
    let tags = tags("colour=red&size=10&my+key=x");
    for (text, wanted) in EXPRESSIONS {
        let expression = TagExpression::parse(text).expect(text);
        assert_eq!(expression.eval(&tags), *wanted, "{text}");
    }
}

#[test]
fn what_is_no_expression_is_refused() {
    let deep = format!("{}a = '1'{}", "(".repeat(40), ")".repeat(40));
    let deeper = "(".repeat(8000);
    let many = format!("a = '1'{}", " AND a = '1'".repeat(11));
    let long = format!("a = '{}'", "x".repeat(9000));
    for text in [
        "",
        " ",
        "a",
        "a =",
        "a = 1",
        "a = \"1\"",
        "= '1'",
        "'1' = a",
        "a = '1",
        "\"a = '1'",
        "a == '1'",
        "a != '1'",
        "a = '1' AND",
        "a = '1' b = '2'",
        "AND a = '1'",
        "(a = '1'",
        "a = '1')",
        "()",
        "1a = '1'",
        "a-b = '1'",
        "and = '1'",
        "@container = 'c'",
        "NOT a = '1'",
        "é = '1'",
        &deep,
        &deeper,
        &many,
        &long,
    ] {
        let failure = TagExpression::parse(text).expect_err(text);
        assert_eq!(failure.code.name(), "InvalidHeaderValue", "{text}");
        assert_eq!(failure.details.first().map(|(_, value)| value.as_str()), Some("x-ms-if-tags"));
    }
    assert!(TagExpression::parse(&format!("a = '1'{}", " OR a = '1'".repeat(10))).is_ok());
    let failure = TagExpression::parse_as("x-ms-source-if-tags", "?").expect_err("refused");
    assert_eq!(failure.details.first().map(|(_, value)| value.as_str()), Some("x-ms-source-if-tags"));
}

#[test]
fn find_blobs_by_tags() {
    let tags = tags("colour=red&size=10");
    for (text, wanted) in [
        ("\"colour\"='red'", true),
        ("@container = 'photos' AND colour = 'red'", true),
        ("colour = 'red' AND @container='films'", false),
        ("size >= '1' and size < '2'", true),
        ("size > '2' AND colour = 'red'", false),
        ("@container='photos'", true),
    ] {
        let expression = WhereExpression::parse(text).expect(text);
        assert_eq!(expression.eval("photos", &tags), wanted, "{text}");
    }
    let expression = WhereExpression::parse("b > '1' AND @container = 'c' AND a = '2'").expect("a predicate");
    assert_eq!(expression.container(), Some("c"));
    assert_eq!(expression.keys().collect::<Vec<_>>(), ["b", "a"]);
    for text in [
        "",
        "a <> '1'",
        "a = '1' OR b = '2'",
        "(a = '1')",
        "@container > 'c'",
        "@container = 'c' AND @container = 'd'",
        "a = '1' AND",
    ] {
        let failure = WhereExpression::parse(text).expect_err(text);
        assert_eq!(failure.code.name(), "InvalidQueryParameterValue", "{text}");
    }
}

/// What the range lets through is what the comparisons of its tag let through, neither more nor less.
#[test]
fn the_range_of_values_is_what_the_comparisons_say() {
    let values = ["", " ", "a", "a ", "aa", "ab", "b", "~"];
    let compared = ["", "a", "ab", "b", "a\u{1}x", "\0", "a\u{1f}"];
    let operators = ["=", "<", "<=", ">", ">="];
    for one in compared {
        for first in operators {
            for other in compared {
                for second in operators {
                    let text = format!("t {first} '{one}' AND t {second} '{other}'");
                    let expression = WhereExpression::parse(&text).expect(&text);
                    let range = expression.value_range().expect("compares a tag");
                    assert_eq!(range.tag, "t");
                    for value in values {
                        let within = (range.lower, range.upper).contains(value);
                        let tags = Tags::from_stored(vec![("t".to_owned(), value.to_owned())]);
                        assert_eq!(within, expression.eval("c", &tags), "{text:?} {value:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn equality_is_looked_for_first() {
    let tag = |text: &str| {
        let expression = WhereExpression::parse(text).expect(text);
        expression.value_range().map(|range| range.tag.to_owned())
    };
    assert_eq!(tag("a > '1' AND b < '2' AND c = '3'").as_deref(), Some("c"));
    assert_eq!(tag("a > '1' AND b < '2'").as_deref(), Some("a"));
    assert_eq!(tag("@container = 'c'"), None);
}
