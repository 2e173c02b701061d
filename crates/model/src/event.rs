//! Blob events: that a blob was made or deleted, told to who subscribed to it. On the service this is Event Grid; which
//! subscriptions there are stands in the configuration here.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    BlobCreated,
    BlobDeleted,
}

impl EventType {
    pub const ALL: [Self; 2] = [Self::BlobCreated, Self::BlobDeleted];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BlobCreated => "Microsoft.Storage.BlobCreated",
            Self::BlobDeleted => "Microsoft.Storage.BlobDeleted",
        }
    }

    /// With or without what all of them begin with.
    pub fn parse(text: &str) -> Option<Self> {
        let full = |kind: &Self| kind.as_str() == text || kind.as_str().rsplit('.').next() == Some(text);
        Self::ALL.into_iter().find(full)
    }
}

/// How an event is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventSchema {
    #[default]
    EventGrid,
    /// CloudEvents 1.0.
    CloudEvents,
}

/// Where events go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventTarget {
    /// A queue of the same account.
    Queue(String),
    /// An address that takes events.
    WebHook(String),
}

/// Who is told of which events of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventSubscription {
    pub account: String,
    /// Tells the subscriptions of an account apart, from one start to the next.
    pub name: String,
    pub target: EventTarget,
    pub types: Vec<EventType>,
    /// Empty for any. Compared without regard to case, as Event Grid does.
    pub subject_begins_with: String,
    pub subject_ends_with: String,
    pub schema: EventSchema,
    /// A webhook is asked whether it wants events before it gets the first one.
    pub validates: bool,
}

impl EventSubscription {
    /// Every event of the account, as Event Grid writes it.
    pub fn new(account: &str, target: EventTarget) -> Self {
        let name = match &target {
            EventTarget::Queue(name) => format!("queue:{name}"),
            // What stands behind it may be a key, and names are logged.
            EventTarget::WebHook(address) => address.split('?').next().unwrap_or_default().to_owned(),
        };
        Self {
            account: account.to_owned(),
            name,
            target,
            types: EventType::ALL.to_vec(),
            subject_begins_with: String::new(),
            subject_ends_with: String::new(),
            schema: EventSchema::default(),
            validates: true,
        }
    }

    pub fn wants(&self, kind: EventType, subject: &str) -> bool {
        let subject = subject.to_lowercase();
        self.types.contains(&kind)
            && subject.starts_with(&self.subject_begins_with.to_lowercase())
            && subject.ends_with(&self.subject_ends_with.to_lowercase())
    }
}

/// The subject of what happens to a blob.
pub fn subject(container: &str, blob: &str) -> String {
    format!("/blobServices/default/containers/{container}/blobs/{blob}")
}

/// Containers that the service itself writes raise no events.
pub fn is_quiet(container: &str) -> bool {
    matches!(container, "$logs" | "$blobchangefeed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscription_wants_types_and_subjects_whatever_their_case() {
        let all = EventSubscription::new("acct", EventTarget::Queue("q".into()));
        let photos = EventSubscription {
            types: vec![EventType::BlobCreated],
            subject_begins_with: "/blobServices/default/containers/Photos/".into(),
            subject_ends_with: ".jpg".into(),
            ..all.clone()
        };
        for (kind, container, blob, wanted) in [
            (EventType::BlobCreated, "photos", "a/b.jpg", true),
            (EventType::BlobCreated, "photos", "a/b.JPG", true),
            (EventType::BlobDeleted, "photos", "a/b.jpg", false),
            (EventType::BlobCreated, "photos2", "b.jpg", false),
            (EventType::BlobCreated, "photos", "b.jpg.tmp", false),
        ] {
            assert_eq!(photos.wants(kind, &subject(container, blob)), wanted, "{kind:?} {container}/{blob}");
            assert!(all.wants(kind, &subject(container, blob)));
        }
    }

    #[test]
    fn types_are_named_in_full_or_in_short() {
        for kind in EventType::ALL {
            assert_eq!(EventType::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(EventType::parse("BlobDeleted"), Some(EventType::BlobDeleted));
        assert_eq!(EventType::parse("Deleted"), None);
        assert_eq!(EventType::parse(""), None);
    }
}
