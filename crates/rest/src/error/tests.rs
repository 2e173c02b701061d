use lazuli_model::operation::Op;

use super::*;

fn asked(service: Service, resource: Resource, row: Option<&'static Row>) -> Asked<'static> {
    Asked {
        service,
        resource,
        is_head: false,
        version: ApiVersion::V2021_06_08,
        level: Level::Minimal,
        row,
        request_id: Uuid::nil(),
        now: Timestamp::parse_iso("2018-06-14T16:46:54.6040685Z").unwrap(),
    }
}

fn body(reply: Reply) -> String {
    let crate::ResponseBody::Full(Some(bytes)) = reply.body else { return String::new() };
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn header<'a>(reply: &'a Reply, name: &str) -> Option<&'a str> {
    reply.headers.get(name).and_then(|value| value.to_str().ok())
}

const REQUEST: &str = "RequestId:00000000-0000-0000-0000-000000000000\nTime:2018-06-14T16:46:54.6040685Z";

/// The example of the contract, common.md section 4.
#[test]
fn blob_errors_are_xml_with_a_byte_order_mark() {
    let failure = Failure::new(ErrorCode::BlobNotFound);
    let reply = render(
        Reply::refused(failure.clone()),
        &failure,
        &asked(Service::Blob, Resource::Blob, Some(Op::GetBlob.row())),
    );
    assert_eq!(reply.status, 404);
    assert_eq!(header(&reply, "content-type"), Some("application/xml"));
    assert_eq!(header(&reply, "x-ms-error-code"), Some("BlobNotFound"));
    assert_eq!(
        body(reply),
        format!(
            "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>BlobNotFound</Code>\
             <Message>The specified blob does not exist.\n{REQUEST}</Message></Error>"
        )
    );
}

#[test]
fn details_follow_the_message_and_are_escaped() {
    let failure = Failure::invalid_header("x-ms-a", "<&>\u{1}");
    let reply =
        render(Reply::refused(failure.clone()), &failure, &asked(Service::Queue, Resource::Queue, None));
    let body = body(reply);
    assert!(
        body.ends_with(
            "</Message><HeaderName>x-ms-a</HeaderName><HeaderValue>&lt;&amp;&gt;\u{FFFD}</HeaderValue></Error>"
        ),
        "{body}"
    );
}

/// table.md section 6.
#[test]
fn tables_speak_json_about_data_without_naming_the_code() {
    let failure = Failure::new(ErrorCode::EntityAlreadyExists);
    let reply =
        render(Reply::refused(failure.clone()), &failure, &asked(Service::Table, Resource::EntitySet, None));
    let kind = "application/json; odata=minimalmetadata; streaming=true; charset=utf-8";
    assert_eq!(header(&reply, "content-type"), Some(kind));
    assert_eq!(header(&reply, "x-ms-error-code"), None);
    let value: serde_json::Value = serde_json::from_str(&body(reply)).unwrap();
    assert_eq!(value["odata.error"]["code"], "EntityAlreadyExists");
    assert_eq!(value["odata.error"]["message"]["lang"], "en-US");
    let message = format!("The specified entity already exists.\n{REQUEST}");
    assert_eq!(value["odata.error"]["message"]["value"], message.as_str());

    let failure = Failure::new(ErrorCode::AuthenticationFailed);
    let reply =
        render(Reply::refused(failure.clone()), &failure, &asked(Service::Table, Resource::Entity, None));
    assert_eq!(header(&reply, "content-type"), Some("application/json"));
    assert_eq!(header(&reply, "x-ms-error-code"), Some("AuthenticationFailed"));
}

#[test]
fn tables_speak_xml_about_themselves_without_a_byte_order_mark() {
    let failure = Failure::new(ErrorCode::InvalidXmlDocument);
    let reply =
        render(Reply::refused(failure.clone()), &failure, &asked(Service::Table, Resource::Account, None));
    assert_eq!(header(&reply, "x-ms-error-code"), Some("InvalidXmlDocument"));
    let body = body(reply);
    let start = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\
        <m:error xmlns:m=\"http://schemas.microsoft.com/ado/2007/08/dataservices/metadata\">\
        <m:code>InvalidXmlDocument</m:code><m:message xml:lang=\"en-US\">";
    assert!(body.starts_with(start), "{body}");
    assert!(body.ends_with(&format!("{REQUEST}</m:message></m:error>")), "{body}");
}

#[test]
fn refusals_without_a_body_still_name_their_code() {
    let failure = Failure::new(ErrorCode::ConditionNotMet).with_status(304);
    let of = asked(Service::Blob, Resource::Blob, Some(Op::GetBlob.row()));
    let reply = render(Reply::refused(failure.clone()), &failure, &of);
    assert_eq!((reply.status, reply.body.length()), (304, Some(0)));
    assert_eq!(header(&reply, "x-ms-error-code"), Some("ConditionNotMet"));
    assert_eq!(header(&reply, "content-type"), None);

    let head = Asked { is_head: true, ..of };
    let reply =
        render(Reply::refused(ErrorCode::BlobNotFound.into()), &Failure::new(ErrorCode::BlobNotFound), &head);
    assert_eq!((reply.status, reply.body.length()), (404, Some(0)));
    assert_eq!(header(&reply, "content-type"), None);
}
