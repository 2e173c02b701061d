//! The name by which SMB clients reach a snapshot: a whole name of a path, `@GMT-2026.11.18-10.30.00` ([MS-SMB2] section 3.3.5.9).

use crate::time::Timestamp;

const PREFIX: &str = "@GMT-";
/// With a digit wherever there is a zero.
const FORM: &[u8] = b"0000.00.00-00.00.00";

/// The second that such a name stands for. None of every other name, however it begins: those are names of files.
pub fn parse_gmt_token(name: &str) -> Option<Timestamp> {
    let text = name.strip_prefix(PREFIX)?;
    let has_form = text.len() == FORM.len()
        && text.bytes().zip(FORM).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            other => byte == *other,
        });
    let (date, time) = text.split_once('-').filter(|_| has_form)?;
    Timestamp::parse_iso(&format!("{}T{}Z", date.replace('.', "-"), time.replace('.', ":")))
}

/// The name of the snapshot of a moment: clients know it by the second.
pub fn gmt_token(moment: Timestamp) -> String {
    let iso = moment.iso7();
    let (date, time) = iso.split_once('T').unwrap_or_default();
    let seconds = time.get(..8).unwrap_or_default();
    format!("{PREFIX}{}-{}", date.replace('-', "."), seconds.replace(':', "."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_name_of_this_form_is_a_token() {
        let moment = Timestamp::parse_iso("2026-11-18T10:30:07.1234567Z").unwrap();
        assert_eq!(gmt_token(moment), "@GMT-2026.11.18-10.30.07");
        let second = Timestamp::parse_iso("2026-11-18T10:30:07Z").unwrap();
        assert_eq!(parse_gmt_token("@GMT-2026.11.18-10.30.07"), Some(second));
        for name in [
            "@GMT-",
            "@GMT-notes.txt",
            "@gmt-2026.11.18-10.30.07",
            "@GMT-2026.11.18-10.30.07.txt",
            "@GMT-2026.11.18-10.30",
            "@GMT-2026-11-18-10.30.07",
            "@GMT-2026.13.18-10.30.07",
            "x@GMT-2026.11.18-10.30.07",
            "@GMT-２026.11.18-10.30",
        ] {
            assert_eq!(parse_gmt_token(name), None, "{name}");
        }
    }
}
