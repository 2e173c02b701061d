//! What a new directory or file gets from the directory that it is created in ([MS-DTYP] section 2.5.3.4).

use std::sync::LazyLock;

use super::ace::{AceBody, AceKind};
use super::{Ace, Acl, SecurityDescriptor, Sid};

const OBJECT: u8 = 0x01;
const CONTAINER: u8 = 0x02;
const NO_PROPAGATE: u8 = 0x04;
const INHERIT_ONLY: u8 = 0x08;
const INHERITED: u8 = 0x10;
/// What an audit looks at stays as it is.
const AUDITS: u8 = 0xc0;

/// Generic rights, and what they mean for files.
const GENERIC: [(u32, u32); 4] = [
    (0x8000_0000, 0x0012_0089),
    (0x4000_0000, 0x0012_0116),
    (0x2000_0000, 0x0012_00a0),
    (0x1000_0000, 0x001f_01ff),
];

/// What the root of a share has from the beginning, as the service documents it.
const ROOT: &str = "O:SYG:SYD:(A;OICI;FA;;;BA)(A;;0x1200a9;;;BU)(A;OICIIO;GRGX;;;BU)(A;OICI;0x1301bf;;;AU)\
                    (A;OICI;FA;;;SY)(A;OICIIO;GA;;;CO)S:NO_ACCESS_CONTROL";
/// What there is where nothing is inherited.
const BARE: &str = "D:(A;;FA;;;SY)(A;;FA;;;BA)";

fn of(text: &str) -> SecurityDescriptor {
    SecurityDescriptor::parse_text(text).unwrap_or_default()
}

static DEFAULT_ROOT: LazyLock<SecurityDescriptor> = LazyLock::new(|| of(ROOT));

impl SecurityDescriptor {
    /// What the root of a share has until it is given another.
    pub fn default_root() -> &'static Self {
        &DEFAULT_ROOT
    }

    /// What a directory or file gets that is created in a directory with this one.
    pub fn inherited(&self, directory: bool) -> Self {
        let owner = DEFAULT_ROOT.owner.clone();
        let group = DEFAULT_ROOT.group.clone();
        let list = |parent: &Option<Acl>| -> Vec<Ace> {
            let entries = parent.as_ref().and_then(|list| list.entries.as_deref()).unwrap_or_default();
            entries
                .iter()
                .flat_map(|entry| inherited(entry, directory, owner.as_ref(), group.as_ref()))
                .collect()
        };
        let allowed = list(&self.dacl);
        let dacl = match allowed.is_empty() {
            true => of(BARE).dacl,
            false => Some(Acl { auto_inherited: true, entries: Some(allowed), ..Acl::NULL }),
        };
        let audited = list(&self.sacl);
        let sacl = match audited.is_empty() {
            true => Acl::NULL,
            false => Acl { auto_inherited: true, entries: Some(audited), ..Acl::NULL },
        };
        Self { owner, group, dacl, sacl: Some(sacl) }
    }

    /// With what a directory hands on to what is created in it, in place of what was inherited elsewhere; unless it says
    /// that nothing is to be inherited.
    #[must_use]
    pub fn completed(mut self, parent: &Self, directory: bool) -> Self {
        let is_inherited = |entry: &Ace| entry.flags & INHERITED != 0;
        let handed_on = parent.inherited(directory).dacl.and_then(|list| list.entries).unwrap_or_default();
        if let Some(list) = self.dacl.as_mut().filter(|list| !list.protected)
            && let Some(entries) = &mut list.entries
        {
            entries.retain(|entry| !is_inherited(entry));
            entries.extend(handed_on.into_iter().filter(is_inherited));
        }
        self
    }
}

/// What becomes of one entry of the parent: nothing, one that is in effect, one for what will be created below, or both.
fn inherited(entry: &Ace, directory: bool, owner: Option<&Sid>, group: Option<&Sid>) -> Vec<Ace> {
    let flags = entry.flags;
    let goes_on = flags & NO_PROPAGATE == 0;
    let (takes_effect, handed_on) = match directory {
        false => (flags & OBJECT != 0, 0),
        true => (flags & CONTAINER != 0, if goes_on { flags & (OBJECT | CONTAINER) } else { 0 }),
    };
    let audits = flags & AUDITS;
    let effective = || in_effect(entry, owner, group);
    let mut entries = Vec::new();
    if takes_effect && handed_on != 0 && effective() == entry.body {
        entries.push(Ace { flags: handed_on | INHERITED | audits, ..entry.clone() });
        return entries;
    }
    if takes_effect {
        entries.push(Ace { kind: entry.kind, flags: INHERITED | audits, body: effective() });
    }
    if handed_on != 0 {
        entries.push(Ace { flags: handed_on | INHERIT_ONLY | INHERITED | audits, ..entry.clone() });
    }
    entries
}

