use super::super::lease::LeaseId;

#[test]
fn the_five_forms_are_one_id() {
    let printed = "0f8fad5b-d9cb-469f-a165-70867728950e";
    for form in [
        "0f8fad5bd9cb469fa16570867728950e",
        "0f8fad5b-d9cb-469f-a165-70867728950e",
        "0F8FAD5B-D9CB-469F-A165-70867728950E",
        " 0f8fad5b-d9cb-469f-a165-70867728950e ",
        "{0f8fad5b-d9cb-469f-a165-70867728950e}",
        "(0f8fad5b-d9cb-469f-a165-70867728950e)",
        "{0x0f8fad5b,0xd9cb,0x469f,{0xa1,0x65,0x70,0x86,0x77,0x28,0x95,0x0e}}",
        "{0Xf8fad5b, 0xD9CB, 0x469f, {0xa1,0x65,0x70,0x86,0x77,0x28,0x95,0xe}}",
    ] {
        let id = LeaseId::parse(form).unwrap_or_else(|| panic!("{form}"));
        assert_eq!(id.to_string(), printed, "{form}");
    }
}

#[test]
fn what_is_no_guid_is_refused() {
    for text in [
        "",
        "garbage",
        "0f8fad5bd9cb469fa16570867728950",
        "0f8fad5bd9cb469fa16570867728950e0",
        "+f8fad5bd9cb469fa16570867728950e",
        "0f8fad5-bd9cb-469f-a165-70867728950e",
        "0f8fad5b-d9cb-469f-a165-70867728950",
        "0f8fad5b-d9cb-469f-a165-70867728950e-",
        "0f8fad5b-d9cb-469f-a165-7086772895ge",
        "{0f8fad5b-d9cb-469f-a165-70867728950e",
        "(0f8fad5b-d9cb-469f-a165-70867728950e}",
        "{0f8fad5bd9cb469fa16570867728950e}",
        "urn:uuid:0f8fad5b-d9cb-469f-a165-70867728950e",
        "{0x0f8fad5b,0xd9cb,0x469f,{0xa1,0x65,0x70,0x86,0x77,0x28,0x95}}",
        "{0x0f8fad5b,0xd9cb,0x469f,{0xa1,0x65,0x70,0x86,0x77,0x28,0x95,0x0e,0x00}}",
        "{0x0f8fad5b,0xd9cb,{0x469f,0xa1,0x65,0x70,0x86,0x77,0x28,0x95,0x0e}}",
        "{0x00f8fad5b,0xd9cb,0x469f,{0xa1,0x65,0x70,0x86,0x77,0x28,0x95,0x0e}}",
        "{0x,0xd9cb,0x469f,{0xa1,0x65,0x70,0x86,0x77,0x28,0x95,0x0e}}",
        "{0f8fad5b,d9cb,469f,{a1,65,70,86,77,28,95,0e}}",
        "{,{",
        "é",
    ] {
        assert_eq!(LeaseId::parse(text), None, "{text}");
    }
}
