//! Restore Container and Restore Share. A list tells the version in its body, where a conversation cannot take it from.

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

pub async fn restore_a_share() {
    const HOST: &str = "host: devstoreaccount1.file.localhost:10003";
    let client = Client::new();
    let ask = async |status: u16, text: &str| {
        let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
        let answer = client.send(Request::parse(&format!("{line}\n{HOST}\n{rest}"))).await;
        assert_eq!(answer.status, status, "{text}: {}", answer.text());
        answer
    };
    const DOCS: &str = "/docs?restype=share";
    let policy = "<StorageServiceProperties><ShareDeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days>\
                  </ShareDeleteRetentionPolicy></StorageServiceProperties>";
    ask(202, &format!("PUT /?restype=service&comp=properties\n\n{policy}")).await;
    let made = ask(201, &format!("PUT {DOCS}\nx-ms-meta-a: b")).await.headers["etag"].clone();
    let moment = ask(201, &format!("PUT {DOCS}&comp=snapshot")).await.headers["x-ms-snapshot"].clone();
    let lease = "x-ms-lease-action: acquire\nx-ms-lease-duration: 15";
    let id = ask(201, &format!("PUT {DOCS}&comp=lease\n{lease}")).await.headers["x-ms-lease-id"].clone();
    let delete = format!("DELETE {DOCS}\nx-ms-delete-snapshots: include");
    ask(202, &format!("{delete}\nx-ms-lease-id: {id}")).await;
    let list = ask(200, "GET /?comp=list&include=deleted,snapshots").await.text();
    let version = xml::element(&list, "Version");
    let restore = format!(
        "PUT {DOCS}&comp=undelete\nx-ms-deleted-share-name: docs\nx-ms-deleted-share-version: {version}"
    );
    // The name is free meanwhile.
    ask(201, &format!("PUT {DOCS}")).await;
    let taken = ask(409, &restore).await;
    assert_eq!(taken.headers["x-ms-error-code"], "ShareAlreadyExists");
    ask(202, &format!("DELETE {DOCS}")).await;
    let restored = ask(201, &restore).await;
    assert_ne!(restored.headers["etag"], made, "recorded: it is a change of the share");
    let found = ask(200, &format!("GET {DOCS}")).await;
    assert_eq!(found.headers["etag"], restored.headers["etag"]);
    assert_eq!(found.headers["x-ms-lease-state"], "available");
    assert_eq!(found.headers["x-ms-meta-a"], "b");
    ask(200, &format!("GET {DOCS}&sharesnapshot={moment}")).await;
    let again = ask(409, &restore).await;
    assert_eq!(again.headers["x-ms-error-code"], "ShareAlreadyExists");
}
