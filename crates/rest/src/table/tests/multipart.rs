use crate::table::multipart::{boundary, own_boundary, parts, request};

#[test]
fn boundaries() {
    assert_eq!(boundary("multipart/mixed; boundary=batch_1"), Some("batch_1"));
    assert_eq!(boundary("Multipart/Mixed;charset=utf-8;Boundary=\"b 1\""), Some("b 1"));
    for text in ["", "multipart/mixed", "application/json; boundary=x", "multipart/mixed; boundary="] {
        assert_eq!(boundary(text), None, "{text}");
    }
    assert_eq!(own_boundary(b"--batch_1\r\nrest"), Some("batch_1"));
    assert_eq!(own_boundary(b"batch"), None);
}

#[test]
fn parts_with_either_line_end() {
    for end in ["\r\n", "\n"] {
        let text = [
            "preamble",
            "--b",
            "Content-Type: text/plain",
            "",
            "one --b inside",
            "",
            "--b",
            "",
            "two",
            "--b--",
            "epilogue",
        ];
        let body = text.join(end);
        let found = parts(body.as_bytes(), "b").expect("parts");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].header("content-type"), Some("text/plain"));
        assert_eq!(found[0].body, format!("one --b inside{end}").as_bytes());
        assert_eq!(found[1].body, b"two");
        assert_eq!(found[1].headers, []);
    }
    // A boundary that only begins like ours is not ours; one that never closes is none.
    assert_eq!(parts(b"--b\n\n--bc\nx\n--b--", "b").expect("parts").len(), 1);
    assert!(parts(b"--b\n\nx\n", "b").is_none());
    assert!(parts(b"", "b").is_none());
    assert_eq!(parts(b"--b--", "b").expect("no part").len(), 0);
}

#[test]
fn requests_in_parts() {
    let text =
        b"PUT http://host/a/T(PartitionKey='a b',RowKey='r') HTTP/1.1\r\nIf-Match: *\r\n\r\n{\"n\":1}\r\n";
    let found = request(text).expect("a request");
    assert_eq!((found.method, found.url), ("PUT", "http://host/a/T(PartitionKey='a b',RowKey='r')"));
    assert_eq!((found.headers, found.body), (vec![("If-Match", "*")], &b"{\"n\":1}\r\n"[..]));
    assert!(request(b"").is_none());
    assert!(request(b"GET\r\n").is_none());
    assert!(request(b"GET /x HTTP/1.1\r\nno colon\r\n\r\n").is_none());
}

/// Cut anywhere, a batch is parts or nothing, never a panic.
#[test]
fn cut_batches() {
    let text = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nPOST /T HTTP/1.1\r\nA: b\r\n\r\n{}\r\n--c--\r\n--b--\r\n";
    for start in 0..text.len() {
        for end in start..text.len() {
            let cut = &text.as_bytes()[start..end];
            let _ = (parts(cut, "b"), parts(cut, "c"), request(cut), own_boundary(cut));
        }
    }
}
