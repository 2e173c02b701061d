use super::*;

/// Recorded: what a client sent, and what came back.
const SENT: &str = "O:S-1-5-21-2127521184-1604012920-1887927527-21560751\
    G:S-1-5-21-2127521184-1604012920-1887927527-513\
    D:AI(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;S-1-5-21-397955417-626881126-188441444-3053964)";

fn parse(text: &str) -> Result<SecurityDescriptor, BadDescriptor> {
    SecurityDescriptor::parse_text(text)
}

/// Through bytes and back.
fn printed(text: &str) -> String {
    let descriptor = parse(text).unwrap_or_else(|_| panic!("{text}"));
    let bytes = descriptor.to_bytes().unwrap();
    assert_eq!(SecurityDescriptor::parse_bytes(&bytes).as_ref(), Ok(&descriptor), "{text}");
    descriptor.to_text().unwrap()
}

#[test]
fn the_recorded_permission_comes_back_as_recorded() {
    let kept = parse(SENT).unwrap().for_file().unwrap();
    assert_eq!(kept.to_text().unwrap(), format!("{SENT}S:NO_ACCESS_CONTROL"));
    // What came back is the same when it is sent.
    assert_eq!(parse(&kept.to_text().unwrap()).unwrap().for_file().unwrap(), kept);
    assert_eq!(printed(SENT), SENT);
}

#[test]
fn texts_come_back_as_windows_prints_them() {
    for (text, expected) in [
        ("O:BAG:SYD:", "O:BAG:SYD:"),
        ("O:S-1-5-32-544G:S-1-5-18D:P(D;OICI;GA;;;S-1-1-0)", "O:BAG:SYD:P(D;OICI;GA;;;WD)"),
        ("D:PARAI(A;OICIIO;SDGXGWGR;;;AU)", "D:PARAI(A;OICIIO;SDGXGWGR;;;AU)"),
        ("D:(A;;GRSDGWGX;;;AU)", "D:(A;;SDGXGWGR;;;AU)"),
        ("D:(A;;CCDCLCSWRPWPDTLOCRSDRCWDWO;;;SY)", "D:(A;;CCDCLCSWRPWPDTLOCRSDRCWDWO;;;SY)"),
        (
            "D:(A;;0x1f01ff;;;SY)(A;;1179785;;;SY)(A;;FRFX;;;SY)",
            "D:(A;;FA;;;SY)(A;;FR;;;SY)(A;;0x1200a9;;;SY)",
        ),
        ("D:(A;;FRFW;;;SY)", "D:(A;;0x12019f;;;SY)"),
        ("S:(AU;SAFA;WDWO;;;WD)", "S:(AU;SAFA;WDWO;;;WD)"),
        ("S:(ML;;NW;;;LW)", "S:(ML;;NW;;;LW)"),
        ("D:NO_ACCESS_CONTROL", "D:NO_ACCESS_CONTROL"),
        ("S:P D:AI (A;;FA;;;WD) G:SY O:BA", "O:BAG:SYD:AI(A;;FA;;;WD)S:P"),
        ("o:ba g:sy d:p(a;;fa;;;wd)", "O:BAG:SYD:P(A;;FA;;;WD)"),
        ("O:S-1-0x123456789abc-1", "O:S-1-0x123456789abc-1"),
        (
            "D:(OA;;RP;bf967aba-0de6-11d0-a285-00aa003049e2;;AU)(OD;CI;WP;;bf967aba-0de6-11d0-a285-00aa003049e2;WD)",
            "D:(OA;;RP;bf967aba-0de6-11d0-a285-00aa003049e2;;AU)(OD;CI;WP;;bf967aba-0de6-11d0-a285-00aa003049e2;WD)",
        ),
        ("D:(A;;;;;WD)", "D:(A;;;;;WD)"),
    ] {
        assert_eq!(printed(text), expected, "{text}");
    }
}

