use std::cmp::Ordering;

use crate::odata::{Bound, Filter, KeyBox, Span, compare_ordinal};

fn within(span: &Span, key: &str) -> bool {
    let above = match &span.low {
        Bound::Open => true,
        Bound::Including(low) => compare_ordinal(key, low) != Ordering::Less,
        Bound::Excluding(low) => compare_ordinal(key, low) == Ordering::Greater,
    };
    let below = match &span.high {
        Bound::Open => true,
        Bound::Including(high) => compare_ordinal(key, high) != Ordering::Greater,
        Bound::Excluding(high) => compare_ordinal(key, high) == Ordering::Less,
    };
    above && below
}

pub fn holds(boxes: &[KeyBox], partition: &str, row: &str) -> bool {
    boxes.iter().any(|one| within(&one.partition, partition) && within(&one.row, row))
}

fn printed(text: &str) -> String {
    let show = |span: &Span| match (&span.low, &span.high) {
        (Bound::Open, Bound::Open) => "*".to_owned(),
        _ if span.point().is_some() => span.point().unwrap_or_default().to_owned(),
        (low, high) => {
            let low = match low {
                Bound::Open => "(".to_owned(),
                Bound::Including(low) => format!("[{low}"),
                Bound::Excluding(low) => format!("({low}"),
            };
            let high = match high {
                Bound::Open => ")".to_owned(),
                Bound::Including(high) => format!("{high}]"),
                Bound::Excluding(high) => format!("{high})"),
            };
            format!("{low},{high}")
        }
    };
    let boxes = Filter::parse(text).expect(text).key_boxes("PartitionKey", "RowKey");
    let boxes = boxes.iter().map(|one| format!("{} x {}", show(&one.partition), show(&one.row)));
    boxes.collect::<Vec<_>>().join(" + ")
}

#[test]
fn keys_are_read_out_of_a_filter() {
    let cases = [
        ("PartitionKey eq 'a'", "a x *"),
        ("PartitionKey eq 'a' and RowKey eq '1'", "a x 1"),
        ("PartitionKey eq 'a' and RowKey ge '1' and RowKey lt '2'", "a x [1,2)"),
        ("PartitionKey ge 'a' and PartitionKey lt 'b'", "[a,b) x *"),
        ("'a' eq PartitionKey and x eq 5", "a x *"),
        ("PartitionKey eq 'a' or PartitionKey eq 'b'", "a x * + b x *"),
        ("PartitionKey eq 'a' and PartitionKey eq 'b'", ""),
        ("PartitionKey eq 'a' and (RowKey eq '1' or RowKey eq '2')", "a x 1 + a x 2"),
        ("PartitionKey eq 'a' or x eq 1", "a x * + * x *"),
        ("not (PartitionKey lt 'a' or PartitionKey gt 'b')", "[a,b] x *"),
        ("not (PartitionKey ne 'a')", "a x *"),
        ("PartitionKey ne 'a'", "* x *"),
        ("PartitionKey gt 'a' and PartitionKey ge 'a'", "(a,) x *"),
        ("PartitionKey eq 5", "* x *"),
        ("RowKey eq '1'", "* x 1"),
        ("x eq 1", "* x *"),
    ];
    for (text, expected) in cases {
        assert_eq!(printed(text), expected, "{text}");
    }
}

#[test]
fn many_alternatives_are_still_covered() {
    let parts: Vec<String> = (0..500).map(|n| format!("PartitionKey eq '{n}'")).collect();
    let filter = Filter::parse(&parts.join(" or ")).expect("a filter");
    let boxes = filter.key_boxes("PartitionKey", "RowKey");
    assert!((0..500).all(|n| holds(&boxes, &n.to_string(), "r")));
}

/// A literal that every box of the filter is bounded by is there once, however many boxes and conditions there are.
#[test]
fn boxes_share_their_literals() {
    let long = "k".repeat(15_000);
    let rows: Vec<String> = (0..150).map(|at| format!("RowKey eq '{at}'")).collect();
    let more = vec!["RowKey gt '0'"; 700].join(" and ");
    let text = format!("PartitionKey gt '{long}' and ({}) and {more}", rows.join(" or "));
    let boxes = Filter::parse(&text).expect("a filter").key_boxes("PartitionKey", "RowKey");
    assert_eq!(boxes.len(), 149);
    let shared: std::collections::BTreeSet<_> = boxes
        .iter()
        .map(|one| match &one.partition.low {
            Bound::Excluding(low) => low.as_ptr(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(shared.len(), 1);
}
