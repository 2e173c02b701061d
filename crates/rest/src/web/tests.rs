use super::*;

#[test]
fn hosts_of_websites_name_their_account() {
    for (host, account) in [
        ("acct.web.localhost:10000", Some("acct")),
        ("acct.z6.web.core.windows.net", Some("acct")),
        ("acct.WEB.example", Some("acct")),
        ("acct.web", None),
        ("web.localhost", None),
        ("acct.blob.web.example", None),
        ("acct.zone.web.example", None),
        ("127.0.0.1:10000", None),
        ("[::1]:10000", None),
        (".web.localhost", None),
    ] {
        assert_eq!(of_host(host), account, "{host}");
    }
}

#[test]
fn a_directory_is_its_index() {
    let website = |index: Option<&str>, default: Option<&str>| StaticWebsite {
        enabled: true,
        index_document: index.map(str::to_owned),
        default_index_document_path: default.map(str::to_owned),
        ..StaticWebsite::default()
    };
    let indexed = website(Some("index.html"), None);
    assert_eq!(candidates("", &indexed), ["index.html"]);
    assert_eq!(candidates("a/b/", &indexed), ["a/b/index.html"]);
    assert_eq!(candidates("a/b", &indexed), ["a/b", "a/b/index.html"]);
    assert_eq!(candidates("a/", &website(None, Some("/start page.html"))), ["/start%20page.html"]);
    assert_eq!(candidates("a", &website(None, Some("x"))), ["a"]);
    assert!(candidates("", &website(None, None)).is_empty());
}
