use lazuli_model::version::ApiVersion;
use lazuli_service::shared::marker::Position;

use super::*;
use crate::blob::list::Entries;
use crate::testing::asking;

const DECLARATION: &str = "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?>";
const ENDPOINT: &str = "https://account.file.core.windows.net/";

fn time(text: &str) -> Timestamp {
    Timestamp::parse_iso(text).unwrap()
}

fn listed(name: &str, id: u64, length: Option<u64>, at: &str) -> Listed {
    let at = time(at);
    Listed {
        name: name.into(),
        id,
        length,
        creation_time: at,
        last_access_time: at,
        last_write_time: at,
        change_time: at,
        last_modified: at,
        etag: ETag(0),
        attributes: if length.is_some() { FileAttributes::ARCHIVE } else { FileAttributes::DIRECTORY },
        permission_key: PermissionKey([0, 0]),
    }
}

fn page(head: &Head, directory: &Directory<'_>, items: &[Listed], next: Option<&Position>) -> String {
    let told = told(head).unwrap();
    let position = |listed: &Listed| Position::Name { name: listed.name.clone(), ticks: 0 };
    let entries = Entries { element: "Entries", items, next };
    let writer = open(head, directory);
    entries.print(writer, usize::MAX, |writer, listed| entry(writer, head, told, listed), position)
}

fn directory(path: &str, id: u64) -> Directory<'_> {
    Directory { endpoint: ENDPOINT, share: "share", snapshot: None, path, id }
}

/// Recorded: with everything that a request may ask for.
#[test]
fn everything_as_recorded() {
    let head = asking("restype=directory&comp=list&include=Attributes%2CEtag%2CPermissionKey%2CTimestamps");
    let etag = |hex: u64| ETag(hex);
    let items = [
        Listed {
            etag: etag(0x8D9156F77FEC766),
            permission_key: PermissionKey::parse("17860367565182308406*11459378189709739967").unwrap(),
            ..listed("sub", 16140971433240035328, None, "2021-05-12T17:57:54.8374886Z")
        },
        Listed {
            etag: etag(0x8D9156F77F2903B),
            permission_key: PermissionKey::parse("4010187179898695473*11459378189709739967").unwrap(),
            ..listed("file", 11529285414812647424, Some(1024), "2021-05-12T17:57:54.7574331Z")
        },
    ];
    let expected = "<EnumerationResults ServiceEndpoint=\"https://account.file.core.windows.net/\" ShareName=\"share\" \
        DirectoryPath=\"dir\"><DirectoryId>13835128424026341376</DirectoryId><Entries><Directory><Name>sub</Name>\
        <FileId>16140971433240035328</FileId><Properties><CreationTime>2021-05-12T17:57:54.8374886Z</CreationTime>\
        <LastAccessTime>2021-05-12T17:57:54.8374886Z</LastAccessTime><LastWriteTime>2021-05-12T17:57:54.8374886Z\
        </LastWriteTime><ChangeTime>2021-05-12T17:57:54.8374886Z</ChangeTime><Last-Modified>Wed, 12 May 2021 17:57:54 \
        GMT</Last-Modified><Etag>\"0x8D9156F77FEC766\"</Etag></Properties><Attributes>Directory</Attributes>\
        <PermissionKey>17860367565182308406*11459378189709739967</PermissionKey></Directory><File><Name>file</Name>\
        <FileId>11529285414812647424</FileId><Properties><Content-Length>1024</Content-Length>\
        <CreationTime>2021-05-12T17:57:54.7574331Z</CreationTime><LastAccessTime>2021-05-12T17:57:54.7574331Z\
        </LastAccessTime><LastWriteTime>2021-05-12T17:57:54.7574331Z</LastWriteTime><ChangeTime>\
        2021-05-12T17:57:54.7574331Z</ChangeTime><Last-Modified>Wed, 12 May 2021 17:57:54 GMT</Last-Modified>\
        <Etag>\"0x8D9156F77F2903B\"</Etag></Properties><Attributes>Archive</Attributes><PermissionKey>\
        4010187179898695473*11459378189709739967</PermissionKey></File></Entries><NextMarker /></EnumerationResults>";
    let page = page(&head, &directory("dir", 13835128424026341376), &items, None);
    assert_eq!(page, format!("{DECLARATION}{expected}"));
}

/// Recorded: names that XML cannot hold, a page of one, and the root directory.
#[test]
fn little_as_recorded() {
    let at = "2021-05-12T17:57:54Z";
    let head = asking("restype=directory&comp=list&maxresults=1&prefix=directory%EF%BF%BE");
    let items =
        [listed("file0\u{fffe}", 11529285414812647424, Some(1024), at), listed("d\u{fffe}", 2, None, at)];
    let page = page(&head, &directory("", 0), &items, None);
    let expected = "ShareName=\"share\" DirectoryPath=\"\"><Prefix Encoded=\"true\">directory%EF%BF%BE</Prefix>\
        <MaxResults>1</MaxResults><DirectoryId>0</DirectoryId><Entries><File><Name Encoded=\"true\">file0%EF%BF%BE\
        </Name><FileId>11529285414812647424</FileId><Properties><Content-Length>1024</Content-Length></Properties>\
        </File><Directory><Name Encoded=\"true\">d%EF%BF%BE</Name><FileId>2</FileId><Properties /></Directory>\
        </Entries><NextMarker /></EnumerationResults>";
    assert!(page.ends_with(expected), "{page}");
}

#[test]
fn a_snapshot_and_a_path_that_xml_cannot_hold_are_told_first() {
    let head = asking("restype=directory&comp=list");
    let snapshot = Some(time("2017-05-12T20:52:22Z"));
    let page = page(&head, &Directory { snapshot, ..directory("d\u{fffe}", 1) }, &[], None);
    let expected = "ShareName=\"share\" ShareSnapshot=\"2017-05-12T20:52:22.0000000Z\" Encoded=\"true\" \
        DirectoryPath=\"d%EF%BF%BE\"><DirectoryId>1</DirectoryId><Entries /><NextMarker /></EnumerationResults>";
    assert!(page.ends_with(expected), "{page}");
}

#[test]
fn old_versions_tell_no_ids() {
    let head = Head { version: ApiVersion::V2019_02_02, ..asking("restype=directory&comp=list") };
    let page = page(&head, &directory("", 0), &[listed("f", 1, Some(0), "2021-05-12T17:57:54Z")], None);
    assert!(!page.contains("Id>"), "{page}");
}

#[test]
fn what_is_included_is_known() {
    let told_of = |query: &str| told(&asking(query));
    assert_eq!(told_of("comp=list").unwrap(), Told::default());
    let etag = told_of("comp=list&include=etag").unwrap();
    assert!(etag.etag && etag.current && !etag.timestamps);
    assert!(told_of("comp=list&include=Etag,Everything").is_err());
    let asked = crate::testing::head(&[("x-ms-file-extended-info", "true")]);
    assert!(told(&asked).unwrap().current);
}
