use super::*;

const ROWS: [&str; 6] = ["", "a", "b", "o'c", "\u{10000}", "\u{FFFF}"];

async fn filled() -> Bench {
    let bench = Bench::new().await;
    for partition in ROWS {
        for (n, row) in ROWS.iter().enumerate() {
            let properties = [("n", EdmValue::Int32(n as i32)), ("even", EdmValue::Boolean(n % 2 == 0))];
            bench.one(change(Op::InsertEntity, partition, row, &properties)).await.expect("inserted");
        }
    }
    bench
}

fn ordered() -> Vec<(String, String, i32)> {
    let mut all: Vec<_> = ROWS
        .iter()
        .flat_map(|p| ROWS.iter().enumerate().map(move |(n, r)| ((*p).to_owned(), (*r).to_owned(), n as i32)))
        .collect();
    all.sort_by_key(|(p, r, _)| (p.encode_utf16().collect::<Vec<_>>(), r.encode_utf16().collect::<Vec<_>>()));
    all
}

/// Every filter gives what asking each entity gives, in order, whatever the size of the page.
#[tokio::test]
async fn ranges_and_pages_lose_nothing() {
    let bench = filled().await;
    type Wanted = fn(&str, &str, i32) -> bool;
    let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
    let _ = units;
    fn less(a: &str, b: &str) -> bool {
        a.encode_utf16().lt(b.encode_utf16())
    }
    let cases: [(&str, Wanted); 17] = [
        ("", |_, _, _| true),
        ("PartitionKey eq 'a'", |p, _, _| p == "a"),
        ("PartitionKey eq ''", |p, _, _| p.is_empty()),
        ("PartitionKey eq 'o''c' and RowKey eq ''", |p, r, _| p == "o'c" && r.is_empty()),
        ("PartitionKey gt 'a'", |p, _, _| less("a", p)),
        ("PartitionKey ge 'a' and PartitionKey lt '\u{FFFF}'", |p, _, _| {
            !less(p, "a") && less(p, "\u{FFFF}")
        }),
        ("PartitionKey le '\u{10000}' and RowKey gt 'b'", |p, r, _| !less("\u{10000}", p) && less("b", r)),
        ("PartitionKey eq 'b' and RowKey ge 'a' and RowKey le 'o''c'", |p, r, _| {
            p == "b" && !less(r, "a") && !less("o'c", r)
        }),
        ("PartitionKey eq 'b' and RowKey lt 'b'", |p, r, _| p == "b" && less(r, "b")),
        ("PartitionKey eq 'b' or PartitionKey eq 'a' and RowKey eq 'a'", |p, r, _| {
            p == "b" || p == "a" && r == "a"
        }),
        ("RowKey eq 'a'", |_, r, _| r == "a"),
        ("even", |_, _, n| n % 2 == 0),
        ("not (PartitionKey eq 'a') and n gt 2", |p, _, n| p != "a" && n > 2),
        ("PartitionKey lt 'a\u{0}b'", |p, _, _| less(p, "a\u{0}b")),
        ("PartitionKey gt 'a\u{0}b'", |p, _, _| less("a\u{0}b", p)),
        ("PartitionKey eq 'a' and PartitionKey eq 'b'", |_, _, _| false),
        ("a or b or c or d or e or f or g or h or n gt 2 and even", |_, _, n| n > 2 && n % 2 == 0),
    ];
    for (filter, wanted) in cases {
        let expected: Vec<String> = ordered()
            .iter()
            .filter(|(p, r, n)| wanted(p, r, *n))
            .map(|(p, r, _)| format!("{p}/{r}"))
            .collect();
        for top in [1, 2, 5, 1000] {
            assert_eq!(bench.rows(filter, top).await.0, expected, "{filter} top {top}");
        }
    }
}

/// More entities than are looked at in one go, of which few are wanted, some of them with a body that lies apart.
#[tokio::test]
async fn filters_look_at_everything_wherever_it_lies() {
    let bench = Bench::new().await;
    let mut expected = Vec::new();
    for group in 0..25 {
        let mut changes = Vec::new();
        for at in group * 100..(group + 1) * 100 {
            let wanted = at % 700 == 699;
            let row = format!("{at:04}");
            let mut properties = vec![
                ("text", text("some")),
                ("wanted", EdmValue::Boolean(wanted)),
                ("n", EdmValue::Int32(at)),
            ];
            if at % 350 == 349 {
                properties.extend([("a", large('a', 30_000)), ("b", large('b', 30_000))]);
            }
            changes.push(change(Op::InsertEntity, "p", &row, &properties));
            if wanted {
                expected.push(format!("p/{row}"));
            }
        }
        bench.commit(changes).await.expect("inserted");
    }
    assert_eq!(expected.len(), 3);
    for top in [1, 2, 3, 1000] {
        assert_eq!(bench.rows("wanted", top).await.0, expected, "top {top}");
        assert_eq!(bench.rows("PartitionKey eq 'p' and wanted and n ge 0", top).await.0, expected);
        assert_eq!(bench.rows("not wanted and n gt 2497", top).await.0, ["p/2498", "p/2499"]);
    }
    let timestamps = "Timestamp gt datetime'2000-01-01T00:00:00Z' and RowKey gt '2400' and wanted";
    assert_eq!(bench.rows(timestamps, 10).await.0, [""; 0]);
    assert_eq!(bench.rows("", 1000).await.0.len(), 2500);
}

