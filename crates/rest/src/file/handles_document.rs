//! The document of List Handles.

use lazuli_model::time::Timestamp;
use lazuli_model::version::Feature;

use crate::blob::list::{asked, text};
use crate::head::Head;
use crate::xml::Writer;

/// What an open handle may do with its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessRight {
    Read,
    Write,
    Delete,
}

/// An open handle as a list tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedHandle {
    pub id: u64,
    /// From the root of the share; empty for the root itself.
    pub path: String,
    /// 0 for the root.
    pub file_id: u64,
    pub parent_id: u64,
    pub session_id: u64,
    pub access: Vec<AccessRight>,
    /// Address and port.
    pub client_ip: String,
    pub client_name: String,
    pub opened: Timestamp,
    /// Since when its client is back, if it was gone.
    pub reconnected: Option<Timestamp>,
}

/// Up to the entries; they and the marker behind them are [`crate::blob::list::Entries`] of [`entry`].
pub fn open(head: &Head) -> Writer {
    let mut writer = Writer::new();
    writer.open("EnumerationResults");
    asked(&mut writer, head, &["marker", "maxresults"]);
    writer
}

pub fn entry(writer: &mut Writer, head: &Head, handle: &ListedHandle) {
    writer.open("Handle");
    writer.number("HandleId", handle.id);
    text(writer, "Path", &handle.path);
    writer.number("FileId", handle.file_id);
    writer.number("ParentId", handle.parent_id);
    writer.number("SessionId", handle.session_id);
    if head.version.has(Feature::HandleAccessRights) {
        writer.open("AccessRightList");
        for right in &handle.access {
            writer.element(
                "AccessRight",
                match right {
                    AccessRight::Read => "Read",
                    AccessRight::Write => "Write",
                    AccessRight::Delete => "Delete",
                },
            );
        }
        writer.close("AccessRightList");
    }
    writer.element("ClientIp", &handle.client_ip);
    if head.version.has(Feature::HandleClientName) {
        writer.element("ClientName", &handle.client_name);
    }
    writer.element("OpenTime", &handle.opened.rfc1123());
    writer.maybe("LastReconnectTime", handle.reconnected.map(Timestamp::rfc1123).as_deref());
    writer.close("Handle");
}

#[cfg(test)]
mod tests {
    use lazuli_model::version::ApiVersion;
    use lazuli_service::shared::marker::Position;

    use super::*;
    use crate::blob::list::Entries;
    use crate::testing::asking;

    fn page(head: &Head, handles: &[ListedHandle]) -> String {
        let entries = Entries { element: "Entries", items: handles, next: None };
        let position = |handle: &ListedHandle| Position::Name { name: handle.id.to_string(), ticks: 0 };
        entries.print(open(head), usize::MAX, |writer, handle| entry(writer, head, handle), position)
    }

    /// Recorded: of a directory that nobody has open.
    #[test]
    fn as_recorded() {
        const DECLARATION: &str = "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?>";
        let expected =
            "<EnumerationResults><MaxResults>5</MaxResults><Entries /><NextMarker /></EnumerationResults>";
        assert_eq!(page(&asking("comp=listhandles&maxresults=5"), &[]), format!("{DECLARATION}{expected}"));
        let expected = "<EnumerationResults><Entries /><NextMarker /></EnumerationResults>";
        assert_eq!(page(&asking("comp=listhandles"), &[]), format!("{DECLARATION}{expected}"));
    }

    /// file.md section 4.
    #[test]
    fn a_handle_tells_what_its_version_knows() {
        let handle = ListedHandle {
            id: 7,
            path: "dir/file".into(),
            file_id: 9,
            parent_id: 8,
            session_id: 5,
            access: vec![AccessRight::Read, AccessRight::Write],
            client_ip: "10.0.0.1:1234".into(),
            client_name: "desk".into(),
            opened: Timestamp::parse_iso("2026-11-01T12:00:00Z").unwrap(),
            reconnected: None,
        };
        let at = |version| Head { version, ..asking("comp=listhandles") };
        let rights = "<AccessRightList><AccessRight>Read</AccessRight><AccessRight>Write</AccessRight></AccessRightList>";
        for (version, rights, name) in [
            (ApiVersion::V2021_06_08, "", ""),
            (ApiVersion::V2023_01_03, rights, ""),
            (ApiVersion::V2024_02_04, rights, "<ClientName>desk</ClientName>"),
        ] {
            let expected = format!(
                "<Handle><HandleId>7</HandleId><Path>dir/file</Path><FileId>9</FileId><ParentId>8</ParentId>\
                 <SessionId>5</SessionId>{rights}<ClientIp>10.0.0.1:1234</ClientIp>{name}\
                 <OpenTime>Sun, 01 Nov 2026 12:00:00 GMT</OpenTime></Handle>"
            );
            let page = page(&at(version), std::slice::from_ref(&handle));
            assert!(page.contains(&format!("<Entries>{expected}</Entries>")), "{page}");
        }
    }
}
