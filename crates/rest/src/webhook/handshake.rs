//! An endpoint says that it wants events before it gets the first one: so nobody can be made to receive what they did
//! not ask for.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::Method;
use http_body_util::Full;
use lazuli_model::event::EventSubscription;
use lazuli_model::time::Timestamp;
use serde_json::{Value, json};

use super::{HookAddress, WebHooks};

/// Who sends, as endpoints of Event Grid know it.
const ORIGIN: &str = "eventgrid.azure.net";

/// The endpoint gives back the code that it is sent.
pub async fn event_grid(
    hooks: &WebHooks,
    subscription: &EventSubscription,
    address: &HookAddress,
) -> Result<(), String> {
    let code = lazuli_service::fresh_uuid().to_string();
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Timestamp::from_unix_ticks(u64::try_from(since.as_nanos() / 100).unwrap_or(u64::MAX));
    let event = json!([{
        "id": lazuli_service::fresh_uuid().to_string(),
        "topic": lazuli_service::event::source(&subscription.account),
        "subject": "",
        "data": { "validationCode": code },
        "eventType": "Microsoft.EventGrid.SubscriptionValidationEvent",
        "eventTime": now.iso7(),
        "metadataVersion": "1",
        "dataVersion": "2",
    }]);
    let request = address
        .request(Method::POST)
        .header("aeg-event-type", "SubscriptionValidation")
        .header("aeg-subscription-name", subscription.name.to_uppercase())
        .header(http::header::CONTENT_TYPE, "application/json; charset=utf-8")
        .body(Full::from(event.to_string()));
    let answer = hooks.ask(address, request.map_err(|error| error.to_string())?).await?;
    let said: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
    match answer.status().as_u16() {
        200 if said["validationResponse"] == code => Ok(()),
        200 => Err("the endpoint does not give back the validation code".to_owned()),
        status => Err(format!("the endpoint answers its validation with {status}")),
    }
}

/// The endpoint names the origins that it takes events from.
pub async fn cloud_events(hooks: &WebHooks, address: &HookAddress) -> Result<(), String> {
    let request = address
        .request(Method::OPTIONS)
        .header("webhook-request-origin", ORIGIN)
        .body(Full::<Bytes>::default());
    let answer = hooks.ask(address, request.map_err(|error| error.to_string())?).await?;
    let allowed = answer.headers().get("webhook-allowed-origin").and_then(|value| value.to_str().ok());
    match (answer.status().as_u16(), allowed.map(str::trim)) {
        (200..=204, Some(origin)) if origin == "*" || origin.eq_ignore_ascii_case(ORIGIN) => Ok(()),
        (200..=204, _) => Err(format!("the endpoint does not allow the origin {ORIGIN}")),
        (status, _) => Err(format!("the endpoint answers its validation with {status}")),
    }
}
