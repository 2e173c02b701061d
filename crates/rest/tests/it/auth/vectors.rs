//! The test vectors of the contract, as printed there: strings and signatures made by first-party clients.

use lazuli_model::operation::{Method, Service};
use lazuli_model::time::Timestamp;
use lazuli_rest::auth::Credential;
use lazuli_rest::auth::accounts::DEVELOPMENT_KEY;

use super::support::{ACCOUNT, Request, auth, detail, mac};

const NEW_YEAR: &str = "Mon, 01 Jan 2024 00:00:00 GMT";

fn midnight() -> Timestamp {
    Timestamp::parse_iso("2024-01-01T00:00:00Z").unwrap()
}

/// The request is accepted with the printed signature, and refused with any other, telling the printed string.
fn check_shared_key(request: Request, scheme: &str, string: &str, signature: &str) {
    assert_eq!(mac(DEVELOPMENT_KEY, string), signature, "the vector itself");
    let with = |signature: &str| {
        let signed = request.clone().header("authorization", &format!("{scheme} {ACCOUNT}:{signature}"));
        auth().authenticate(&signed.head(), midnight())
    };
    assert_eq!(with(signature).unwrap(), Credential::SharedKey);
    let other = mac(DEVELOPMENT_KEY, "another string");
    let failure = with(&other).unwrap_err();
    assert_eq!(
        detail(&failure),
        format!(
            "The MAC signature found in the HTTP request '{other}' is not the same as any computed signature. \
             Server used following string to sign: '{string}'."
        )
    );
    assert!(!format!("{failure:?}").contains(signature), "the computed signature is never told");
}

fn check_sas(request: Request, string: &str, signature: &str) -> Credential {
    assert_eq!(mac(DEVELOPMENT_KEY, string), signature, "the vector itself");
    check_sas_string(&request, string);
    let signed = request.query("sig", signature);
    auth().authenticate(&signed.head(), midnight()).unwrap()
}

fn check_sas_string(request: &Request, string: &str) {
    let wrong = request.clone().query("sig", &mac(DEVELOPMENT_KEY, "another string"));
    let failure = auth().authenticate(&wrong.head(), midnight()).unwrap_err();
    assert_eq!(detail(&failure), format!("Signature did not match. String to sign used was {string}"));
}

fn request(service: Service, method: Method, path: &str, query: &str) -> Request {
    let mut request = Request::new(service, method, path);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap();
        request = request.query(name, value);
    }
    request.header("x-ms-version", "2026-06-06")
}

#[test]
fn shared_key_put_blob_path_style_in_service_order() {
    let request = request(Service::Blob, Method::Put, "/devstoreaccount1/cont/b%201", "timeout=30")
        .header("content-length", "5")
        .header("content-type", "text/plain")
        .header("if-none-match", "*")
        .header("x-ms-blob-type", "BlockBlob")
        .header("x-ms-date", NEW_YEAR)
        .header("x-ms-meta-a-c", "2")
        .header("x-ms-meta-ab", "1");
    check_shared_key(
        request,
        "SharedKey",
        "PUT\n\n\n5\n\ntext/plain\n\n\n\n*\n\n\nx-ms-blob-type:BlockBlob\nx-ms-date:Mon, 01 Jan 2024 00:00:00 GMT\nx-ms-meta-ab:1\nx-ms-meta-a-c:2\nx-ms-version:2026-06-06\n/devstoreaccount1/devstoreaccount1/cont/b%201\ntimeout:30",
        "9e+SVGQuxKG2eTnj8KezJbMAADI4QKHYEALufpeepRU=",
    );
}

#[test]
fn shared_key_list_blobs_host_style() {
    let mut request = request(
        Service::Blob,
        Method::Get,
        "/cont",
        "restype=container&comp=list&include=snapshots&include=metadata",
    )
    .header("x-ms-date", NEW_YEAR);
    request.host = "devstoreaccount1.blob.core.windows.net";
    check_shared_key(
        request,
        "SharedKey",
        "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Mon, 01 Jan 2024 00:00:00 GMT\nx-ms-version:2026-06-06\n/devstoreaccount1/cont\ncomp:list\ninclude:metadata,snapshots\nrestype:container",
        "EtkRIe4qJCV8dYiwUoF9a/8WtC0quQUs34HJG7nW4vI=",
    );
}

