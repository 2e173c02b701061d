//! `[account/]feature[=value]`: what single accounts can do beyond a plain one.

use lazuli_model::account::{AccountFeatures, Features};
use lazuli_rest::auth::Account;

use super::{ConfigError, List};

const KNOWN: &str = "versioning, immutability (with versioning), lastAccessTime, containerSoftDelete=DAYS (1 to 365), encryptionScope=NAME";

/// An item without an account is about all of them.
pub fn features(written: Option<&List>, accounts: &[Account]) -> Result<AccountFeatures, ConfigError> {
    let mut features = AccountFeatures::default();
    for item in written.iter().flat_map(|List(items)| items) {
        let refused = |reason: String| ConfigError::setting("features", format!("`{item}`: {reason}"));
        let (account, feature) = match item.split_once('/') {
            Some((account, feature)) => (Some(account), feature),
            None => (None, item.as_str()),
        };
        if let Some(account) = account
            && !accounts.iter().any(|known| known.name == account)
        {
            return Err(refused(format!("no account {account}")));
        }
        for known in accounts.iter().filter(|known| account.is_none_or(|account| known.name == account)) {
            if !switch_on(features.entry(&known.name), feature) {
                return Err(refused(format!("the features are {KNOWN}")));
            }
        }
    }
    Ok(features)
}

/// False for what is no feature, or no value of it.
fn switch_on(features: &mut Features, feature: &str) -> bool {
    let (name, value) = match feature.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (feature, None),
    };
    match (name, value) {
        ("versioning", None) => features.versioning = true,
        // What is held and replaced stays as a version, so the service requires versions too.
        ("immutability", None) => (features.immutability, features.versioning) = (true, true),
        ("lastAccessTime", None) => features.last_access_time = true,
        ("containerSoftDelete", Some(days)) => match days.parse() {
            Ok(days @ 1..=365) => features.container_soft_delete = Some(days),
            _ => return false,
        },
        ("encryptionScope", Some(scope)) if is_scope(scope) => {
            features.encryption_scopes.push(scope.to_owned());
        }
        _ => return false,
    }
    true
}

fn is_scope(name: &str) -> bool {
    (3..=63).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use lazuli_rest::auth::Accounts;

    fn read(text: &str) -> Result<AccountFeatures, ConfigError> {
        let accounts = Accounts::parse("one:Zm9v;two:Zm9v").expect("accounts");
        features(Some(&text.parse().expect("a list")), &accounts)
    }

    #[test]
    fn features_are_of_one_account_or_of_all() {
        let features =
            read("versioning,two/encryptionScope=red,two/encryptionScope=blue,two/containerSoftDelete=7")
                .expect("features");
        assert_eq!(features.of("one"), &Features { versioning: true, ..Features::default() });
        let two = features.of("two");
        assert!(two.versioning && !two.immutability && !two.last_access_time);
        assert_eq!(two.encryption_scopes, ["red", "blue"]);
        assert_eq!(two.container_soft_delete, Some(7));
        assert_eq!(features.of("three"), &Features::default());
    }

    #[test]
    fn an_account_with_immutability_has_versions() {
        let features = read("two/immutability").expect("features");
        assert_eq!(features.of("one"), &Features::default());
        assert!(features.of("two").immutability && features.of("two").versioning);
    }

    #[test]
    fn what_is_no_feature_is_refused_with_the_list_of_those_that_are() {
        for text in [
            "versionning",
            "versioning=yes",
            "three/versioning",
            "containerSoftDelete",
            "containerSoftDelete=0",
            "containerSoftDelete=366",
            "encryptionScope=a_b",
            "encryptionScope=ab",
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.contains(text), "{error}");
        }
    }
}
