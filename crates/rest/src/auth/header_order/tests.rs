use std::cmp::Ordering;

use super::compare;

/// As the contract prints them: ascending, the hyphen and the apostrophe being no part of the first comparison.
const ASCENDING: &str =
    "! # $ % & * . ^ _ ` | ~ + 0 1 2 3 4 5 6 7 8 9 a b c d e f g h i j k l m n o p q r s t u v w x y z";

#[test]
fn characters_in_their_order() {
    let names: Vec<String> = ASCENDING.split(' ').map(|sign| format!("x-ms-meta-{sign}")).collect();
    for (i, a) in names.iter().enumerate() {
        for (j, b) in names.iter().enumerate() {
            assert_eq!(compare(a, b), i.cmp(&j), "{a} {b}");
        }
    }
}

/// Both columns sorted, by the service and by byte.
#[test]
fn names_in_their_order() {
    let cases = [
        ("x-ms-meta-ab", "x-ms-meta-a-c", Ordering::Less),
        ("x-ms-meta-aa", "x-ms-meta-a-b", Ordering::Less),
        ("x-ms-meta-a", "x-ms-meta-a-a", Ordering::Less),
        ("x-ms-meta-ab", "x-ms-meta-a-b", Ordering::Less),
        ("x-ms-meta-a'b", "x-ms-meta-a-b", Ordering::Less),
        ("x-ms-meta-a_b", "x-ms-meta-ab", Ordering::Less),
        ("x-ms-meta", "x-ms-meta-a", Ordering::Less),
        ("x-ms-copy-source", "x-ms-copy-source-authorization", Ordering::Less),
        ("x-ms-date", "x-ms-version", Ordering::Less),
        ("x-ms-meta-a-b", "x-ms-meta-a-b", Ordering::Equal),
    ];
    for (a, b, expected) in cases {
        assert_eq!(compare(a, b), expected, "{a} {b}");
        assert_eq!(compare(b, a), expected.reverse(), "{b} {a}");
    }
}

fn words(alphabet: &[char], length: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut last = all.clone();
    for _ in 0..length {
        last =
            last.iter().flat_map(|word| alphabet.iter().map(move |sign| format!("{word}{sign}"))).collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// Sorting may panic on an order that is none, and names come from outside.
#[test]
fn it_is_an_order() {
    let order = |a: &str, b: &str| compare(a, b).then_with(|| a.cmp(b));
    for words in [words(&['a', 'b', '-', '\''], 3), words(&['a', '-', '\''], 4), words(&['a', '-'], 6)] {
        let mut sorted = words.clone();
        sorted.sort_by(|a, b| order(a, b));
        // Every pair agrees with one sequence: then any three agree with each other.
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(order(a, b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
    }
}
