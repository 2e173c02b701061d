//! Events to webhooks. Only addresses of the configuration are spoken to; a name is resolved once, the connection goes to
//! the address that was judged, and a redirection is not followed.

mod address;
mod handshake;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use lazuli_model::event::{EventSchema, EventSubscription, EventTarget};
use lazuli_service::event::{Carrier, Letter};
use tokio::net::TcpStream;
use tokio::sync::{Mutex, OnceCell};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

pub use address::{BadHook, HookAddress};

use crate::copy;

/// How long an endpoint may take to be reached, and then to answer.
const REACHED: Duration = Duration::from_secs(5);
const ANSWERED: Duration = Duration::from_secs(15);
/// Of an answer that is read.
const ANSWER_BYTES: usize = 16 * 1024;
/// An endpoint that did not want events is asked again after so long.
const ASKED_AGAIN: Duration = Duration::from_secs(5);

#[derive(Default)]
pub struct WebHooks {
    tls: OnceCell<TlsConnector>,
    /// By address and schema.
    validated: Mutex<HashMap<(String, bool), Validated>>,
}

#[derive(Clone)]
enum Validated {
    Wants,
    /// Why not, and when it was asked.
    Not(String, Instant),
}

impl Carrier for WebHooks {
    fn carry<'a>(&'a self, letter: Letter<'a>) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(self.deliver(letter))
    }
}

impl WebHooks {
    async fn deliver(&self, letter: Letter<'_>) -> Result<(), String> {
        let Letter { subscription, event, tries } = letter;
        let EventTarget::WebHook(text) = &subscription.target else {
            return Err("not a webhook".to_owned());
        };
        let address = HookAddress::parse(text).map_err(|error| error.to_string())?;
        if subscription.validates {
            self.validate(subscription, &address).await?;
        }
        let request = address
            .request(Method::POST)
            .header("aeg-event-type", "Notification")
            .header("aeg-subscription-name", subscription.name.to_uppercase())
            .header("aeg-delivery-count", tries)
            .header("aeg-metadata-version", "1")
            .header("aeg-data-version", "");
        let (kind, body) = match subscription.schema {
            EventSchema::EventGrid => ("application/json; charset=utf-8", format!("[{event}]")),
            EventSchema::CloudEvents => ("application/cloudevents+json; charset=utf-8", event),
        };
        let request = request.header(http::header::CONTENT_TYPE, kind).body(Full::from(body));
        let answer = self.ask(&address, request.map_err(|error| error.to_string())?).await?;
        match answer.status().as_u16() {
            200..=204 => Ok(()),
            status => Err(format!("the endpoint answers {status}")),
        }
    }

    /// Events go to an endpoint only when it has said that it wants them. One at a time asks.
    async fn validate(&self, subscription: &EventSubscription, address: &HookAddress) -> Result<(), String> {
        let key = (address.text().to_owned(), subscription.schema == EventSchema::CloudEvents);
        let mut known = self.validated.lock().await;
        match known.get(&key) {
            Some(Validated::Wants) => return Ok(()),
            Some(Validated::Not(why, at)) if at.elapsed() < ASKED_AGAIN => return Err(why.clone()),
            _ => {}
        }
        let asked = match subscription.schema {
            EventSchema::EventGrid => handshake::event_grid(self, subscription, address).await,
            EventSchema::CloudEvents => handshake::cloud_events(self, address).await,
        };
        let outcome = match &asked {
            Ok(()) => Validated::Wants,
            Err(why) => Validated::Not(why.clone(), Instant::now()),
        };
        known.insert(key, outcome);
        asked
    }

    /// The answer, with what it says if that is short.
    async fn ask(
        &self,
        address: &HookAddress,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Bytes>, String> {
        let reached = async {
            let at = address.resolve().await?;
            TcpStream::connect(at).await.map_err(|error| error.to_string())
        };
        let stream = timeout(REACHED, reached).await.map_err(|_| "not reached in time".to_owned())??;
        let asking = async {
            let answer = match address.is_secure() {
                false => copy::ask(stream, request).await,
                true => {
                    let name = ServerName::try_from(address.host().to_owned());
                    let name = name.map_err(|_| "no name for TLS".to_owned())?;
                    let trusted =
                        || async { copy::connector().map_err(|_| "no certificates to trust".to_owned()) };
                    let stream = self.tls.get_or_try_init(trusted).await?.connect(name, stream).await;
                    copy::ask(stream.map_err(|error| error.to_string())?, request).await
                }
            };
            let (parts, body) = answer.map_err(|error| error.to_string())?.into_parts();
            let body = Limited::new(body, ANSWER_BYTES).collect().await;
            let bytes = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
            Ok(Response::from_parts(parts, bytes))
        };
        timeout(ANSWERED, asking).await.map_err(|_| "no answer in time".to_owned())?
    }
}

#[cfg(test)]
mod tests;
