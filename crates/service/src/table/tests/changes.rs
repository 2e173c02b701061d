use futures_util::FutureExt;
use lazuli_engine::{Key, KeyRange, Scan};
use lazuli_model::admission::table::entity_etag;

use super::*;

#[tokio::test]
async fn replace_forgets_and_merge_keeps() {
    let bench = Bench::new().await;
    let first = [("a", EdmValue::Int32(1)), ("b", text("x"))];
    let inserted = bench.one(change(Op::InsertEntity, "p", "r", &first)).await.expect("inserted");
    assert_eq!(bench.one(change(Op::InsertEntity, "p", "r", &[])).await, Err("0 EntityAlreadyExists".into()));

    let merge = [("b", EdmValue::Boolean(true)), ("c", EdmValue::Int64(3))];
    let merged = bench.one(change(Op::MergeEntity, "p", "r", &merge)).await.expect("merged");
    let read = bench.read("p", "r").await.expect("an entity");
    assert!(merged > inserted && read.timestamp == merged);
    assert!(read.has("a", "Int32(1)") && read.has("b", "Boolean(true)") && read.has("c", "Int64(3)"));
    assert_eq!(read.properties.len(), 3);

    let replaced =
        bench.one(change(Op::UpdateEntity, "p", "r", &[("z", text("only"))])).await.expect("replaced");
    let read = bench.read("p", "r").await.expect("an entity");
    assert!(replaced > merged && read.has("z", "String(\"only\")") && read.properties.len() == 1);

    bench.one(change(Op::DeleteEntity, "p", "r", &[])).await.expect("deleted");
    assert_eq!(bench.read("p", "r").await, Err("ResourceNotFound".into()));
    assert_eq!(bench.one(change(Op::DeleteEntity, "p", "r", &[])).await, Err("0 ResourceNotFound".into()));
    assert_eq!(bench.one(change(Op::UpdateEntity, "p", "r", &[])).await, Err("0 ResourceNotFound".into()));
    bench.one(change(Op::InsertOrMergeEntity, "p", "r", &first)).await.expect("upserted");
    bench.one(change(Op::InsertOrReplaceEntity, "p", "r", &merge)).await.expect("upserted");
    let read = bench.read("p", "r").await.expect("an entity");
    assert!(!read.has("a", "Int32(1)") && read.has("c", "Int64(3)"));
}

#[tokio::test]
async fn a_stale_etag_changes_nothing() {
    let bench = Bench::new().await;
    let old = bench.one(change(Op::InsertEntity, "p", "r", &[])).await.expect("inserted");
    let fresh =
        bench.one(change(Op::MergeEntity, "p", "r", &[("n", EdmValue::Int32(1))])).await.expect("merged");
    for op in [Op::UpdateEntity, Op::MergeEntity, Op::DeleteEntity] {
        let stale = EntityMatch::parse(&entity_etag(old)).expect("an etag");
        let change =
            EntityChange { if_match: Some(stale), ..change(op, "p", "r", &[("n", EdmValue::Int32(2))]) };
        assert_eq!(bench.one(change).await, Err("0 UpdateConditionNotSatisfied".into()), "{op:?}");
    }
    let current = EntityMatch::parse(&entity_etag(fresh)).expect("an etag");
    let good = EntityChange { if_match: Some(current), ..change(Op::UpdateEntity, "p", "r", &[]) };
    assert!(bench.one(good).await.is_ok());
}

/// The failing member is named, and none of the others happened.
#[tokio::test]
async fn a_group_is_all_or_nothing() {
    let bench = Bench::new().await;
    bench.one(change(Op::InsertEntity, "p", "3", &[])).await.expect("inserted");
    let group: Vec<_> = (0..5).map(|n| change(Op::InsertEntity, "p", &n.to_string(), &[])).collect();
    assert_eq!(bench.commit(group).await, Err("3 EntityAlreadyExists".into()));
    assert_eq!(bench.rows("", 1000).await.0, ["p/3"]);
    let group = vec![
        change(Op::DeleteEntity, "p", "3", &[]),
        change(Op::InsertEntity, "p", "4", &[("a", EdmValue::Int32(1))]),
        change(Op::InsertOrMergeEntity, "p", "5", &[]),
    ];
    assert_eq!(bench.commit(group).await.expect("a group").len(), 3);
    assert_eq!(bench.rows("", 1000).await.0, ["p/4", "p/5"]);
}

