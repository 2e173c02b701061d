use super::{HEAD_MAX, PARTS_MAX, boundary, own_boundary, parts, parts_counted, request};

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

/// However the delimiter stands in it, a body is looked at a fixed number of times.
#[test]
fn a_body_is_cut_in_linear_time() {
    let long = "b".repeat(190);
    for boundary in ["b", "--", "-", long.as_str()] {
        let delimiter = format!("--{boundary}");
        for filling in [
            "--b",
            &delimiter,
            &format!("\n{delimiter}"),
            &format!("\n{delimiter}x"),
            &format!("\n{delimiter}x\n"),
            &format!("\n{delimiter}\t\t\t\t\t\tx"),
            &format!("\n{delimiter}\n"),
            &format!("\n\n{delimiter}\n\n"),
            "\n",
            "\n-",
            " ",
        ] {
            for closed in [false, true] {
                let mut body = format!("{delimiter}\n\nx{}", filling.repeat(512 * 1024 / filling.len()));
                if closed {
                    body.push_str(&format!("\n{delimiter}--"));
                }
                let mut looked = 0;
                let _ = parts_counted(body.as_bytes(), boundary, &mut looked);
                assert!(looked <= 3 * body.len(), "{boundary:?} {filling:?}: {looked} of {}", body.len());
            }
        }
    }
}

#[test]
fn parts_their_heads_and_lines_like_delimiters_are_so_many_at_most() {
    let many = |count: usize| format!("{}--b--", "--b\n\nx\n".repeat(count));
    assert_eq!(parts(many(PARTS_MAX).as_bytes(), "b").expect("parts").len(), PARTS_MAX);
    assert!(parts(many(PARTS_MAX + 1).as_bytes(), "b").is_none());
    let alike = |count: usize| format!("--b\n\n{}--b--", "--bx\n".repeat(count));
    assert_eq!(parts(alike(1_000).as_bytes(), "b").expect("parts").len(), 1);
    assert!(parts(alike(1_001).as_bytes(), "b").is_none());

    let head = |length: usize| format!("--b\na: {}\n\nx\n--b--", "v".repeat(length));
    assert!(parts(head(HEAD_MAX - 10).as_bytes(), "b").is_some());
    assert!(parts(head(HEAD_MAX).as_bytes(), "b").is_none());
    let url = |length: usize| format!("GET /{} HTTP/1.1\nAccept: */*\n\n", "t".repeat(length));
    assert!(request(url(HEAD_MAX - 40).as_bytes()).is_some());
    assert!(request(url(HEAD_MAX).as_bytes()).is_none());
    assert!(request(format!("{}{}", url(HEAD_MAX - 40), "x".repeat(HEAD_MAX)).as_bytes()).is_some());
}
