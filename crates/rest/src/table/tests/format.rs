use crate::table::format::Level;

#[test]
fn levels_of_metadata() {
    let cases = [
        ("application/json", "Minimal"),
        ("application/json;odata=minimalmetadata", "Minimal"),
        ("application/json; odata=nometadata", "NoMetadata"),
        ("application/json;odata=fullmetadata;charset=utf-8", "Full"),
        ("application/atom+xml,application/json;odata=nometadata", "NoMetadata"),
        ("*/*", "Minimal"),
        ("application/atom+xml", "AtomFormatNotSupported"),
        ("application/atom+xml,application/xml", "AtomFormatNotSupported"),
        ("text/html", "MediaTypeNotSupported"),
        ("application/json;odata=verbose", "MediaTypeNotSupported"),
    ];
    for (accept, expected) in cases {
        let found = match Level::parse(accept) {
            Ok(level) => format!("{level:?}"),
            Err(failure) => failure.code.name().to_owned(),
        };
        assert_eq!(found, expected, "{accept}");
    }
}
