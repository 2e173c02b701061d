//! The keys that a table's token reaches, whatever it is signed for.

use lazuli_model::operation::{Method, Op, Service};
use lazuli_rest::auth::TableScope;
use lazuli_rest::auth::accounts::DEVELOPMENT_KEY;
use lazuli_rest::authorize::authorize;

use super::support::{Request, TABLE_SAS, Token, auth, code, now};

/// None for a field that is left out.
type Field = Option<&'static str>;

const FIELDS: [Field; 10] = [
    None,
    Some(""),
    Some("a"),
    Some("ab"),
    Some("b"),
    Some("a\u{1}"),
    Some("a\u{0}b"),
    Some("\u{10000}"),
    Some("\u{FFFF}"),
    Some(" "),
];
const KEYS: [&str; 8] = ["", " ", "a", "a ", "ab", "b", "\u{10000}", "\u{FFFF}"];

fn scope(fields: [Field; 4]) -> Result<TableScope, String> {
    let mut token = Token::service("r").with("tn", "people");
    for (name, field) in ["spk", "srk", "epk", "erk"].into_iter().zip(fields) {
        if let Some(value) = field {
            token = token.with(name, value);
        }
    }
    let token = token.sign_service(TABLE_SAS, "/table/devstoreaccount1/people", DEVELOPMENT_KEY);
    let request = token.on(Request::new(Service::Table, Method::Get, "/devstoreaccount1/People()"));
    let head = request.head();
    let told = |failure| code(Err::<(), _>(failure));
    let credential = auth().authenticate(&head, now()).map_err(told)?;
    let grant = authorize(&credential, Op::QueryEntities.row(), &head, None, now()).map_err(told)?;
    Ok(grant.table.unwrap())
}

/// table.md section 7. A field that is empty is one that is not there: both are signed alike.
fn allowed([spk, srk, epk, erk]: [Field; 4], partition: &str, row: &str) -> bool {
    let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
    let given = |field: Field| field.filter(|text| !text.is_empty()).map(units);
    let (partition, row) = (units(partition), units(row));
    let after = match (given(spk), given(srk)) {
        (None, _) => true,
        (Some(start), None) => partition >= start,
        (Some(start), Some(first)) => partition > start || partition == start && row >= first,
    };
    let before = match (given(epk), given(erk)) {
        (None, _) => true,
        (Some(end), None) => partition <= end,
        (Some(end), Some(last)) => partition < end || partition == end && row <= last,
    };
    after && before
}

/// Every combination of fields, and every key.
#[test]
fn a_token_reaches_the_keys_of_its_range_and_no_other() {
    let is_given = |field: Field| field.is_some_and(|text| !text.is_empty());
    for spk in FIELDS {
        for srk in FIELDS {
            for (epk, erk) in FIELDS.iter().flat_map(|epk| FIELDS.map(|erk| (*epk, erk))) {
                let fields = [spk, srk, epk, erk];
                // Rows without their partition limit nothing that could be told: such a token opens nothing.
                if !is_given(spk) && is_given(srk) || !is_given(epk) && is_given(erk) {
                    assert_eq!(scope(fields).unwrap_err(), "403 AuthenticationFailed", "{fields:?}");
                    continue;
                }
                let scope = scope(fields).unwrap_or_else(|refused| panic!("{fields:?}: {refused}"));
                for (partition, row) in KEYS.iter().flat_map(|partition| KEYS.map(|row| (*partition, row))) {
                    let expected = allowed(fields, partition, row);
                    assert_eq!(scope.covers(partition, row), expected, "{fields:?} {partition:?} {row:?}");
                    assert_eq!(scope.limits().contains(partition, row), expected, "{fields:?}");
                }
            }
        }
    }
}
