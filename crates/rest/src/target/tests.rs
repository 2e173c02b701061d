use super::*;

fn blob(name: &str) -> Result<String, ErrorCode> {
    object(&format!("/acct/box/{name}"))
}

fn object(path: &str) -> Result<String, ErrorCode> {
    let target = Target::parse(Service::Blob, "127.0.0.1", path, &Query::default());
    target.map(|target| target.object).map_err(|failure| failure.code)
}

#[test]
fn a_backslash_is_a_slash() {
    assert_eq!(blob("dir%5Cfile"), Ok("dir/file".into()));
    assert_eq!(blob("%5c%5C/x"), Ok("///x".into()));
    assert_eq!(object("/acct/dir%5Cfile"), Ok("dir/file".into()));
    // The limit on segments counts them as the name has them.
    assert_eq!(blob(&vec!["s"; 255].join("%5C")), Err(ErrorCode::OutOfRangeInput));
}

#[test]
fn a_blob_name_has_its_limits_after_decoding() {
    assert_eq!(blob(&"%C3%A9".repeat(1024)), Ok("é".repeat(1024)));
    assert_eq!(blob(&"n".repeat(1025)), Err(ErrorCode::OutOfRangeInput));
    assert_eq!(blob(&"n".repeat(50_000)), Err(ErrorCode::OutOfRangeInput));
    assert!(blob(&vec!["s"; 254].join("/")).is_ok());
    assert_eq!(blob(&vec!["s"; 255].join("/")), Err(ErrorCode::OutOfRangeInput));
    // In the root container, too.
    assert_eq!(object(&format!("/acct/{}", "%C3%A9".repeat(1024))), Ok("é".repeat(1024)));
    assert_eq!(object(&format!("/acct/{}", "n".repeat(1025))), Err(ErrorCode::OutOfRangeInput));
}