#[test]
fn what_is_no_descriptor_is_refused() {
    for text in [
        "",
        " ",
        "invalidPermission",
        "abcde",
        "O:",
        "O:BAO:BA",
        "X:BA",
        "O:BA G:",
        "D:(A;;FA;;;WD",
        "D:A;;FA;;;WD)",
        "D:(A;;FA;;;WD))",
        "D:(A;;FA;;WD)",
        "D:(A;;FA;;;WD;x)",
        "D:(Z;;FA;;;WD)",
        "D:(A;XX;FA;;;WD)",
        "D:(A;OIC;FA;;;WD)",
        "D:(A;;FAX;;;WD)",
        "D:(A;;QQ;;;WD)",
        "D:(A;;0x;;;WD)",
        "D:(A;;0x1ffffffff;;;WD)",
        "D:(A;;-1;;;WD)",
        "D:(A;;FA;;;)",
        "D:(A;;FA;;;DA)",
        "D:(A;;FA;;;S-1-5)",
        "D:(A;;FA;;;S-1-5--1)",
        "D:(A;;FA;;;S-1-5-4294967296)",
        "D:(A;;FA;;;S-2-5-18)",
        "D:(A;;FA;bf967aba-0de6-11d0-a285-00aa003049e2;;WD)",
        "D:(OA;;FA;notaguid;;WD)",
        "D:(XA;;FX;;;WD;(@User.Title==\"PM\"))",
        "D:Q(A;;FA;;;WD)",
        "D:NO_ACCESS_CONTROL(A;;FA;;;WD)",
        "D:é",
    ] {
        assert_eq!(parse(text), Err(BadDescriptor::Text), "{text}");
    }
    let long = format!("D:{}", "(A;;FA;;;WD)".repeat(6000));
    assert_eq!(parse(&long), Err(BadDescriptor::Text));
    assert_eq!(BadDescriptor::Text.code(), ErrorCode::FileInvalidPermission);
}

#[test]
fn a_file_needs_an_owner_a_group_and_a_list() {
    for text in ["O:BAG:SY", "O:BAD:", "G:BAD:", "S:"] {
        assert_eq!(parse(text).unwrap().for_file(), Err(BadDescriptor::Incomplete), "{text}");
    }
    assert!(parse("O:BAG:SYD:").unwrap().for_file().is_ok());
}

/// [MS-DTYP] section 2.4.6, written by hand.
#[test]
fn bytes_are_laid_out_as_published() {
    let bytes = parse("O:BAG:SYD:P(A;OICI;FA;;;WD)").unwrap().to_bytes().unwrap();
    let expected = [
        &[1, 0, 0x04, 0x90][..],
        &[48, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0],
        &[2, 0, 28, 0, 1, 0, 0, 0],
        &[0, 3, 20, 0, 0xff, 0x01, 0x1f, 0x00],
        &[1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0],
        &[1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0],
        &[1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0],
    ];
    assert_eq!(bytes, expected.concat());
}

#[test]
fn kinds_that_text_cannot_express_are_kept_as_bytes() {
    let mut kept = parse("O:BAG:SYD:(A;;FA;;;WD)").unwrap();
    let other = Ace { kind: AceKind::Other(9), flags: 0, body: ace::AceBody::Other(vec![1, 2, 3, 4]) };
    kept.dacl.as_mut().unwrap().entries.as_mut().unwrap().push(other);
    let bytes = kept.to_bytes().unwrap();
    assert_eq!(SecurityDescriptor::parse_bytes(&bytes).as_ref(), Ok(&kept));
    assert_eq!(kept.to_text(), Err(BadDescriptor::NotText));
    assert_eq!(BadDescriptor::NotText.code(), ErrorCode::CannotConvertToSddlDueToCustomAce);
}

/// Every cut and every changed byte is read or refused, and what is read can be written.
#[test]
fn bytes_from_outside_never_surprise() {
    let good = parse(&format!("{SENT}S:P(AU;SA;FA;;;WD)")).unwrap().to_bytes().unwrap();
    for cut in 0..good.len() {
        assert!(SecurityDescriptor::parse_bytes(&good[..cut]).is_err() || cut > 20, "{cut}");
    }
    for at in 0..good.len() {
        for value in [0, 1, 2, 4, 0x7f, 0x80, 0xff] {
            let mut changed = good.clone();
            changed[at] = value;
            if let Ok(read) = SecurityDescriptor::parse_bytes(&changed) {
                let written = read.to_bytes().unwrap();
                assert_eq!(SecurityDescriptor::parse_bytes(&written), Ok(read), "{at} {value}");
            }
        }
    }
}

#[test]
fn keys_are_two_numbers() {
    let text = "4089320212444238414*11459378189709739967";
    let key = PermissionKey::parse(text).unwrap();
    assert_eq!(key, PermissionKey([4_089_320_212_444_238_414, 11_459_378_189_709_739_967]));
    assert_eq!(key.to_string(), text);
    assert_eq!(PermissionKey::from_number(key.to_number()), key);
    for text in
        ["invalidPermission", "", "*", "1*", "*1", "1*2*3", "-1*2", "+1*2", "18446744073709551616*1", "1 *2"]
    {
        assert_eq!(PermissionKey::parse(text), None, "{text}");
    }
}