/// With the creator by name, and with the rights that files have.
fn in_effect(entry: &Ace, owner: Option<&Sid>, group: Option<&Sid>) -> AceBody {
    let AceBody::Known { mask, object, inherited_object, sid } = &entry.body else {
        return entry.body.clone();
    };
    if matches!(entry.kind, AceKind::MandatoryLabel) {
        return entry.body.clone();
    }
    let named = |name: &str| Sid::parse(name).as_ref() == Some(sid);
    let sid = match (named("CO"), named("CG")) {
        (true, _) => owner.unwrap_or(sid),
        (_, true) => group.unwrap_or(sid),
        _ => sid,
    };
    let plain = GENERIC.iter().fold(*mask, |mask, (generic, files)| match mask & generic != 0 {
        true => (mask & !generic) | files,
        false => mask,
    });
    AceBody::Known { mask: plain, object: *object, inherited_object: *inherited_object, sid: sid.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inherits(parent: &str, directory: bool) -> String {
        of(parent).inherited(directory).to_text().unwrap()
    }

    #[test]
    fn the_default_is_what_it_says_and_settles_below_the_root() {
        assert!(DEFAULT_ROOT.clone().for_file().is_ok());
        let below = DEFAULT_ROOT.inherited(true);
        assert_eq!(below.inherited(true), below, "the same from the second level on");
        assert_eq!(DEFAULT_ROOT.inherited(false), below.inherited(false));
        assert_eq!(
            DEFAULT_ROOT.inherited(false).to_text().unwrap(),
            "O:SYG:SYD:AI(A;ID;FA;;;BA)(A;ID;0x1200a9;;;BU)(A;ID;0x1301bf;;;AU)(A;ID;FA;;;SY)(A;ID;FA;;;SY)\
             S:NO_ACCESS_CONTROL"
        );
    }

    #[test]
    fn entries_go_to_what_they_are_for() {
        let of_entry = |flags: &str, directory| {
            let text = inherits(&format!("O:BAG:SYD:(A;{flags};FA;;;WD)"), directory);
            text.replace("O:SYG:SYD:", "").replace("S:NO_ACCESS_CONTROL", "")
        };
        let bare = "(A;;FA;;;SY)(A;;FA;;;BA)";
        for (flags, to_file, to_directory) in [
            ("", bare, bare),
            ("OI", "AI(A;ID;FA;;;WD)", "AI(A;OIIOID;FA;;;WD)"),
            ("CI", bare, "AI(A;CIID;FA;;;WD)"),
            ("OICI", "AI(A;ID;FA;;;WD)", "AI(A;OICIID;FA;;;WD)"),
            ("OICIIO", "AI(A;ID;FA;;;WD)", "AI(A;OICIID;FA;;;WD)"),
            ("OICINP", "AI(A;ID;FA;;;WD)", "AI(A;ID;FA;;;WD)"),
            ("OINP", "AI(A;ID;FA;;;WD)", bare),
        ] {
            assert_eq!(of_entry(flags, false), to_file, "{flags} to a file");
            assert_eq!(of_entry(flags, true), to_directory, "{flags} to a directory");
        }
    }

    /// The creator and generic rights are kept for what is created below, and mean something here.
    #[test]
    fn creators_and_generic_rights() {
        let text = inherits("O:BAG:BAD:(A;OICIIO;GA;;;CO)(D;CI;GW;;;WD)S:(AU;OICISA;FA;;;CG)", true);
        assert_eq!(
            text,
            "O:SYG:SYD:AI(A;ID;FA;;;SY)(A;OICIIOID;GA;;;CO)(D;ID;FW;;;WD)(D;CIIOID;GW;;;WD)\
             S:AI(AU;IDSA;FA;;;SY)(AU;OICIIOIDSA;FA;;;CG)"
        );
    }

    #[test]
    fn what_is_given_is_completed_by_the_parent() {
        let parent = of("O:BAG:BAD:(A;OICI;FA;;;WD)");
        let completed = |text: &str| of(text).completed(&parent, false).to_text().unwrap();
        assert_eq!(completed("O:SYG:SYD:AI(A;;FR;;;BU)"), "O:SYG:SYD:AI(A;;FR;;;BU)(A;ID;FA;;;WD)");
        assert_eq!(completed("O:SYG:SYD:AI(A;ID;FR;;;BU)"), "O:SYG:SYD:AI(A;ID;FA;;;WD)");
        for alone in ["O:SYG:SYD:P(A;;FR;;;BU)", "O:SYG:SYD:NO_ACCESS_CONTROL"] {
            assert_eq!(completed(alone), alone);
        }
        let given = of("O:SYG:SYD:(A;;FR;;;BU)");
        assert_eq!(given.clone().completed(&of("O:BAG:BAD:(A;;FA;;;WD)"), true), given);
    }

    #[test]
    fn what_is_not_known_is_handed_on_as_it_is() {
        let mut parent = of("O:BAG:BAD:");
        let other = Ace { kind: AceKind::Other(9), flags: OBJECT, body: AceBody::Other(vec![1, 2, 3, 4]) };
        parent.dacl.as_mut().unwrap().entries.as_mut().unwrap().push(other.clone());
        let entries = parent.inherited(false).dacl.unwrap().entries.unwrap();
        assert_eq!(entries, [Ace { flags: INHERITED, ..other }]);
    }
}
