//! Restore Container. A list tells the version in its body, where a conversation cannot take it from.

use lazuli_testing::xml;

use super::client::{Client, Request};

pub async fn restore_a_container() {
    let client = Client::with_features(|features| features.container_soft_delete = Some(7));
    let ask = async |status: u16, text: &str| {
        let answer = client.send(Request::parse(text)).await;
        assert_eq!(answer.status, status, "{text}: {}", answer.text());
        answer
    };
    const BOX: &str = "/devstoreaccount1/box?restype=container";
    let made = ask(201, &format!("PUT {BOX}")).await.headers["etag"].clone();
    ask(201, "PUT /devstoreaccount1/box/b\nx-ms-blob-type: BlockBlob\n\nbytes").await;
    ask(202, &format!("DELETE {BOX}")).await;
    let list = ask(200, "GET /devstoreaccount1?comp=list&include=deleted").await.text();
    let version = xml::element(&list, "Version");
    let restore = format!(
        "PUT {BOX}&comp=undelete\nx-ms-deleted-container-name: box\nx-ms-deleted-container-version: {version}"
    );
    ask(201, &format!("PUT {BOX}")).await;
    let taken = ask(409, &restore).await;
    assert_eq!(taken.headers["x-ms-error-code"], "ContainerAlreadyExists");
    ask(202, &format!("DELETE {BOX}")).await;
    ask(201, &restore).await;
    let found = ask(200, &format!("GET {BOX}")).await;
    assert_ne!(found.headers["etag"], made, "recorded: it is a change of the container");
    assert_eq!(ask(200, "GET /devstoreaccount1/box/b").await.text(), "bytes");
    ask(409, &restore).await;
}
