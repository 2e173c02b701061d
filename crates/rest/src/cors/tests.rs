use super::*;

fn rule(origins: &[&str], methods: &[&str], headers: &[&str]) -> CorsRule {
    let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
    CorsRule {
        allowed_origins: list(origins),
        allowed_methods: list(methods),
        allowed_headers: list(headers),
        ..CorsRule::default()
    }
}

#[test]
fn origins_are_exact_or_wild() {
    let allows = |allowed: &str, origin: &str| allows_origin(&rule(&[allowed], &[], &[]), origin);
    assert!(allows("*", "http://a.example"));
    assert!(allows("http://a.example", "http://a.example"));
    assert!(!allows("http://a.example", "http://A.example"));
    assert!(!allows("http://a.example", "http://a.example:8080"));
    assert!(allows("https://*.contoso.com", "https://shop.contoso.com"));
    assert!(!allows("https://*.contoso.com", "https://contoso.com"));
    assert!(!allows("https://*.contoso.com", "https://.contoso.com"));
    assert!(!allows("https://*.contoso.com", "https://contoso.com.evil.example"));
}

#[test]
fn headers_are_literal_or_prefixes() {
    let rule = rule(&[], &[], &["x-ms-meta-data*", "x-ms-blob-type"]);
    assert!(allows_header(&rule, "X-Ms-Meta-Data1"));
    assert!(allows_header(&rule, "x-ms-blob-TYPE"));
    assert!(!allows_header(&rule, "x-ms-blob-type2"));
    assert!(!allows_header(&rule, "x-ms-meta"));
    assert!(!allows_header(&rule, "é"));
}
