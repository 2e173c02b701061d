//! Access rights: the mask of an entry as letters.

use super::AceKind;

/// Single rights, in the order in which Windows prints them.
const BITS: [(&str, u32); 17] = [
    ("CC", 0x0000_0001),
    ("DC", 0x0000_0002),
    ("LC", 0x0000_0004),
    ("SW", 0x0000_0008),
    ("RP", 0x0000_0010),
    ("WP", 0x0000_0020),
    ("DT", 0x0000_0040),
    ("LO", 0x0000_0080),
    ("CR", 0x0000_0100),
    ("SD", 0x0001_0000),
    ("RC", 0x0002_0000),
    ("WD", 0x0004_0000),
    ("WO", 0x0008_0000),
    ("GA", 0x1000_0000),
    ("GX", 0x2000_0000),
    ("GW", 0x4000_0000),
    ("GR", 0x8000_0000),
];

/// Whole sets of them: of files, and of keys of the registry.
const SETS: [(&str, u32); 8] = [
    ("FA", 0x001f_01ff),
    ("FR", 0x0012_0089),
    ("FW", 0x0012_0116),
    ("FX", 0x0012_00a0),
    ("KA", 0x000f_003f),
    ("KR", 0x0002_0019),
    ("KW", 0x0002_0006),
    ("KX", 0x0002_0019),
];

/// What a label forbids to those below it.
const LABEL: [(&str, u32); 3] = [("NW", 1), ("NR", 2), ("NX", 4)];

/// Letters in any case and order, or a number.
pub fn parse(text: &str, kind: AceKind) -> Option<u32> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let good = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        return good.then(|| u32::from_str_radix(digits, 16).ok()).flatten();
    }
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        // As C reads it: a zero in front makes it octal.
        let octal = text.len() > 1 && text.starts_with('0');
        return u32::from_str_radix(text, if octal { 8 } else { 10 }).ok();
    }
    let named = |name: &str| {
        let labels = LABEL.iter().filter(|_| kind == AceKind::MandatoryLabel);
        let mut all = BITS.iter().chain(&SETS).chain(labels);
        all.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, bits)| *bits)
    };
    let mut mask = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (name, behind) = rest.split_at_checked(2)?;
        mask |= named(name)?;
        rest = behind;
    }
    Some(mask)
}

/// One set, or single rights, or a number if some of the bits have no letters.
pub fn print(mask: u32, kind: AceKind) -> String {
    let letters = |names: &[(&str, u32)]| {
        let known = names.iter().fold(0, |known, (_, bits)| known | bits);
        (mask & !known == 0).then(|| {
            let held = names.iter().filter(|(_, bits)| mask & bits != 0);
            held.map(|(name, _)| *name).collect::<String>()
        })
    };
    if kind == AceKind::MandatoryLabel
        && let Some(text) = letters(&LABEL)
    {
        return text;
    }
    if let Some((name, _)) = SETS.iter().find(|(_, bits)| *bits == mask) {
        return (*name).to_owned();
    }
    letters(&BITS).unwrap_or_else(|| format!("0x{mask:x}"))
}
