use lazuli_model::odata::EdmValue;

use crate::table::read_entity::{read, read_counted, table_name};

fn property(json: &str) -> String {
    let document = format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"r\",{json}}}");
    match read(document.as_bytes()) {
        Ok(entity) => match &entity.properties[..] {
            [] => "none".to_owned(),
            [(_, value)] => format!("{value:?}"),
            more => format!("{} properties", more.len()),
        },
        Err(failure) => failure.code.name().to_owned(),
    }
}

/// table.md section 3, "JSON encoding".
#[test]
fn values_and_their_types() {
    let cases = [
        (r#""a":"x""#, r#"String("x")"#),
        (r#""a":"1","a@odata.type":"Edm.String""#, r#"String("1")"#),
        (r#""a":true"#, "Boolean(true)"),
        (r#""a":"true""#, r#"String("true")"#),
        (r#""a":"True","a@odata.type":"Edm.Boolean""#, "Boolean(true)"),
        (r#""a":"FALSE","a@odata.type":"Edm.Boolean""#, "Boolean(false)"),
        (r#""a":"1","a@odata.type":"Edm.Boolean""#, "InvalidInput"),
        (r#""a":5"#, "Int32(5)"),
        (r#""a":-2147483648"#, "Int32(-2147483648)"),
        (r#""a":2147483648"#, "InvalidInput"),
        (r#""a":-0"#, "Int32(0)"),
        (r#""a":-0,"a@odata.type":"Edm.Int64""#, "Int64(0)"),
        (r#""a":-0,"a@odata.type":"Edm.Double""#, "Double(-0.0)"),
        (r#""a":-0.0"#, "Double(-0.0)"),
        (r#""a":-0e0"#, "Double(-0.0)"),
        // No integer of any width holds them, and they are no Doubles for it.
        (r#""a":9223372036854775808"#, "InvalidInput"),
        (r#""a":18446744073709551616"#, "InvalidInput"),
        (r#""a":99999999999999999999"#, "InvalidInput"),
        (r#""a":-99999999999999999999"#, "InvalidInput"),
        (r#""a":99999999999999999999,"a@odata.type":"Edm.Int64""#, "InvalidInput"),
        (r#""a":99999999999999999999,"a@odata.type":"Edm.Double""#, "Double(1e20)"),
        (r#""a":99999999999999999999.0"#, "Double(1e20)"),
        (r#""a":1e20"#, "Double(1e20)"),
        (r#""a":-1E+20"#, "Double(-1e20)"),
        (r#""a":5.0"#, "Double(5.0)"),
        (r#""a":5,"a@odata.type":"Edm.Double""#, "Double(5.0)"),
        (r#""a@odata.type":"Edm.Double","a":"-Infinity""#, "Double(-inf)"),
        (r#""a":"NaN","a@odata.type":"Edm.Double""#, "Double(NaN)"),
        (r#""a":"9223372036854775807","a@odata.type":"Edm.Int64""#, "Int64(9223372036854775807)"),
        (r#""a":"9223372036854775808","a@odata.type":"Edm.Int64""#, "InvalidInput"),
        (r#""a":"x","a@odata.type":"Edm.Int64""#, "InvalidInput"),
        (r#""a":"not a bool","a@odata.type":"Edm.Boolean""#, "InvalidInput"),
        (r#""a":"AQI=","a@odata.type":"Edm.Binary""#, "Binary([1, 2])"),
        (r#""a":"?","a@odata.type":"Edm.Binary""#, "InvalidInput"),
        (r#""a":"x","a@odata.type":"Edm.Guid""#, "InvalidInput"),
        (r#""a":"1600-12-31T00:00:00Z","a@odata.type":"Edm.DateTime""#, "InvalidInput"),
        (r#""a":"x","a@odata.type":"Edm.Byte""#, "InvalidInput"),
        (r#""a":null"#, "none"),
        (r#""a":[1]"#, "InvalidInput"),
        (r#""a":{}"#, "InvalidInput"),
        (r#""a":1,"a":1"#, "DuplicatePropertiesSpecified"),
        (r#""a":1,"a":[1]"#, "DuplicatePropertiesSpecified"),
        (r#""b":[1],"a":1,"a":1"#, "InvalidInput"),
        (r#""Timestamp":"x","odata.etag":"x","odata.type":"x""#, "none"),
    ];
    for (json, expected) in cases {
        assert_eq!(property(json), expected, "{json}");
    }
}

#[test]
fn keys_may_be_missing_but_are_texts() {
    let entity = read(br#"{"a":1}"#).expect("an entity");
    assert_eq!((entity.partition, entity.row), (None, None));
    assert_eq!(entity.properties, [("a".to_owned(), EdmValue::Int32(1))]);
    assert!(read(br#"{"PartitionKey":5,"RowKey":"r"}"#).is_err());
    for document in ["", "[]", "{", "null", "{\"a\":1}x"] {
        assert!(read(document.as_bytes()).is_err(), "{document}");
    }
}

#[test]
fn the_name_of_a_new_table() {
    assert_eq!(table_name(br#"{"TableName":"t"}"#).expect("a name"), "t");
    let code = |document: &[u8]| table_name(document).expect_err("no name").code.name();
    assert_eq!(code(b"{}"), "PropertiesNeedValue");
    assert_eq!(code(br#"{"TableName":null}"#), "PropertiesNeedValue");
    assert_eq!(code(br#"{"TableName":1}"#), "InvalidInput");
    assert_eq!(code(b"x"), "InvalidInput");
}

/// Whatever they are, so many members are not looked at one by one.
#[test]
fn an_object_without_end_is_too_much() {
    let nulls = |count: usize| {
        let members: Vec<String> = (0..count).map(|at| format!("\"p{at}\":null")).collect();
        property(&members.join(","))
    };
    assert_eq!(nulls(1_000), "none");
    assert_eq!(nulls(1_023), "TooManyProperties");
    assert_eq!(nulls(200_000), "TooManyProperties");
}

/// Numbers whose text decides what they are, as many as an entity can have, and still the document is read twice.
#[test]
fn a_document_is_read_in_linear_time() {
    for number in ["-0", "0.0", "-0.0", "-0e0", "1e20", "99999999999999999999.0", "5"] {
        let members: Vec<String> = (0..1_000).map(|at| format!("\"p{at}\":{number}")).collect();
        let padding = "x".repeat(100_000);
        let document = format!("{{\"pad\":\"{padding}\",{}}}", members.join(","));
        let mut looked = 0;
        let entity = read_counted(document.as_bytes(), &mut looked).expect("an entity");
        assert_eq!(entity.properties.len(), 1_001);
        assert!(looked <= 2 * document.len(), "{number}: {looked} of {}", document.len());
    }
}

/// A number is judged by how itself was written, also where another member has its name, or stands between.
#[test]
fn each_number_is_judged_by_its_own_text() {
    let document =
        br#"{"a@odata.type":"Edm.Int64","x":null,"a":-0,"b":-0.0,"odata.etag":"x","c":-0,"d":1e20}"#;
    let entity = read(document).expect("an entity");
    let values: Vec<String> =
        entity.properties.iter().map(|(name, value)| format!("{name} {value:?}")).collect();
    assert_eq!(values, ["a Int64(0)", "b Double(-0.0)", "c Int32(0)", "d Double(1e20)"]);
}

#[test]
fn keys_are_texts_by_their_annotation_too() {
    for key in ["PartitionKey", "RowKey"] {
        let with = |edm: &str| read(format!(r#"{{"{key}":"5","{key}@odata.type":{edm}}}"#).as_bytes());
        assert!(with("\"Edm.String\"").is_ok());
        for edm in ["Guid", "DateTime", "Binary", "Int32", "Int64", "Double", "Boolean", "Other"] {
            let refused = with(&format!("\"Edm.{edm}\"")).expect_err(edm);
            assert_eq!(refused.code.name(), "InvalidInput", "{edm}");
        }
        assert!(with("5").is_err());
    }
}