#[tokio::test]
async fn a_missing_table_is_said_so() {
    let bench = Bench::new().await;
    DeleteTable { table: "PEOPLE".to_owned() }
        .execute(&bench.services, &bench.context)
        .await
        .expect("deleted");
    assert_eq!(bench.one(change(Op::DeleteEntity, "p", "r", &[])).await, Err("0 TableNotFound".into()));
    assert_eq!(bench.read("p", "r").await, Err("TableNotFound".into()));
    let again = DeleteTable { table: "people".to_owned() }.execute(&bench.services, &bench.context).await;
    assert_eq!(again.expect_err("gone").0.code.name(), "ResourceNotFound");
    bench.create("people").await;
    assert_eq!(bench.read("p", "r").await, Err("ResourceNotFound".into()));
}

/// 4 MiB in a hundred entities, some of them near their own limit: one commit, and nothing left over.
#[tokio::test]
async fn large_entities_and_large_groups() {
    let bench = Bench::new().await;
    let big: Vec<(&str, EdmValue)> =
        ["a", "b", "c", "d", "e", "f", "g"].iter().map(|name| (*name, large('x', 32_000))).collect();
    bench.one(change(Op::InsertEntity, "p", "big", &big)).await.expect("inserted");
    bench.one(change(Op::MergeEntity, "p", "big", &[("a", large('y', 20_000))])).await.expect("merged");
    let read = bench.read("p", "big").await.expect("an entity");
    assert_eq!(read.properties.len(), 7);
    assert!(read.has("a", &format!("String(\"{}\")", "y".repeat(20_000))));
    assert_eq!(bench.rows(&format!("g eq '{}'", "x".repeat(10)), 10).await.0, [""; 0]);
    assert_eq!(bench.rows("g ge 'xx' and d lt 'y'", 10).await.0, ["p/big"]);

    let group: Vec<_> = (0..100)
        .map(|n| change(Op::InsertOrMergeEntity, "q", &format!("{n:03}"), &[("v", large('z', 20_000))]))
        .collect();
    bench.commit(group.clone()).await.expect("a large group");
    assert_eq!(bench.rows("PartitionKey eq 'q'", 1000).await.0.len(), 100);
    let page = bench.query("PartitionKey eq 'q'", 1000, None).await;
    assert!(page.entities.iter().all(|entity| entity.properties().count() == 1));
    // Refused with its bodies already written ahead.
    let mut refused = group;
    refused[50] = change(Op::InsertEntity, "q", "050", &[]);
    assert_eq!(bench.commit(refused).await, Err("50 EntityAlreadyExists".into()));

    DeleteTable { table: "people".to_owned() }
        .execute(&bench.services, &bench.context)
        .await
        .expect("deleted");
    bench.services.sweep().await;
    let reader = bench.services.engine().reader().await.expect("a reader");
    let everything = KeyRange { start: Key::from_static(b"\x01"), end: None };
    let left = reader.scan(Scan { keys_only: true, ..Scan::of(everything) }).await.expect("a scan");
    let of_servers = |key: &Key| matches!(key.first(), Some(b'z' | b'j'));
    let left: Vec<_> = left.items.iter().filter(|(key, _)| !of_servers(key)).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A client that hangs up at any moment leaves either the whole change or none of it, and no garbage for long.
#[tokio::test]
async fn a_large_change_may_be_dropped_anywhere() {
    let bench = Bench::new().await;
    let names: Vec<String> = (0..16).map(|n| format!("p{n}")).collect();
    let whole: Vec<(&str, EdmValue)> = names.iter().map(|name| (name.as_str(), large('é', 32_000))).collect();
    // How many polls a change takes is the machine's affair (a commit may be over before it is asked for), so the
    // attempts go on until changes were both finished and left in the middle.
    let (mut done, mut midway) = (0, 0);
    for attempt in 0..600 {
        let polls = attempt % 12;
        let row = attempt.to_string();
        let mut work = Box::pin(bench.one(change(Op::InsertEntity, "p", &row, &whole)));
        let mut finished = false;
        for _ in 0..polls {
            if let Some(result) = (&mut work).now_or_never() {
                result.expect("inserted");
                finished = true;
                break;
            }
            // All the time in between that a commit needs.
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        drop(work);
        done += i32::from(finished);
        midway += i32::from(!finished && polls > 0);
        assert!(!finished || bench.read("p", &row).await.is_ok());
        if attempt >= 11 && done > 0 && midway > 1 {
            break;
        }
    }
    assert!(done > 0 && midway > 1, "{done} finished, {midway} left in the middle");
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    bench.services.sweep().await;
    for row in bench.rows("", 1000).await.0 {
        let row = row.strip_prefix("p/").expect("the partition");
        assert_eq!(bench.read("p", row).await.expect("whole").properties.len(), 16);
    }
    let reader = bench.services.engine().reader().await.expect("a reader");
    let intents = reader.scan(Scan::of(crate::store::key::intents())).await.expect("a scan");
    assert!(intents.items.is_empty(), "{:?}", intents.items);
}