#[test]
fn shared_key_table_query_path_style() {
    let request =
        request(Service::Table, Method::Get, "/devstoreaccount1/MyTable()", "").header("x-ms-date", NEW_YEAR);
    check_shared_key(
        request,
        "SharedKey",
        "GET\n\n\nMon, 01 Jan 2024 00:00:00 GMT\n/devstoreaccount1/devstoreaccount1/MyTable()",
        "jmIKMpvf59lBgXjMO1IhW83Qh/xsbJln5OkfaQdpCn8=",
    );
}

#[test]
fn shared_key_lite_table_host_style() {
    let mut request = request(Service::Table, Method::Get, "/Tables", "").header("x-ms-date", NEW_YEAR);
    request.host = "devstoreaccount1.table.core.windows.net";
    check_shared_key(
        request,
        "SharedKeyLite",
        "Mon, 01 Jan 2024 00:00:00 GMT\n/devstoreaccount1/Tables",
        "YLb1lYsg3mYfEcUoaRzUaTOKPjj+nW2UWYupQxg9WQ8=",
    );
}

#[test]
fn account_sas() {
    let request = request(
        Service::Blob,
        Method::Get,
        "/devstoreaccount1/cont/b",
        "st=2024-01-01T00:00:00Z&se=2030-01-01T00:00:00Z&sp=rwdl&spr=https,http&sv=2026-10-06&ss=bqf&srt=sco",
    );
    let credential = check_sas(
        request,
        "devstoreaccount1\nrwdl\nbqf\nsco\n2024-01-01T00:00:00Z\n2030-01-01T00:00:00Z\n\nhttps,http\n2026-10-06\n\n",
        "jMeGefiHX8ZwKzaxy6W4z9849hepMmSIvsjXxRED9qk=",
    );
    let Credential::AccountSas(sas) = credential else { panic!("{credential:?}") };
    assert_eq!((sas.permissions.as_str(), sas.services.as_str()), ("rwdl", "bqf"));
}

#[test]
fn blob_sas_with_an_override() {
    let request = request(
        Service::Blob,
        Method::Get,
        "/devstoreaccount1/cont/dir/b%201.txt",
        "sp=rw&st=2024-01-01T00:00:00Z&se=2030-01-01T00:00:00Z&sv=2026-10-06&sr=b&rsct=text/x",
    );
    let credential = check_sas(
        request,
        "rw\n2024-01-01T00:00:00Z\n2030-01-01T00:00:00Z\n/blob/devstoreaccount1/cont/dir/b 1.txt\n\n\n\n2026-10-06\nb\n\n\n\n\n\n\ntext/x",
        "LUaDjKqh2gU5QRXCGs6jAtxx+JDWJb3cx9xGdLKWhmE=",
    );
    let Credential::ServiceSas(sas) = credential else { panic!("{credential:?}") };
    assert_eq!(sas.overrides.content_type.as_deref(), Some("text/x"));
}

#[test]
fn snapshot_sas() {
    let request = request(
        Service::Blob,
        Method::Get,
        "/devstoreaccount1/cont/b",
        "sp=r&se=2030-01-01T00:00:00Z&sv=2026-10-06&sr=bs&snapshot=2024-05-05T05:05:05.0000000Z",
    );
    check_sas(
        request,
        "r\n\n2030-01-01T00:00:00Z\n/blob/devstoreaccount1/cont/b\n\n\n\n2026-10-06\nbs\n2024-05-05T05:05:05.0000000Z\n\n\n\n\n\n",
        "ciaxHhY5VVucQBpXBh6fbO6vVMrhc7MnduCBuisWIYU=",
    );
}

