//! Bodies of Blob Batch, in a batch that is signed. Its parts are not, or with what the fuzzer makes up: each is answered by
//! itself, in a frame that can be cut apart again, and none of them changes anything.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use lazuli_engine::{Engine, Host};
use lazuli_model::operation::Service;
use lazuli_rest::Gateway;
use lazuli_rest::auth::{Accounts, Auth, OAuth};
use lazuli_rest::multipart;
use lazuli_service::{ServiceOptions, Services};
use lazuli_testing::{Signable, Signer, decode_query};
use tokio::runtime::{Builder, Runtime};

const PATIENCE: Duration = Duration::from_secs(20);
const BLOB: &str = "/devstoreaccount1/box/blob";

pub fn run(data: &[u8]) {
    let _ = parts_answered(data);
}

/// The statuses of the parts; none where the whole was refused.
pub fn parts_answered(data: &[u8]) -> Option<Vec<u16>> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Builder::new_current_thread().enable_all().build().unwrap());
    runtime.block_on(async {
        let services = Services::new(Engine::memory(Host::test()), ServiceOptions::default());
        let gateway = Gateway::new(services, Auth::new(Accounts::development(), OAuth::Off, [7; 32]));
        let put = [("x-ms-blob-type", "BlockBlob")];
        let make = ("PUT", "/devstoreaccount1/box?restype=container");
        assert_eq!(send(&gateway, make, &[], b"").await.0, 201);
        assert_eq!(send(&gateway, ("PUT", BLOB), &put, b"bytes").await.0, 201);
        let mut statuses = None;
        for batch in ["/devstoreaccount1/?comp=batch", "/devstoreaccount1/box?restype=container&comp=batch"] {
            let framed = [("content-type", "multipart/mixed; boundary=batch_x")];
            let answered =
                tokio::time::timeout(PATIENCE, send(&gateway, ("POST", batch), &framed, data)).await;
            let (status, content_type, body) = answered.unwrap_or_else(|_| panic!("{batch} is not answered"));
            assert!(status == 202 || (400..500).contains(&status), "{batch}: {status}");
            if status == 202 {
                statuses = Some(cut(&content_type, &body));
            }
        }
        let (status, _, bytes) = send(&gateway, ("GET", BLOB), &[], b"").await;
        assert!(
            status == 200 && &bytes[..] == b"bytes",
            "{status}: a part without a signature was carried out"
        );
        let (_, _, list) =
            send(&gateway, ("GET", "/devstoreaccount1/box?restype=container&comp=list"), &[], b"").await;
        let list = String::from_utf8_lossy(&list).into_owned();
        assert!(list.contains("<AccessTierInferred>true</AccessTierInferred>"), "the tier was set: {list}");
        statuses
    })
}

fn cut(content_type: &str, body: &[u8]) -> Vec<u16> {
    let boundary = multipart::boundary(content_type).unwrap_or_else(|| panic!("{content_type}"));
    let parts = multipart::parts(body, boundary).unwrap_or_else(|| panic!("{}", body.escape_ascii()));
    assert!((1..=256).contains(&parts.len()), "{} answers", parts.len());
    let status = |part: &multipart::Part<'_>| {
        let text = String::from_utf8_lossy(part.body);
        let line = text.lines().next().unwrap_or_default();
        let status: Option<u16> = line.split(' ').nth(1).and_then(|word| word.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no status: {text}"));
        assert!((400..500).contains(&status), "{text}");
        status
    };
    parts.iter().map(status).collect()
}

async fn send(
    gateway: &Gateway,
    (method, uri): (&str, &str),
    headers: &[(&str, &str)],
    body: &[u8],
) -> (u16, String, Bytes) {
    let (length, now) = (body.len().to_string(), gateway.services.wall_now().rfc1123());
    let mut headers = headers.to_vec();
    headers.extend([("host", "127.0.0.1:10000"), ("x-ms-version", "2021-06-08"), ("x-ms-date", &now)]);
    if method != "GET" {
        headers.push(("content-length", &length));
    }
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let query = decode_query(query);
    let query: Vec<(&str, &str)> = query.iter().map(|(name, value)| (&**name, &**value)).collect();
    let signable = Signable { method, path, query: &query, headers: &headers };
    let signed = Signer::development().authorization(&signable);
    let mut request = http::Request::builder().method(method).uri(uri).header("authorization", signed);
    for (name, value) in &headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(Bytes::copy_from_slice(body))).unwrap();
    let (parts, body) = gateway.serve(Service::Blob, None, false, request).await.into_parts();
    let content_type = parts.headers.get("content-type").and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    (parts.status.as_u16(), content_type, body.collect().await.unwrap().to_bytes())
}
