//! Vectors made by first-party clients, as the contract prints them (auth.md section 11).

use super::*;

const NEW_YEAR: (&str, &str) = ("x-ms-date", "Mon, 01 Jan 2024 00:00:00 GMT");
const VERSION: (&str, &str) = ("x-ms-version", "2026-06-06");

fn check(scheme: Scheme, form: Form, request: Signable<'_>, string: &str, signature: &str) {
    assert_eq!(string_to_sign(scheme, form, ACCOUNT, &request), string);
    assert_eq!(Key::new(KEY).sign(string), signature);
}

#[test]
fn blobs_in_host_style_with_a_name_asked_twice() {
    let query = decode_query("restype=container&comp=list&include=snapshots&include=metadata");
    let query: Vec<(&str, &str)> = query.iter().map(|(name, value)| (&**name, &**value)).collect();
    let request = Signable { method: "GET", path: "/cont", query: &query, headers: &[VERSION, NEW_YEAR] };
    check(
        Scheme::SharedKey,
        Form::BlobQueueFile,
        request,
        "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Mon, 01 Jan 2024 00:00:00 GMT\nx-ms-version:2026-06-06\n/devstoreaccount1/cont\ncomp:list\ninclude:metadata,snapshots\nrestype:container",
        "EtkRIe4qJCV8dYiwUoF9a/8WtC0quQUs34HJG7nW4vI=",
    );
}

#[test]
fn tables_in_both_styles() {
    let path = "/devstoreaccount1/MyTable()";
    let request = Signable { method: "GET", path, query: &[], headers: &[NEW_YEAR, VERSION] };
    check(
        Scheme::SharedKey,
        Form::Table,
        request,
        "GET\n\n\nMon, 01 Jan 2024 00:00:00 GMT\n/devstoreaccount1/devstoreaccount1/MyTable()",
        "jmIKMpvf59lBgXjMO1IhW83Qh/xsbJln5OkfaQdpCn8=",
    );
    check(
        Scheme::SharedKeyLite,
        Form::Table,
        Signable { path: "/Tables", ..request },
        "Mon, 01 Jan 2024 00:00:00 GMT\n/devstoreaccount1/Tables",
        "YLb1lYsg3mYfEcUoaRzUaTOKPjj+nW2UWYupQxg9WQ8=",
    );
}

/// Names in any case, values with space around them; `Date` where there is no `x-ms-date`; every standard header in its line.
#[test]
fn every_header_has_its_line() {
    let headers = [
        ("Range", "12"),
        ("If-Unmodified-Since", "11"),
        ("If-None-Match", "10"),
        ("If-Match", "9"),
        ("If-Modified-Since", "8"),
        ("Date", " 7 "),
        ("Content-Type", "6"),
        ("Content-MD5", "5"),
        ("Content-Length", "4"),
        ("Content-Language", "3"),
        ("Content-Encoding", "2"),
        ("X-Ms-Meta-B", "b"),
        ("x-ms-meta-a", " a "),
    ];
    let request =
        Signable { method: "PUT", path: "/c", query: &[("CoMp", "1"), ("comp", "x")], headers: &headers };
    let string = |scheme, form| string_to_sign(scheme, form, "me", &request);
    let own = "x-ms-meta-a:a\nx-ms-meta-b:b\n/me/c";
    assert_eq!(
        string(Scheme::SharedKey, Form::BlobQueueFile),
        format!("PUT\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n{own}\ncomp:1,x")
    );
    assert_eq!(string(Scheme::SharedKeyLite, Form::BlobQueueFile), format!("PUT\n5\n6\n7\n{own}?comp=x"));
    assert_eq!(string(Scheme::SharedKey, Form::Table), "PUT\n5\n6\n7\n/me/c?comp=x");
    assert_eq!(string(Scheme::SharedKeyLite, Form::Table), "7\n/me/c?comp=x");
}

#[test]
fn the_length_of_nothing_is_signed_as_the_version_says() {
    for (version, length) in [("2014-02-14", "0"), ("2015-02-21", ""), ("2026-06-06", "")] {
        let headers = [("content-length", "0"), ("x-ms-version", version)];
        let request = Signable { method: "PUT", path: "/c", query: &[], headers: &headers };
        let string = string_to_sign(Scheme::SharedKey, Form::BlobQueueFile, ACCOUNT, &request);
        assert_eq!(string.lines().nth(3), Some(length), "{version}");
    }
}
