use lazuli_model::ErrorCode;
use lazuli_model::operation::Op;
use lazuli_model::version::ApiVersion;

use super::*;
use crate::testing::head;

const SDDL: &str = "O:BAG:SYD:(A;;FA;;;WD)";

fn at(version: ApiVersion, headers: &[(&str, &str)]) -> Head {
    Head { version, ..head(headers) }
}

fn said(result: Result<SmbWishes, Failure>) -> String {
    let failure = result.unwrap_err();
    let details: String = failure.details.iter().map(|(_, value)| format!(" {value}")).collect();
    format!("{}{details}", failure.code.name())
}

/// file.md section 3: defaults of creates and of sets.
#[test]
fn what_is_not_sent_has_a_default() {
    let created = wishes(&head(&[]), Use::CreateFile).unwrap();
    let expected = SmbWishes {
        attributes: Wish::Value(FileAttributes::NONE),
        creation_time: Wish::Now,
        last_write_time: Wish::Now,
        change_time: Wish::Now,
        permission: Wish::Inherit,
    };
    assert_eq!(created, expected);
    let directory = wishes(&head(&[]), Use::CreateDirectory).unwrap();
    assert_eq!(directory.attributes, Wish::Value(FileAttributes::DIRECTORY));
    let set = wishes(&head(&[]), Use::Set).unwrap();
    assert_eq!(
        (set.attributes, set.creation_time, set.last_write_time),
        (Wish::Preserve, Wish::Preserve, Wish::Preserve)
    );
    assert_eq!((set.change_time, set.permission), (Wish::Now, Wish::Preserve));
}

/// As the clients were recorded to send them.
#[test]
fn recorded_headers_are_read() {
    let sent = head(&[
        ("x-ms-file-attributes", "ReadOnly|Archive"),
        ("x-ms-file-creation-time", "2019-08-15T05:15:25.0600000Z"),
        ("x-ms-file-last-write-time", "Now"),
        ("x-ms-file-permission", SDDL),
    ]);
    let read = wishes(&sent, Use::CreateFile).unwrap();
    assert_eq!(read.attributes, Wish::Value(FileAttributes::READ_ONLY.and(FileAttributes::ARCHIVE)));
    assert_eq!(read.creation_time, Wish::Value(parse_time("2019-08-15T05:15:25.06Z").unwrap()));
    assert_eq!(read.last_write_time, Wish::Now);
    let Wish::Value(Permission::Descriptor(kept)) = read.permission else { panic!("{read:?}") };
    assert_eq!(kept.to_text().unwrap(), format!("{SDDL}S:NO_ACCESS_CONTROL"));
    let by_key = head(&[("x-ms-file-permission-key", "1*2")]);
    let read = wishes(&by_key, Use::Set).unwrap();
    assert_eq!(read.permission, Wish::Value(Permission::Key(PermissionKey([1, 2]))));
    let preserved = head(&[("x-ms-file-permission", "Preserve"), ("x-ms-file-attributes", "Preserve")]);
    assert_eq!(wishes(&preserved, Use::Set).unwrap().permission, Wish::Preserve);
    let source = head(&[("x-ms-file-attributes", "Source"), ("x-ms-file-change-time", "Source")]);
    let read = wishes(&source, Use::Copy).unwrap();
    assert_eq!((read.attributes, read.change_time), (Wish::Source, Wish::Source));
}

#[test]
fn a_word_that_the_operation_has_no_use_for_is_a_wrong_value() {
    for (name, value, used, expected) in [
        (
            "x-ms-file-attributes",
            "Preserve",
            Use::CreateFile,
            "InvalidHeaderValue x-ms-file-attributes Preserve",
        ),
        ("x-ms-file-attributes", "Now", Use::Set, "InvalidHeaderValue x-ms-file-attributes Now"),
        ("x-ms-file-attributes", "Blue", Use::Set, "InvalidHeaderValue x-ms-file-attributes Blue"),
        (
            "x-ms-file-creation-time",
            "Preserve",
            Use::CreateFile,
            "InvalidHeaderValue x-ms-file-creation-time Preserve",
        ),
        ("x-ms-file-creation-time", "soon", Use::Set, "InvalidHeaderValue x-ms-file-creation-time soon"),
        ("x-ms-file-change-time", "Source", Use::Set, "InvalidHeaderValue x-ms-file-change-time Source"),
        ("x-ms-file-permission", "Preserve", Use::CreateFile, "FileInvalidPermission"),
        ("x-ms-file-permission", "abcde", Use::Set, "FileInvalidPermission"),
        ("x-ms-file-permission", "O:BAG:SY", Use::CreateFile, "FileInvalidPermission"),
        ("x-ms-file-permission-key", "x", Use::Set, "InvalidHeaderValue x-ms-file-permission-key x"),
    ] {
        assert_eq!(said(wishes(&head(&[(name, value)]), used)), expected, "{name} {value}");
    }
    let both = head(&[("x-ms-file-permission", SDDL), ("x-ms-file-permission-key", "1*2")]);
    assert_eq!(said(wishes(&both, Use::Set)), "InvalidHeaderValue x-ms-file-permission-key 1*2");
    let long = format!("{SDDL}{}", "(A;;FA;;;WD)".repeat(700));
    let long = head(&[("x-ms-file-permission", &long)]);
    assert_eq!(said(wishes(&long, Use::Set)), "InvalidHeaderValue x-ms-file-permission");
}

