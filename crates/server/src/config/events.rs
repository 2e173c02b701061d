//! `[account/]TARGET[ OPTION=VALUE]..`: who is told of blobs that are made and deleted.

use std::sync::Arc;

use lazuli_model::account::AccountFeatures;
use lazuli_model::event::{EventSchema, EventSubscription, EventTarget, EventType};
use lazuli_model::name;
use lazuli_rest::auth::Account;
use lazuli_rest::webhook::HookAddress;
use percent_encoding::percent_decode_str;

use super::{ConfigError, List};

const FORM: &str = "a subscription is [account/]queue:NAME or [account/]https://HOST/PATH, and behind it, separated by \
                    spaces, types=BlobCreated+BlobDeleted, subjectBeginsWith=TEXT, subjectEndsWith=TEXT, \
                    schema=EventGrid|CloudEvents, validation=off, name=NAME";
/// Each has a deliverer of its own, and a row for each event.
const MOST: usize = 16;

/// An item without an account is about all of them.
pub fn events(
    written: Option<&List>,
    accounts: &[Account],
    features: &mut AccountFeatures,
) -> Result<(), ConfigError> {
    for item in written.iter().flat_map(|List(items)| items) {
        // What stands behind a question mark may be a key.
        let shown = item.split('?').next().unwrap_or_default();
        let refused = |reason: String| ConfigError::setting("events", format!("`{shown}`: {reason}"));
        let (account, rest) = match item.split_once('/') {
            Some((account, rest)) if account.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                (Some(account), rest)
            }
            _ => (None, item.as_str()),
        };
        if let Some(account) = account
            && !accounts.iter().any(|known| known.name == account)
        {
            return Err(refused(format!("no account {account}")));
        }
        for known in accounts.iter().filter(|known| account.is_none_or(|account| known.name == account)) {
            let subscription = subscription(&known.name, rest).map_err(refused)?;
            let all = &mut features.entry(&known.name).events;
            if all.iter().any(|other| other.name == subscription.name) {
                return Err(refused(
                    "there are two of this name: give one of them another (name=NAME)".into(),
                ));
            }
            if all.len() == MOST {
                return Err(refused(format!("an account has up to {MOST} subscriptions")));
            }
            all.push(Arc::new(subscription));
        }
    }
    Ok(())
}

fn subscription(account: &str, written: &str) -> Result<EventSubscription, String> {
    let mut words = written.split_whitespace();
    let target = words.next().unwrap_or_default();
    let target = match target.strip_prefix("queue:") {
        Some(queue) if name::validate_queue(queue).is_ok() => EventTarget::Queue(queue.to_owned()),
        Some(queue) => return Err(format!("{queue:?} is no name of a queue")),
        None if target.contains("://") => {
            HookAddress::parse(target).map_err(|error| error.to_string())?;
            EventTarget::WebHook(target.to_owned())
        }
        None => return Err(FORM.to_owned()),
    };
    let mut made = EventSubscription::new(account, target);
    for word in words {
        let (option, value) = word.split_once('=').ok_or(FORM)?;
        let value = percent_decode_str(value).decode_utf8().map_err(|_| format!("{word}: not UTF-8"))?;
        match (option, &*value) {
            ("types", types) => {
                let types: Option<Vec<EventType>> = types.split('+').map(EventType::parse).collect();
                made.types = types.ok_or("the types are BlobCreated and BlobDeleted, joined by +")?;
            }
            ("subjectBeginsWith", text) => made.subject_begins_with = text.to_owned(),
            ("subjectEndsWith", text) => made.subject_ends_with = text.to_owned(),
            ("schema", "EventGrid") => made.schema = EventSchema::EventGrid,
            ("schema", "CloudEvents") => made.schema = EventSchema::CloudEvents,
            ("validation", "off") => made.validates = false,
            ("name", name) if is_name(name) => made.name = name.to_owned(),
            _ => return Err(format!("{option}: {FORM}")),
        }
    }
    Ok(made)
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use lazuli_rest::auth::Accounts;

    fn read(items: &[&str]) -> Result<AccountFeatures, ConfigError> {
        let accounts = Accounts::parse("one:Zm9v;two:Zm9v").expect("accounts");
        let mut features = AccountFeatures::default();
        let list = List(items.iter().map(|item| (*item).to_owned()).collect());
        events(Some(&list), &accounts, &mut features)?;
        Ok(features)
    }

    #[test]
    fn subscriptions_are_of_one_account_or_of_all() {
        let features = read(&[
            "queue:news",
            "two/https://hooks.example/a?code=x types=BlobDeleted schema=CloudEvents validation=off",
            "two/queue:news name=photos subjectBeginsWith=/blobServices/default/containers/p/ subjectEndsWith=a%20b.jpg",
            "one/http://localhost:7071/runtime/webhooks/EventGrid?functionName=f",
        ])
        .expect("subscriptions");
        assert_eq!(features.of("one").events.len(), 2);
        let [news, hook, photos] = &features.of("two").events[..] else { panic!("three") };
        assert_eq!(**news, EventSubscription::new("two", EventTarget::Queue("news".into())));
        assert_eq!((hook.name.as_str(), hook.validates), ("https://hooks.example/a", false));
        assert_eq!((&hook.types[..], hook.schema), (&[EventType::BlobDeleted][..], EventSchema::CloudEvents));
        assert_eq!(hook.target, EventTarget::WebHook("https://hooks.example/a?code=x".into()));
        assert_eq!(photos.name, "photos");
        assert_eq!(photos.subject_begins_with, "/blobServices/default/containers/p/");
        assert_eq!(photos.subject_ends_with, "a b.jpg");
    }

    #[test]
    fn what_is_no_subscription_is_refused_and_keys_are_not_shown() {
        for items in [
            &["news"][..],
            &["queue:No"],
            &["three/queue:news"],
            &["http://hooks.example/a"],
            &["queue:news types=Created"],
            &["queue:news type=BlobCreated"],
            &["queue:news schema=cloudevents"],
            &["queue:news loud"],
            &["queue:news", "queue:news types=BlobCreated"],
            &["ftp://hooks.example/a"],
        ] {
            read(items).map(|_| ()).expect_err(items[0]);
        }
        let error = read(&["http://hooks.example/a?code=secret"]).expect_err("http").to_string();
        assert!(error.contains("http://hooks.example/a") && !error.contains("secret"), "{error}");
    }
}
