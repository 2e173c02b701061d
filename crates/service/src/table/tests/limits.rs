use super::*;

async fn refusal(properties: &[(&str, EdmValue)]) -> String {
    let bench = Bench::new().await;
    match bench.one(change(Op::InsertEntity, "p", "r", properties)).await {
        Ok(_) => "ok".to_owned(),
        Err(refusal) => refusal.trim_start_matches("0 ").to_owned(),
    }
}

/// table.md section 3.
#[tokio::test]
async fn what_an_entity_may_be() {
    let numbered = |count: usize| (0..count).map(|n| format!("p{n}")).collect::<Vec<_>>();
    let names = numbered(253);
    let many = |count: usize| {
        names[..count].iter().map(|name| (name.as_str(), EdmValue::Int32(1))).collect::<Vec<_>>()
    };
    assert_eq!(refusal(&many(252)).await, "ok");
    assert_eq!(refusal(&many(253)).await, "TooManyProperties");
    let (longest, longer) = ("n".repeat(255), "n".repeat(256));
    assert_eq!(refusal(&[(&longest, EdmValue::Int32(1))]).await, "ok");
    assert_eq!(refusal(&[(&longer, EdmValue::Int32(1))]).await, "PropertyNameTooLong");
    for name in ["a-b", "1a", "", "a b", "a.b", "a@b"] {
        assert_eq!(refusal(&[(name, EdmValue::Int32(1))]).await, "PropertyNameInvalid", "{name}");
    }
    for name in ["_a", "ä", "a1", "日本"] {
        assert_eq!(refusal(&[(name, EdmValue::Int32(1))]).await, "ok", "{name}");
    }
    assert_eq!(refusal(&[("s", large('x', 32 * 1024))]).await, "ok");
    assert_eq!(refusal(&[("s", large('x', 32 * 1024 + 1))]).await, "PropertyValueTooLarge");
    assert_eq!(refusal(&[("b", EdmValue::Binary(vec![0; 65_536]))]).await, "ok");
    assert_eq!(refusal(&[("b", EdmValue::Binary(vec![0; 65_537]))]).await, "PropertyValueTooLarge");
    let heavy = |count: usize| {
        names[..count].iter().map(|name| (name.as_str(), large('x', 32_000))).collect::<Vec<_>>()
    };
    assert_eq!(refusal(&heavy(16)).await, "ok");
    assert_eq!(refusal(&heavy(17)).await, "EntityTooLarge");
}

#[tokio::test]
async fn what_a_key_may_be() {
    let bench = Bench::new().await;
    let longest = "k".repeat(512);
    for key in ["", " ", "%", "'", "\u{1F600}", &longest, &"\u{FFFF}".repeat(512)] {
        assert!(bench.one(change(Op::InsertEntity, key, key, &[])).await.is_ok(), "{key:?}");
        assert!(bench.read(key, key).await.is_ok(), "{key:?}");
    }
    for key in ["a/b", "a\\b", "a#b", "a?b", "a\tb", "a\nb", "a\u{7F}", "a\u{90}"] {
        let refused = bench.one(change(Op::InsertEntity, "p", key, &[])).await;
        assert_eq!(refused, Err("0 OutOfRangeInput".into()), "{key:?}");
        assert_eq!(bench.read("p", key).await, Err("ResourceNotFound".into()), "{key:?}");
    }
    let refused = bench.one(change(Op::InsertEntity, &"k".repeat(513), "r", &[])).await;
    assert_eq!(refused, Err("0 KeyValueTooLong".into()));
}

/// Whatever the operation, and whichever of the two: nothing that long gets to the engine.
#[tokio::test]
async fn a_key_that_is_too_long_is_refused_everywhere() {
    let bench = Bench::new().await;
    for long in ["k".repeat(513), "\u{1F600}".repeat(257), "\u{FFFF}".repeat(513), "k".repeat(70_000)] {
        for (partition, row) in [(long.as_str(), "r"), ("p", long.as_str())] {
            for op in [
                Op::InsertEntity,
                Op::UpdateEntity,
                Op::MergeEntity,
                Op::InsertOrReplaceEntity,
                Op::InsertOrMergeEntity,
                Op::DeleteEntity,
            ] {
                let first = change(Op::InsertEntity, partition, "other", &[]);
                let refused = bench.one(change(op, partition, row, &[])).await;
                assert_eq!(refused, Err("0 KeyValueTooLong".into()), "{op:?}");
                if partition == "p" {
                    let refused = bench.commit(vec![first, change(op, partition, row, &[])]).await;
                    assert_eq!(refused, Err("1 KeyValueTooLong".into()), "{op:?}");
                }
            }
            assert_eq!(bench.read(partition, row).await, Err("KeyValueTooLong".into()));
            let from = Some((partition.to_owned(), row.to_owned()));
            assert!(bench.query("", 10, from).await.entities.is_empty());
        }
    }
    // A filter may compare with anything.
    let filter = format!("PartitionKey eq '{0}' or RowKey gt '{0}'", "k".repeat(10_000));
    assert!(bench.query(&filter, 10, None).await.entities.is_empty());
}

/// What a merge adds up to is measured too.
#[tokio::test]
async fn a_merge_keeps_to_the_limits() {
    let bench = Bench::new().await;
    let names: Vec<String> = (0..253).map(|n| format!("p{n}")).collect();
    let many: Vec<_> = names[..252].iter().map(|name| (name.as_str(), EdmValue::Int32(1))).collect();
    bench.one(change(Op::InsertEntity, "p", "r", &many)).await.expect("inserted");
    bench.one(change(Op::MergeEntity, "p", "r", &[("p0", EdmValue::Int32(2))])).await.expect("merged");
    let refused = bench.one(change(Op::MergeEntity, "p", "r", &[("p252", EdmValue::Int32(2))])).await;
    assert_eq!(refused, Err("0 TooManyProperties".into()));
}

#[tokio::test]
async fn names_of_tables_ignore_case_and_keep_it() {
    let bench = Bench::new().await;
    let again = CreateTable { table: "PeoPle".to_owned() }.execute(&bench.services, &bench.context).await;
    assert_eq!(again.expect_err("there").0.code.name(), "TableAlreadyExists");
    for (table, code) in
        [("aa", "OutOfRangeInput"), ("1table", "InvalidResourceName"), ("my_table", "InvalidResourceName")]
    {
        let refused = CreateTable { table: table.to_owned() }.execute(&bench.services, &bench.context).await;
        assert_eq!(refused.expect_err("refused").0.code.name(), code, "{table}");
    }
    bench.create("Zebra").await;
    assert_eq!(
        find_table(&bench.services, &bench.context, "zEBRA").await.expect("an answer").as_deref(),
        Some("Zebra")
    );
}
