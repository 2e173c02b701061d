use lazuli_model::access::AccessPolicy;
use lazuli_model::error::ErrorCode;
use lazuli_service::queue;
use lazuli_service::queue::{ListQueues, QueueCreated, SetQueueAcl, SetQueueMetadata, queue_access};

use super::bench::{Bench, QUEUE, code, metadata};

/// Names are compared without case, values exactly, order not at all.
#[tokio::test]
async fn create_again_is_harmless_with_the_same_metadata_only() {
    let bench = Bench::new().await;
    assert_eq!(bench.create(&[]).await.expect("same"), QueueCreated::Already);
    assert_eq!(code(bench.create(&[("a", "1")]).await), ErrorCode::QueueAlreadyExists);
    let input = SetQueueMetadata { queue: QUEUE.into(), metadata: metadata(&[("a", "1"), ("b", "2")]) };
    input.execute(&bench.services, &bench.context).await.expect("set");
    assert_eq!(bench.create(&[("B", "2"), ("A", "1")]).await.expect("same"), QueueCreated::Already);
    assert_eq!(code(bench.create(&[("a", "1"), ("b", "X")]).await), ErrorCode::QueueAlreadyExists);
    assert_eq!(code(bench.create(&[]).await), ErrorCode::QueueAlreadyExists);
}

#[tokio::test]
async fn a_deleted_queue_is_gone_and_its_successor_empty() {
    let bench = Bench::new().await;
    let old = bench.put("old").await;
    bench.put(&"long ".repeat(1000)).await;
    bench.delete_queue().await.expect("deleted");
    assert_eq!(code(bench.delete_queue().await), ErrorCode::QueueNotFound);
    assert_eq!(code(bench.found().await), ErrorCode::QueueNotFound);
    assert_eq!(code(bench.put_with("x", 0, None).await), ErrorCode::QueueNotFound);
    assert_eq!(code(bench.get_for(1, 30).await), ErrorCode::QueueNotFound);
    assert_eq!(code(bench.delete(old.id, old.receipt).await), ErrorCode::QueueNotFound);
    assert_eq!(bench.create(&[]).await.expect("again"), QueueCreated::New);
    assert_eq!(bench.count().await, 0);
    assert!(bench.get(32).await.is_empty());
    assert_eq!(code(bench.delete(old.id, old.receipt).await), ErrorCode::MessageNotFound);
    bench.services.sweep().await;
    assert!(bench.rest().await.is_empty());
}

#[tokio::test]
async fn clear_leaves_nothing_and_the_queue_goes_on() {
    let bench = Bench::new().await;
    for number in 0..300 {
        bench.put(&number.to_string()).await;
    }
    let held = bench.get(1).await.remove(0);
    bench.clear().await;
    assert_eq!(bench.count().await, 0);
    assert!(bench.peek(32).await.is_empty());
    assert_eq!(code(bench.delete(held.id, held.receipt).await), ErrorCode::MessageNotFound);
    bench.put("new").await;
    assert_eq!(bench.texts(32).await, ["new"]);
    bench.services.sweep().await;
    // The new message, by its id and by its time.
    assert_eq!(bench.rest().await.len(), 2);
}

#[tokio::test]
async fn lists_pages_in_order_of_names() {
    let bench = Bench::new().await;
    for name in ["b2", "b1", "a1", "c1"] {
        let input = queue::CreateQueue { queue: name.into(), metadata: metadata(&[("n", name)]) };
        input.execute(&bench.services, &bench.context).await.expect("created");
    }
    let list = |prefix: &str, marker, max_results| {
        let input = ListQueues { prefix: prefix.into(), marker, max_results, max_bytes: 1 << 20 };
        let bench = bench.clone();
        async move {
            let list = input.execute(&bench.services, &bench.context).await.expect("list");
            (list.items.into_iter().map(|(name, _)| name).collect::<Vec<_>>(), list.next)
        }
    };
    assert_eq!(list("", None, 100).await, (vec!["a1", "b1", "b2", "c1", "q"].map_into(), None));
    assert_eq!(list("b", None, 100).await.0, ["b1", "b2"]);
    let (first, next) = list("", None, 2).await;
    assert_eq!(first, ["a1", "b1"]);
    let (second, next) = list("", next, 2).await;
    assert_eq!(second, ["b2", "c1"]);
    assert_eq!(list("", next, 2).await, (vec!["q".to_owned()], None));
}

trait MapInto {
    fn map_into(self) -> Vec<String>;
}

impl MapInto for Vec<&str> {
    fn map_into(self) -> Vec<String> {
        self.into_iter().map(str::to_owned).collect()
    }
}

#[tokio::test]
async fn stored_policies_are_found_by_the_queue() {
    let bench = Bench::new().await;
    let policies = vec![AccessPolicy { id: "p".into(), permission: Some("r".into()), ..Default::default() }];
    let input = SetQueueAcl { queue: QUEUE.into(), policies: policies.clone() };
    input.execute(&bench.services, &bench.context).await.expect("set");
    let found = queue_access(&bench.services, "acct", QUEUE).await.expect("access");
    assert_eq!(found.map(|access| access.policies), Some(policies));
    assert_eq!(queue_access(&bench.services, "acct", "none").await.expect("access"), None);
}
