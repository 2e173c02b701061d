//! Against endpoints on loopback that answer as real ones do, and as bad ones do.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::HeaderMap;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::*;

/// What an endpoint was asked.
#[derive(Clone, Debug)]
struct Asked {
    method: String,
    path: String,
    headers: HeaderMap,
    body: Value,
}

impl Asked {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

struct Endpoint {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

type Answering = fn(&Asked, usize) -> Response<Full<Bytes>>;

impl Endpoint {
    /// `answer` is told how many requests came before.
    async fn start(answer: Answering) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound");
        let (asked, count) = (Arc::<Mutex<Vec<Asked>>>::default(), Arc::new(AtomicUsize::new(0)));
        let all = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (all, count) = (Arc::clone(&all), Arc::clone(&count));
                let service = service_fn(move |request: Request<Incoming>| {
                    let (all, count) = (Arc::clone(&all), Arc::clone(&count));
                    async move {
                        let (parts, body) = request.into_parts();
                        let bytes = body.collect().await?.to_bytes();
                        let asked = Asked {
                            method: parts.method.to_string(),
                            path: parts.uri.to_string(),
                            headers: parts.headers,
                            body: serde_json::from_slice(&bytes).unwrap_or_default(),
                        };
                        all.lock().push(asked.clone());
                        Ok::<_, hyper::Error>(answer(&asked, count.fetch_add(1, Ordering::Relaxed)))
                    }
                });
                let serving = hyper::server::conn::http1::Builder::new();
                tokio::spawn(serving.serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { address, asked }
    }

    fn subscription(&self, schema: EventSchema) -> EventSubscription {
        let target = EventTarget::WebHook(format!("http://{}/api/events?code=key", self.address));
        EventSubscription { schema, ..EventSubscription::new("acct", target) }
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().clone()
    }
}

fn says(status: u16, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = http::StatusCode::from_u16(status).expect("a status");
    answer
}

/// As Event Grid's own examples of receivers do it.
fn good(asked: &Asked, _: usize) -> Response<Full<Bytes>> {
    if asked.header("aeg-event-type") == "SubscriptionValidation" {
        let code = &asked.body[0]["data"]["validationCode"];
        return says(200, json!({ "validationResponse": code }).to_string());
    }
    let mut answer = says(200, "");
    if asked.method == "OPTIONS" {
        let origin = asked.headers.get("webhook-request-origin").expect("an origin").clone();
        answer.headers_mut().insert("webhook-allowed-origin", origin);
    }
    answer
}

async fn carry(hooks: &WebHooks, subscription: &EventSubscription, tries: u32) -> Result<(), String> {
    hooks.carry(Letter { subscription, event: r#"{"id":"1"}"#.to_owned(), tries }).await
}

#[tokio::test]
async fn an_endpoint_of_event_grid_is_validated_once_and_gets_arrays() {
    let endpoint = Endpoint::start(good).await;
    let (hooks, subscription) = (WebHooks::default(), endpoint.subscription(EventSchema::EventGrid));
    for tries in [0, 1] {
        carry(&hooks, &subscription, tries).await.expect("taken");
    }
    let [validation, first, second] = &endpoint.asked()[..] else { panic!("{:?}", endpoint.asked()) };
    assert_eq!(validation.body[0]["eventType"], "Microsoft.EventGrid.SubscriptionValidationEvent");
    for (asked, tries) in [(first, "0"), (second, "1")] {
        assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/api/events?code=key"));
        assert_eq!(asked.header("aeg-event-type"), "Notification");
        assert_eq!(asked.header("aeg-delivery-count"), tries);
        assert_eq!(asked.header("content-type"), "application/json; charset=utf-8");
        assert_eq!(asked.body, json!([{ "id": "1" }]));
        assert!(!asked.header("aeg-subscription-name").contains("KEY"));
    }
}

#[tokio::test]
async fn an_endpoint_of_cloud_events_is_asked_for_its_origins_and_gets_objects() {
    let endpoint = Endpoint::start(good).await;
    let (hooks, subscription) = (WebHooks::default(), endpoint.subscription(EventSchema::CloudEvents));
    for tries in [0, 1] {
        carry(&hooks, &subscription, tries).await.expect("taken");
    }
    let [options, first, _] = &endpoint.asked()[..] else { panic!("{:?}", endpoint.asked()) };
    assert_eq!(
        (options.method.as_str(), options.header("webhook-request-origin")),
        ("OPTIONS", "eventgrid.azure.net")
    );
    assert_eq!(first.header("content-type"), "application/cloudevents+json; charset=utf-8");
    assert_eq!(first.body, json!({ "id": "1" }));
}

#[tokio::test]
async fn without_the_switch_an_endpoint_that_does_not_validate_gets_no_event() {
    let endpoint = Endpoint::start(|_, _| says(200, "fine")).await;
    for schema in [EventSchema::EventGrid, EventSchema::CloudEvents] {
        let (hooks, subscription) = (WebHooks::default(), endpoint.subscription(schema));
        for _ in 0..3 {
            carry(&hooks, &subscription, 0).await.expect_err("not wanted");
        }
        let asked = endpoint.asked();
        assert_eq!(asked.len(), 1, "asked once in a while: {asked:?}");
        assert_ne!(asked[0].header("aeg-event-type"), "Notification");
        let open = EventSubscription { validates: false, ..subscription };
        carry(&hooks, &open, 0).await.expect("taken");
        endpoint.asked.lock().clear();
    }
}

#[tokio::test]
async fn what_is_not_a_success_is_a_failure_and_redirections_are_not_followed() {
    const STATUSES: [u16; 8] = [301, 302, 307, 400, 404, 429, 500, 503];
    let endpoint = Endpoint::start(|_, before| {
        let mut answer = says(STATUSES[before % STATUSES.len()], "");
        answer.headers_mut().insert("location", "/elsewhere".parse().expect("a value"));
        answer
    })
    .await;
    let subscription =
        EventSubscription { validates: false, ..endpoint.subscription(EventSchema::EventGrid) };
    for status in STATUSES {
        let why = carry(&WebHooks::default(), &subscription, 0).await.expect_err("not taken");
        assert!(why.contains(&status.to_string()), "{why}");
    }
    let asked = endpoint.asked();
    assert_eq!(asked.len(), STATUSES.len());
    assert!(asked.iter().all(|asked| asked.path.starts_with("/api/events")));
}

#[tokio::test]
async fn an_endpoint_that_fails_first_is_tried_again() {
    let endpoint = Endpoint::start(|_, before| says(if before < 2 { 503 } else { 204 }, "")).await;
    let subscription =
        EventSubscription { validates: false, ..endpoint.subscription(EventSchema::EventGrid) };
    let hooks = WebHooks::default();
    let mut outcomes = Vec::new();
    for tries in 0..3 {
        outcomes.push(carry(&hooks, &subscription, tries).await.is_ok());
    }
    assert_eq!(outcomes, [false, false, true]);
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_says_nothing_is_left() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    let target = EventTarget::WebHook(format!("http://{address}/"));
    let subscription = EventSubscription { validates: false, ..EventSubscription::new("acct", target) };
    let why = carry(&WebHooks::default(), &subscription, 0).await.expect_err("nothing is said");
    assert!(why.contains("in time"), "{why}");
}