/// file.md section 3: required from 2019-02-02 on, optional from 2021-06-08 on, and unknown before both.
#[test]
fn for_a_while_creates_needed_all_of_them() {
    let all = [
        ("x-ms-file-attributes", "None"),
        ("x-ms-file-creation-time", "now"),
        ("x-ms-file-last-write-time", "now"),
        ("x-ms-file-permission", "inherit"),
    ];
    for used in [Use::CreateFile, Use::CreateDirectory] {
        assert!(wishes(&at(ApiVersion::V2021_04_10, &all), used).is_ok());
        for missing in 0..all.len() {
            let mut some = all.to_vec();
            let (name, _) = some.remove(missing);
            let expected = format!("MissingRequiredHeader {name}");
            assert_eq!(said(wishes(&at(ApiVersion::V2019_02_02, &some), used)), expected);
            assert!(wishes(&at(ApiVersion::V2021_06_08, &some), used).is_ok());
            assert!(wishes(&at(ApiVersion::V2018_11_09, &some), used).is_ok());
        }
        let with_key = [all[0], all[1], all[2], ("x-ms-file-permission-key", "1*2")];
        assert!(wishes(&at(ApiVersion::V2021_04_10, &with_key), used).is_ok());
    }
    assert!(wishes(&at(ApiVersion::V2019_02_02, &[]), Use::Set).is_ok());
    let unread = at(ApiVersion::V2018_11_09, &[("x-ms-file-attributes", "Blue")]);
    assert!(wishes(&unread, Use::Set).is_ok());
}

#[test]
fn permissions_come_as_bytes_too() {
    let kept = descriptor(SDDL, PermissionFormat::Sddl).unwrap();
    let bytes = permission_text(&kept, PermissionFormat::Binary).unwrap();
    let sent = [("x-ms-file-permission", bytes.as_str()), ("x-ms-file-permission-format", "Binary")];
    let read = wishes(&at(ApiVersion::V2024_11_04, &sent), Use::CreateFile).unwrap();
    assert_eq!(read.permission, Wish::Value(Permission::Descriptor(kept)));
    // Before there was the form, the header said nothing.
    assert_eq!(said(wishes(&at(ApiVersion::V2024_08_04, &sent), Use::CreateFile)), "FileInvalidPermission");
    let unknown = [("x-ms-file-permission", SDDL), ("x-ms-file-permission-format", "xml")];
    let expected = "InvalidHeaderValue x-ms-file-permission-format xml";
    assert_eq!(said(wishes(&at(ApiVersion::V2024_11_04, &unknown), Use::CreateFile)), expected);
    assert_eq!(descriptor("!", PermissionFormat::Binary).unwrap_err().code, ErrorCode::FileInvalidPermission);
}

#[test]
fn a_write_to_a_range_may_keep_the_time() {
    let keeps = |version, value| keeps_last_write_time(&at(version, &[("x-ms-file-last-write-time", value)]));
    assert_eq!(keeps(ApiVersion::V2021_06_08, "Preserve").ok(), Some(true));
    assert_eq!(keeps(ApiVersion::V2021_06_08, "Now").ok(), Some(false));
    assert_eq!(keeps(ApiVersion::V2021_04_10, "Preserve").ok(), Some(false));
    assert!(keeps(ApiVersion::V2021_06_08, "2019-08-15T05:15:25Z").is_err());
}

#[test]
fn all_seven_are_told() {
    let at = parse_time("2019-08-15T05:15:25.06Z").unwrap();
    let properties = SmbProperties {
        attributes: FileAttributes::ARCHIVE,
        creation_time: at,
        last_write_time: at,
        change_time: at,
        permission_key: Some(PermissionKey([1, 2])),
        id: u64::MAX,
        parent_id: 0,
    };
    let reply = properties.tell(Reply::of(Op::CreateFile.row()));
    let told = |name: &str| reply.headers.get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(reply.headers.len(), 7);
    assert_eq!(told("x-ms-file-attributes"), "Archive");
    for name in ["x-ms-file-creation-time", "x-ms-file-last-write-time", "x-ms-file-change-time"] {
        assert_eq!(told(name), "2019-08-15T05:15:25.0600000Z");
    }
    assert_eq!(told("x-ms-file-permission-key"), "1*2");
    assert_eq!(
        (told("x-ms-file-id"), told("x-ms-file-parent-id")),
        ("18446744073709551615".into(), "0".into())
    );
}
