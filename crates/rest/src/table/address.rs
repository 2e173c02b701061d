//! Names and keys in the path, read and written.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::name::validate_table;
use lazuli_service::table::find_table;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::call::Call;
use crate::target::Target;

/// What stays as it is in a key that stands in a URL.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'!')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    pub partition: String,
    pub row: String,
}

/// The table of a path. What a further segment could mean (`/t/Tables`) is looked for in the same table.
pub fn table(target: &Target) -> Result<String, Failure> {
    let name = target.container.split('/').next().unwrap_or_default();
    validate_table(name)?;
    Ok(name.to_owned())
}

pub fn has_further_segment(target: &Target) -> bool {
    target.container.contains('/')
}

/// A refusal that is only right if the table is there: its absence outranks it (recorded).
pub async fn unless_missing(call: &Call, table: &str, refusal: Failure) -> Failure {
    match find_table(&call.services, &call.context, table).await {
        Ok(Some(_)) => refusal,
        Ok(None) => ErrorCode::TableNotFound.into(),
        Err(fault) => fault.into(),
    }
}

/// `PartitionKey='p',RowKey='r'`, in either order.
pub fn keys(text: &str) -> Option<Keys> {
    let (first, value, rest) = named(text)?;
    let (second, other, rest) = named(rest.strip_prefix(',')?)?;
    if !rest.is_empty() {
        return None;
    }
    match (first, second) {
        ("PartitionKey", "RowKey") => Some(Keys { partition: value, row: other }),
        ("RowKey", "PartitionKey") => Some(Keys { partition: other, row: value }),
        _ => None,
    }
}

pub fn wrong_keys(account: &str, table: &str) -> Failure {
    Failure::new(ErrorCode::InvalidInput).with_message(format!(
        "The number of keys specified in the URI does not match number of key properties for the resource \
         '{account}.{table}'."
    ))
}

/// `name = 'value'` and what follows.
fn named(text: &str) -> Option<(&str, String, &str)> {
    let (name, rest) = text.split_once('=')?;
    let (value, rest) = quoted(rest.trim_start())?;
    Some((name.trim(), value, rest.trim_start()))
}

/// A text in single quotes, doubled inside, and what follows.
pub fn quoted(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('\'')?;
    let mut value = String::new();
    loop {
        let (before, behind) = rest.split_once('\'')?;
        value.push_str(before);
        match behind.strip_prefix('\'') {
            Some(more) => {
                value.push('\'');
                rest = more;
            }
            None => return Some((value, behind)),
        }
    }
}

fn in_url(key: &str) -> String {
    utf8_percent_encode(&key.replace('\'', "''"), KEPT).to_string()
}

/// `t(PartitionKey='p',RowKey='r')`, as it stands behind the root of the service.
pub fn entity(table: &str, partition: &str, row: &str) -> String {
    format!("{table}(PartitionKey='{}',RowKey='{}')", in_url(partition), in_url(row))
}
