//! `sp`: which letters there are, and in which order they must stand.

use lazuli_model::error::Failure;
use lazuli_model::operation::Service;

use super::Scope;
use crate::auth::refusal::denied;

/// Every letter of an account SAS. Their order is free.
const ACCOUNT: &str = "rwdxylacuptfi";

const BLOB: &str = "racwdxyltfmeopi";
const FILE: &str = "rcwd";
const SHARE: &str = "rcwdl";
const QUEUE: &str = "raup";
const TABLE: &str = "raud";

pub fn check_account(sp: &str) -> Result<(), Failure> {
    match sp.chars().find(|letter| !ACCOUNT.contains(*letter)) {
        Some(letter) => Err(denied(format!("sp holds an unknown permission: '{letter}'"))),
        None => Ok(()),
    }
}

/// The letters of a service SAS stand in the documented order, each once.
pub fn check_service(sp: &str, service: Service, scope: Scope) -> Result<(), Failure> {
    let order = match (service, scope) {
        (Service::Blob | Service::Dfs, _) => BLOB,
        (Service::File, Scope::Container | Scope::Directory) => SHARE,
        (Service::File, _) => FILE,
        (Service::Queue, _) => QUEUE,
        (Service::Table, _) => TABLE,
    };
    let mut rest = order.chars();
    if sp.chars().all(|letter| rest.any(|known| known == letter)) {
        Ok(())
    } else {
        Err(denied(format!("sp must hold letters of '{order}' in this order, each at most once: '{sp}'")))
    }
}
