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

/// service path -> resource, share, path
#[test]
fn shares_their_root_directories_and_paths() {
    let parse = |path: &str, query: &str| {
        let query = Query::parse(query).unwrap();
        let target = Target::parse(Service::File, "127.0.0.1", path, &query);
        target.map(|t| (t.resource, t.container, t.object)).map_err(|failure| failure.code)
    };
    let named = |resource, share: &str, path: &str| Ok((resource, share.to_owned(), path.to_owned()));
    assert_eq!(parse("/acct", ""), named(Resource::Account, "", ""));
    assert_eq!(parse("/acct/", "comp=list"), named(Resource::Account, "", ""));
    for path in ["/acct/box", "/acct/box/"] {
        assert_eq!(parse(path, "restype=share"), named(Resource::Share, "box", ""));
        assert_eq!(parse(path, "restype=Share&comp=acl"), named(Resource::Share, "box", ""));
        assert_eq!(parse(path, "restype=directory&comp=list"), named(Resource::Path, "box", ""));
        assert_eq!(parse(path, "comp=listhandles"), named(Resource::Path, "box", ""));
    }
    assert_eq!(parse("/acct/box/d/f.txt", ""), named(Resource::Path, "box", "d/f.txt"));
    assert_eq!(parse("/acct/box/d%2Ff%C3%A9/", "restype=share"), named(Resource::Path, "box", "d/f\u{e9}"));
    assert_eq!(parse("/acct//d", ""), Err(ErrorCode::InvalidUri));
    assert_eq!(parse("/acct/b%2Fx/d", ""), Err(ErrorCode::InvalidUri));
    assert_eq!(parse("/acct/box/%00", ""), Err(ErrorCode::InvalidUri));
    assert_eq!(parse("/acct/box/%FF", ""), Err(ErrorCode::InvalidUri));
    let host = Target::parse(Service::Blob, "acct.file.localhost:1", "/box/d", &Query::default()).unwrap();
    assert_eq!((host.service, host.container.as_str(), host.object.as_str()), (Service::File, "box", "d"));
}
