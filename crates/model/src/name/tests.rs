use super::*;

fn code(result: Result<(), Failure>) -> &'static str {
    result.map_or_else(|failure| failure.code.name(), |()| "ok")
}

#[test]
fn containers_queues_and_shares() {
    let (short, long) = ("a".repeat(3), "a".repeat(63));
    for name in ["abc", "a-b", "0-9", short.as_str(), long.as_str()] {
        assert_eq!(code(validate_queue(name)), "ok", "{name}");
        assert_eq!(code(validate_container(name)), "ok", "{name}");
        assert_eq!(code(validate_share(name)), "ok", "{name}");
    }
    for name in ["Abc", "a--b", "-ab", "ab-", "a_b", "a.b", "äöü", "$roo"] {
        assert_eq!(code(validate_queue(name)), "InvalidResourceName", "{name}");
        assert_eq!(code(validate_container(name)), "InvalidResourceName", "{name}");
    }
    for name in ["", "ab", &"a".repeat(64)] {
        assert_eq!(code(validate_container(name)), "OutOfRangeInput", "{name}");
    }
    for name in SYSTEM_CONTAINERS {
        assert_eq!(code(validate_container(name)), "ok");
        assert_ne!(code(validate_queue(name)), "ok");
    }
}

#[test]
fn accounts_blobs_and_tables() {
    assert_eq!(code(validate_account("devstoreaccount1")), "ok");
    assert_eq!(code(validate_account("dev-store")), "InvalidResourceName");
    assert_eq!(code(validate_account(&"a".repeat(25))), "OutOfRangeInput");

    assert_eq!(code(validate_blob(&"é".repeat(1024))), "ok");
    assert_eq!(code(validate_blob(&"a".repeat(1025))), "OutOfRangeInput");
    assert_eq!(code(validate_blob("")), "OutOfRangeInput");
    assert_eq!(code(validate_blob(&["a"; 254].join("/"))), "ok");
    assert_eq!(code(validate_blob(&["a"; 255].join("/"))), "OutOfRangeInput");

    assert_eq!(code(validate_table("Abc9")), "ok");
    for name in ["9abc", "a_bc", "a-bc", "Tables", "tables"] {
        assert_eq!(code(validate_table(name)), "InvalidResourceName", "{name}");
    }
    assert_eq!(code(validate_table("ab")), "OutOfRangeInput");
}
