//! Containers, queues and tables to be there at start: whose they are, and whether their names can be.

use lazuli_model::error::Failure;
use lazuli_model::name::{validate_container, validate_queue, validate_table};
use lazuli_model::operation::Service;
use lazuli_rest::auth::Account;

use super::{ConfigError, List, Listener};
use crate::args::Settings;
use crate::assemble::service_name;

/// A container, queue or table to be there when the first client comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateAtStart {
    pub service: Service,
    pub account: String,
    pub name: String,
}

/// One of the settings, and what its names must be.
struct Kind<'a> {
    service: Service,
    setting: &'static str,
    written: &'a Option<List>,
    validate: fn(&str) -> Result<(), Failure>,
    rule: &'static str,
}

const DASHED: &str =
    "3 to 63 characters, lower-case letters, digits and single hyphens, the first and the last no hyphen";
const ALPHANUMERIC: &str = "3 to 63 characters, letters and digits, the first a letter, and not `tables`";

pub fn create_at_start(
    settings: &Settings,
    accounts: &[Account],
    listeners: &[Listener],
) -> Result<Vec<CreateAtStart>, ConfigError> {
    let kind = |service, setting, written, validate, rule| Kind { service, setting, written, validate, rule };
    let kinds = [
        kind(Service::Blob, "createContainers", &settings.create_containers, validate_container, DASHED),
        kind(Service::Queue, "createQueues", &settings.create_queues, validate_queue, DASHED),
        kind(Service::Table, "createTables", &settings.create_tables, validate_table, ALPHANUMERIC),
    ];
    let first = accounts.first().map_or("", |account| account.name.as_str());
    let mut wanted = Vec::new();
    for Kind { service, setting, written, validate, rule } in kinds {
        for item in written.iter().flat_map(|List(items)| items) {
            let refused = |reason: String| ConfigError::setting(setting, format!("`{item}`: {reason}"));
            if !listeners.iter().any(|listener| listener.service == service) {
                return Err(refused(format!("--services leaves {} out", service_name(service))));
            }
            let (account, name) = item.split_once('/').unwrap_or((first, item));
            if !accounts.iter().any(|known| known.name == account) {
                return Err(refused(format!("no account {account}")));
            }
            if validate(name).is_err() {
                return Err(refused(format!("a name has {rule}")));
            }
            wanted.push(CreateAtStart { service, account: account.to_owned(), name: name.to_owned() });
        }
    }
    Ok(wanted)
}