#[test]
fn container_sas_with_a_policy_only() {
    let request =
        request(Service::Blob, Method::Get, "/devstoreaccount1/cont/b", "si=pol1&sv=2026-10-06&sr=c");
    let credential = check_sas(
        request,
        "\n\n\n/blob/devstoreaccount1/cont\npol1\n\n\n2026-10-06\nc\n\n\n\n\n\n\n",
        "YVO5SCIC6jbiBYmK7/UJDhORbFQjvhqRXAXz+yQbzu4=",
    );
    let Credential::ServiceSas(sas) = credential else { panic!("{credential:?}") };
    assert_eq!(sas.policy.as_deref(), Some("pol1"));
}

/// The vector's key is not one of ours, so the string is compared and the signature made by hand.
#[test]
fn user_delegation_blob_sas() {
    let string = "r\n\n2024-01-02T00:00:00Z\n/blob/devstoreaccount1/cont/b\n11111111-1111-1111-1111-111111111111\n22222222-2222-2222-2222-222222222222\n2024-01-01T00:00:00Z\n2024-01-07T00:00:00Z\nb\n2026-06-06\n\n\n\n\n\n\n\n2026-10-06\nb\n\n\n\n\n\n\n\n\n";
    let request = request(
        Service::Blob,
        Method::Get,
        "/devstoreaccount1/cont/b",
        "sp=r&se=2024-01-02T00:00:00Z&skoid=11111111-1111-1111-1111-111111111111\
         &sktid=22222222-2222-2222-2222-222222222222&skt=2024-01-01T00:00:00Z&ske=2024-01-07T00:00:00Z\
         &sks=b&skv=2026-06-06&sv=2026-10-06&sr=b",
    );
    check_sas_string(&request, string);
    let key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    assert_eq!(mac(key, string), "L5XgB8Tr+smQ70yvu2f6IvU2U+fldjGqB8Iop+JIzs0=");
}

#[test]
fn queue_sas() {
    let request = request(
        Service::Queue,
        Method::Get,
        "/devstoreaccount1/q1/messages",
        "sp=rap&se=2030-01-01T00:00:00Z&sv=2026-10-06",
    );
    check_sas(
        request,
        "rap\n\n2030-01-01T00:00:00Z\n/queue/devstoreaccount1/q1\n\n\n\n2026-10-06",
        "iELhTmjbvDSuSg8BwZiV7kzW+58vvJ2AsfQwQZT1AdI=",
    );
}

#[test]
fn file_sas() {
    let request = request(
        Service::File,
        Method::Get,
        "/devstoreaccount1/share1/d/f.txt",
        "sp=r&se=2030-01-01T00:00:00Z&sv=2026-10-06&sr=f",
    );
    check_sas(
        request,
        "r\n\n2030-01-01T00:00:00Z\n/file/devstoreaccount1/share1/d/f.txt\n\n\n\n2026-10-06\n\n\n\n\n",
        "DJyK9eNaxSTPnGswZuoJyo/Ot6WTKDKl0nUVmPFO5qk=",
    );
}

#[test]
fn table_sas_with_a_range() {
    let request = request(
        Service::Table,
        Method::Get,
        "/devstoreaccount1/MyTable()",
        "sp=ra&se=2030-01-01T00:00:00Z&sv=2019-02-02&tn=MyTable&spk=a&epk=b",
    );
    let credential = check_sas(
        request,
        "ra\n\n2030-01-01T00:00:00Z\n/table/devstoreaccount1/mytable\n\n\n\n2019-02-02\na\n\nb\n",
        "oX+/+anxp61hN54KDhxISaRNHI7OYTykDW2Zq44UzRk=",
    );
    let Credential::ServiceSas(sas) = credential else { panic!("{credential:?}") };
    let scope = sas.table.unwrap();
    let inside: Vec<bool> = ["A", "a", "ab", "b", "ba"].map(|key| scope.covers(key, "x")).into();
    assert_eq!(inside, [false, true, true, true, false]);
}
