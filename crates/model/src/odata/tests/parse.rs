use uuid::Uuid;

use super::{Bag, matches};
use crate::odata::parser::CONDITIONS_MAX;
use crate::odata::{EdmValue, Filter};
use crate::time::Timestamp;

fn refusal(text: &str) -> String {
    let failure = Filter::parse(text).expect_err(text);
    format!("{} {}: {}", failure.status(), failure.code.name(), failure.message())
}

fn person() -> Bag {
    let text = |text: &str| EdmValue::String(text.to_owned());
    let born = Timestamp::parse_iso("1970-10-04T00:00:00Z").expect("a time");
    let id = Uuid::try_parse("c9da6455-213d-42c9-9a79-3e9149a57833").expect("a guid");
    [
        ("PartitionKey", text("pk")),
        ("RowKey", text("rk")),
        ("age", EdmValue::Int32(39)),
        ("large", EdmValue::Int64(1_099_511_627_776)),
        ("ratio", EdmValue::Double(3.1)),
        ("nan", EdmValue::Double(f64::NAN)),
        ("married", EdmValue::Boolean(true)),
        ("deceased", EdmValue::Boolean(false)),
        ("sex", text("male")),
        ("quote", text("o'clock")),
        ("birthday", EdmValue::DateTime(born)),
        ("clsid", EdmValue::Guid(id)),
        ("binary", EdmValue::Binary(b"binary".to_vec())),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

/// The filters that clients were recorded to send, and those of the reference page, on the recorded entity.
#[test]
fn filters_of_the_reference_and_of_recordings() {
    let cases = [
        ("age eq 39", true),
        ("age lt 40", true),
        ("40 gt age", true),
        ("age eq 39L", true),
        ("age eq 39.0", true),
        ("age lt 39.5d", true),
        ("age gt -1", true),
        ("large eq 1099511627776L", true),
        ("large eq 1099511627776", true),
        ("large ge 2147483650L", true),
        ("ratio lt 4.1", true),
        ("ratio gt 3", true),
        ("ratio lt 1e3", true),
        ("ratio lt INF", true),
        ("ratio gt -INF", true),
        ("nan eq NaN", false),
        ("nan ne NaN", true),
        ("nan lt INF", false),
        ("married eq true", true),
        ("married eq True", true),
        ("married eq FALSE", false),
        ("age eq 39 and true", true),
        ("age eq 39 and False", false),
        ("true", true),
        (" (True) ", true),
        ("false", false),
        ("married", true),
        ("not married", false),
        ("deceased", false),
        ("not (deceased)", true),
        ("sex eq 'male' and age eq 39", true),
        ("sex eq 'Male'", false),
        ("quote eq 'o''clock'", true),
        ("birthday eq datetime'1970-10-04T00:00:00.000000Z'", true),
        ("birthday ge datetime'1970-10-04'", true),
        ("birthday lt datetime'1970-10-04T01:00:00+02:00'", false),
        ("clsid eq guid'c9da6455-213d-42c9-9a79-3e9149a57833'", true),
        ("clsid eq guid'C9DA6455-213D-42C9-9A79-3E9149A57833'", true),
        ("binary eq X'62696e617279'", true),
        ("binary eq binary'62696E617279'", true),
        ("binary gt X'00'", true),
        // A property that is not there: no comparison holds, not even ne; its opposite does.
        ("missing eq 1", false),
        ("missing ne 1", false),
        ("not (missing eq 1)", true),
        ("not missing eq 1", true),
        // Types that cannot be compared do not match, and are no error.
        ("age eq '39'", false),
        ("age ne '39'", false),
        ("sex eq 39", false),
        ("birthday eq '1970-10-04T00:00:00Z'", false),
        // Precedence: comparison, not, and, or.
        ("PartitionKey eq 'pk' or RowKey eq 'x' and sex eq 'x'", true),
        ("(PartitionKey eq 'pk' or RowKey eq 'x') and sex eq 'x'", false),
        ("not age eq 1 and sex eq 'male'", true),
        ("((age) eq (39))", true),
        ("PartitionKey eq 'pk' and RowKey ge 'r' and RowKey lt 's'", true),
        ("PartitionKey EQ 'pk' AND NOT (RowKey eq 'x')", true),
        ("PartitionKey eq 'foo'' or RowKey eq ''bar2' and sex eq 'male'", false),
    ];
    let person = person();
    for (text, expected) in cases {
        assert_eq!(matches(text, &person), expected, "{text}");
    }
}

#[test]
fn what_is_no_filter_is_refused_in_the_words_of_the_service() {
    // Recorded.
    assert_eq!(refusal("aaa bbb ccc"), "400 InvalidInput: Syntax error at position 7 in 'aaa bbb ccc'.");
    for text in [
        "",
        "   ",
        "age eq",
        "age eq eq",
        "eq 1",
        "(age eq 1",
        "age eq 1)",
        "age eq 1 and",
        "and age eq 1",
        "age eq 'x",
        "age eq 12x",
        "age eq 1.2.3",
        "age eq guid'x'",
        "age eq datetime'yesterday'",
        "age eq X'0'",
        "age eq X'0g'",
        "age eq Q'00'",
        "age eq 99999999999999999999L",
        "age = 1",
        "age eq null",
        "age eq other",
        "(age eq 1) eq true",
        "1 eq 1",
        "not true",
        "true and false",
        "True or 1 eq 1",
        "'text'",
        "age eq 1 or 5",
    ] {
        assert!(refusal(text).starts_with("400 InvalidInput"), "{text}: {}", refusal(text));
    }
    for text in ["startswith(sex, 'm')", "length(sex) eq 4", "not substringof('a', sex)"] {
        assert!(refusal(text).starts_with("501 NotImplemented"), "{text}");
    }
}

#[test]
fn depth_and_length_are_bounded() {
    let nested = |depth: usize| format!("{}a eq 1{}", "(".repeat(depth), ")".repeat(depth));
    assert!(Filter::parse(&nested(50)).is_ok());
    assert!(Filter::parse(&nested(5_000)).is_err());
    assert!(Filter::parse(&format!("{}a", "not ".repeat(5_000))).is_err());
    let chain = |count: usize| vec!["a eq 1"; count].join(" or ");
    assert!(matches(&chain(CONDITIONS_MAX), &Bag::from([("a".to_owned(), EdmValue::Int32(1))])));
    assert_eq!(refusal(&chain(4_000)), "400 InvalidInput: The filter is too long.");
}

/// Whatever the conditions are made of, so that asking one entity takes so many steps at most.
#[test]
fn so_many_conditions_and_no_more() {
    for condition in ["a eq 1", "a", "true", "1 eq 1", "not a", "not (a)", "(a eq 1)"] {
        let all = |count: usize| format!("p eq 1 and {}", vec![condition; count - 1].join(" and "));
        assert!(Filter::parse(&all(CONDITIONS_MAX)).is_ok(), "{condition}");
        let refused = refusal(&all(CONDITIONS_MAX + 1));
        assert_eq!(refused, "400 InvalidInput: The filter has too many comparisons.", "{condition}");
    }
    let names: Vec<String> = (0..CONDITIONS_MAX).map(|at| format!("n{at}")).collect();
    let filter = Filter::parse(&names.join(" or ")).expect("a filter");
    assert_eq!(filter.names(), names);
    assert!(names.iter().enumerate().all(|(at, name)| filter.slot(name) == Some(at)));
    assert!(filter.cost() >= CONDITIONS_MAX);
}

#[test]
fn each_property_has_one_slot() {
    let filter = Filter::parse("a eq 1 or b eq 2 and a ne 3").expect("a filter");
    assert_eq!(filter.names(), ["a", "b"]);
}