/// A page that ends where the range ends has no continuation.
#[tokio::test]
async fn the_last_page_knows_that_it_is() {
    let bench = filled().await;
    assert_eq!(bench.rows("PartitionKey eq 'a'", 6).await.1, 1);
    assert_eq!(bench.rows("PartitionKey eq 'a'", 3).await.1, 2);
    let page = bench.query("PartitionKey eq 'a'", 3, None).await;
    assert_eq!(page.next, Some(("a".to_owned(), "o'c".to_owned())));
}

#[tokio::test]
async fn a_sas_range_limits_silently() {
    let bench = filled().await;
    let limits = KeyLimits {
        start_partition: Some("a".to_owned()),
        start_row: Some("b".to_owned()),
        end_partition: Some("b".to_owned()),
        end_row: Some("a".to_owned()),
    };
    let input = QueryEntities {
        table: "people".to_owned(),
        filter: None,
        top: 1000,
        from: None,
        limits: limits.clone(),
        max_bytes: 4 << 20,
    };
    let page = input.execute(&bench.services, &bench.context).await.expect("a page");
    let rows: Vec<_> = page
        .entities
        .iter()
        .map(|entity| {
            let (partition, row) = entity.keys().expect("keys");
            (partition.into_owned(), row.into_owned())
        })
        .collect();
    let expected: Vec<_> =
        ordered().into_iter().filter(|(p, r, _)| limits.contains(p, r)).map(|(p, r, _)| (p, r)).collect();
    assert_eq!(rows, expected);
    assert_eq!(rows.len(), 6);
    let open = KeyLimits { end_partition: Some("a".to_owned()), ..KeyLimits::default() };
    assert!(open.contains("", "x") && open.contains("a", "\u{FFFF}") && !open.contains("b", ""));
}

#[tokio::test]
async fn tables_are_listed_by_page() {
    let bench = Bench::new().await;
    for table in ["Alpha", "beta", "Gamma", "delta"] {
        bench.create(table).await;
    }
    let ask = async |filter: Option<&str>, top: usize, from: Option<String>| {
        let filter = filter.map(|filter| Filter::parse(filter).expect(filter));
        QueryTables { filter, top, from }.execute(&bench.services, &bench.context).await.expect("a page")
    };
    let page = ask(None, 3, None).await;
    assert_eq!(
        (page.tables, page.next.as_deref()),
        (vec!["Alpha".into(), "beta".into(), "delta".into()], Some("Gamma"))
    );
    let page = ask(None, 3, Some("Gamma".to_owned())).await;
    assert_eq!((page.tables, page.next), (vec!["Gamma".to_owned(), "people".to_owned()], None));
    let page = ask(Some("TableName ge 'b' and TableName lt 'c'"), 1000, None).await;
    assert_eq!(page.tables, ["beta"]);
}

/// What health checks ask for, and what looks only whether the table is there.
#[tokio::test]
async fn everything_nothing_and_a_page_of_none() {
    let bench = filled().await;
    assert_eq!(bench.rows("true", 1000).await.0.len(), 36);
    assert_eq!(bench.rows("false", 1000).await, (Vec::new(), 1));
    let page = bench.query("", 0, None).await;
    assert_eq!((page.entities.len(), page.next), (0, None));
    let ask = async |filter: &str, top: usize| {
        let filter = (!filter.is_empty()).then(|| Filter::parse(filter).expect(filter));
        let input = QueryTables { filter, top, from: None };
        let page = input.execute(&bench.services, &bench.context).await.expect("a page");
        (page.tables.len(), page.next)
    };
    assert_eq!(ask("true", 10).await, (1, None));
    assert_eq!(ask("false", 10).await, (0, None));
    assert_eq!(ask("", 0).await, (0, None));
    let missing = QueryEntities {
        table: "missing".to_owned(),
        filter: None,
        top: 0,
        from: None,
        limits: KeyLimits::default(),
        max_bytes: 4 << 20,
    };
    let refused = missing.execute(&bench.services, &bench.context).await.expect_err("no table");
    assert_eq!(refused.0.code.name(), "TableNotFound");
}
