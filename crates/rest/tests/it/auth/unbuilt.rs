//! An operation that is not built answers every credential, and none, the same: which operation it is, that this is Lazuli, and where the list is.

use lazuli_model::operation::{Method, Row, Service, rows};

use super::matrix::request;
use super::support::{ACCOUNT, Request, auth};
use super::world::{Answer, World};

async fn asked(world: &World, request: &Request) -> (Answer, String) {
    let answer = world.ask(request, "").await;
    let body = String::from_utf8(answer.body.to_vec()).unwrap();
    (answer, body)
}

#[tokio::test]
async fn every_operation_that_is_not_built_is_named() {
    let world = World::new(auth()).await;
    let all = [Service::Blob, Service::Queue, Service::Table, Service::File].into_iter().flat_map(rows);
    let unbuilt: Vec<&Row> = all.filter(|row| !lazuli_rest::is_built(row.op)).collect();
    assert!(!unbuilt.is_empty(), "then this file can go");
    for row in unbuilt {
        for method in row.route.methods.iter().filter(|method| **method != Method::Head) {
            let (answer, body) = asked(&world, &request(row, *method, ACCOUNT)).await;
            assert_eq!(answer.status, 501, "{:?}", row.op);
            let sentence = format!("{} is not built in Lazuli yet.", row.route.title);
            assert!(body.contains(&sentence) && body.contains("docs/operations.md"), "{:?}: {body}", row.op);
        }
    }
}

#[tokio::test]
async fn services_that_are_not_built_are_named() {
    let world = World::new(auth()).await;
    for (service, name) in [(Service::Dfs, "The Data Lake (dfs) endpoint")] {
        let (answer, body) =
            asked(&world, &Request::new(service, Method::Get, "/devstoreaccount1/share")).await;
        assert_eq!(answer.status, 501);
        assert!(body.contains(&format!("{name} is not built in Lazuli yet.")), "{body}");
        assert!(body.contains("docs/operations.md"), "{body}");
    }
}
