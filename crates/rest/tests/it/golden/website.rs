//! The static website of an account, asked for as browsers do.

use std::collections::BTreeMap;

use lazuli_model::operation::Service;
use lazuli_rest::WebAddress;

use super::client::Client;
use super::converse;

const SETTING: &str = "PUT /devstoreaccount1?restype=service&comp=properties\n\n\
    <StorageServiceProperties><StaticWebsite><Enabled>true</Enabled><IndexDocument>index.html</IndexDocument>\
    <ErrorDocument404Path>errors/404.html</ErrorDocument404Path></StaticWebsite></StorageServiceProperties>\n\
    --- 202\nx-ms-version: 2021-06-08\n";

fn put(name: &str, kind: &str, text: &str) -> String {
    format!(
        "===\nPUT /devstoreaccount1/$web/{name}\nx-ms-blob-type: BlockBlob\nx-ms-blob-content-type: {kind}\n\
         x-ms-meta-secret: yes\nx-ms-blob-cache-control: max-age=60\n\n{text}\n--- 201\ncontent-md5: *\netag: *\n\
         last-modified: *\nx-ms-content-crc64: *\nx-ms-request-server-encrypted: true\nx-ms-version: 2021-06-08\n"
    )
}

struct Answer {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

async fn ask(client: &Client, by: WebAddress, method: &str, uri: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = http::Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(http_body_util::Full::new(bytes::Bytes::new())).expect("a request");
    let gateway = &client.gateway;
    let response = match by {
        WebAddress::ByHost => gateway.serve(Service::Blob, None, false, request).await,
        by => gateway.serve_web(by, None, false, request).await.response,
    };
    let text = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        (name.to_string(), value.to_str().expect("text").to_owned())
    };
    let (status, headers) = (response.status().as_u16(), response.headers().iter().map(text).collect());
    let body = http_body_util::BodyExt::collect(response.into_body()).await.expect("whole").to_bytes();
    Answer { status, headers, body: String::from_utf8(body.to_vec()).expect("text") }
}

async fn site() -> Client {
    let client = Client::new();
    let text = [
        SETTING.to_owned(),
        put("index.html", "text/html", "home"),
        put("docs/index.html", "text/html", "docs"),
        put("style.css", "text/css", "0123456789"),
        put("errors/404.html", "text/html", "lost"),
    ];
    let differences = converse("website", &text.concat(), &client, BTreeMap::new()).await;
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    client
}

#[tokio::test]
async fn pages_indexes_and_the_error_document_are_served() {
    let client = site().await;
    let by_host = async |method: &str, path: &str, headers: &[(&str, &str)]| {
        let headers = [&[("host", "devstoreaccount1.web.localhost:10000")], headers].concat();
        ask(&client, WebAddress::ByHost, method, path, &headers).await
    };
    for (path, status, body) in [
        ("/", 200, "home"),
        ("/index.html", 200, "home"),
        ("/docs/", 200, "docs"),
        ("/docs", 200, "docs"),
        ("/style.css?v=1", 200, "0123456789"),
        ("/none", 404, "lost"),
        ("/style.css/", 404, "lost"),
        ("/../box/blob", 404, "lost"),
    ] {
        let answer = by_host("GET", path, &[]).await;
        assert_eq!((answer.status, answer.body.as_str()), (status, body), "{path}");
        let by_path = format!("/devstoreaccount1{path}");
        let host = [("host", "127.0.0.1:10005")];
        let again = ask(&client, WebAddress::ByHostOrPath, "GET", &by_path, &host).await;
        assert_eq!((again.status, again.body.as_str()), (status, body), "{by_path}");
    }
    let mut page = by_host("GET", "/style.css", &[]).await;
    for (name, value) in [
        ("content-type", "text/css"),
        ("content-length", "10"),
        ("cache-control", "max-age=60"),
        ("accept-ranges", "bytes"),
        ("server", "Windows-Azure-Web/1.0 Microsoft-HTTPAPI/2.0"),
        ("x-ms-version", "2018-03-28"),
    ] {
        assert_eq!(page.headers.remove(name).as_deref(), Some(value), "{name}");
    }
    let etag = page.headers.remove("etag").expect("an ETag");
    let others: Vec<&str> = page.headers.keys().map(String::as_str).collect();
    assert_eq!(others, ["content-md5", "date", "last-modified", "x-ms-request-id"], "nothing else is told");

    let same = by_host("GET", "/style.css", &[("if-none-match", &etag)]).await;
    assert_eq!((same.status, same.body.as_str()), (304, ""));
    assert_eq!(by_host("GET", "/style.css", &[("if-match", "\"0x1\"")]).await.status, 412);
    let part = by_host("GET", "/style.css", &[("range", "bytes=2-4")]).await;
    assert_eq!(
        (part.status, part.body.as_str(), part.headers["content-range"].as_str()),
        (206, "234", "bytes 2-4/10")
    );
    let beyond = by_host("GET", "/style.css", &[("range", "bytes=50-")]).await;
    assert_eq!((beyond.status, beyond.headers["content-range"].as_str()), (416, "bytes */10"));
    let head = by_host("HEAD", "/style.css", &[]).await;
    assert_eq!((head.status, head.body.as_str(), head.headers["content-length"].as_str()), (200, "", "10"));
    let lost = by_host("GET", "/none", &[("range", "bytes=0-1"), ("if-match", "\"0x1\"")]).await;
    assert_eq!(
        (lost.status, lost.body.as_str()),
        (404, "lost"),
        "what was asked is not about the error document"
    );
    assert_eq!(lost.headers["x-ms-error-code"], "WebContentNotFound");
}

#[tokio::test]
async fn nothing_but_reading_and_nothing_of_others() {
    let client = site().await;
    let host = [("host", "devstoreaccount1.web.localhost")];
    for method in ["PUT", "POST", "DELETE", "PATCH", "OPTIONS"] {
        let answer = ask(&client, WebAddress::ByHost, method, "/index.html", &host).await;
        assert_eq!((answer.status, answer.headers["allow"].as_str()), (405, "GET, HEAD"), "{method}");
        assert!(answer.body.starts_with("<!DOCTYPE html><html>"), "{}", answer.body);
    }
    let listed = ask(&client, WebAddress::ByHost, "GET", "/?restype=container&comp=list", &host).await;
    assert_eq!(listed.body, "home", "there are no lists");
    let other = [("host", "other.web.localhost")];
    let answer = ask(&client, WebAddress::ByHost, "GET", "/", &other).await;
    assert_eq!((answer.status, answer.headers["content-type"].as_str()), (404, "text/html"));
    assert!(answer.body.contains("<li>ErrorCode: WebContentNotFound</li>"), "{}", answer.body);
    assert_eq!(ask(&Client::new(), WebAddress::ByHost, "GET", "/", &host).await.status, 404, "not enabled");
    for path in ["/", "/%", "/a%00b", "//devstoreaccount1/index.html"] {
        let odd = ask(&client, WebAddress::ByHostOrPath, "GET", path, &[("host", "127.0.0.1")]).await;
        assert!((400..500).contains(&odd.status), "{path}: {}", odd.status);
    }
}
