//! Entries of an access control list.

use super::{Sid, rights};
use uuid::Uuid;

/// What an entry does. Of the kinds that text has no plain form for, the number is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AceKind {
    Allow,
    Deny,
    Audit,
    Alarm,
    ObjectAllow,
    ObjectDeny,
    ObjectAudit,
    ObjectAlarm,
    MandatoryLabel,
    ScopedPolicy,
    Other(u8),
}

const KINDS: [(AceKind, u8, &str); 10] = [
    (AceKind::Allow, 0x00, "A"),
    (AceKind::Deny, 0x01, "D"),
    (AceKind::Audit, 0x02, "AU"),
    (AceKind::Alarm, 0x03, "AL"),
    (AceKind::ObjectAllow, 0x05, "OA"),
    (AceKind::ObjectDeny, 0x06, "OD"),
    (AceKind::ObjectAudit, 0x07, "OU"),
    (AceKind::ObjectAlarm, 0x08, "OL"),
    (AceKind::MandatoryLabel, 0x11, "ML"),
    (AceKind::ScopedPolicy, 0x13, "SP"),
];

impl AceKind {
    pub const fn is_object(self) -> bool {
        matches!(self, Self::ObjectAllow | Self::ObjectDeny | Self::ObjectAudit | Self::ObjectAlarm)
    }

    pub fn number(self) -> u8 {
        match self {
            Self::Other(number) => number,
            _ => KINDS.iter().find(|(kind, ..)| *kind == self).map_or(0, |(_, number, _)| *number),
        }
    }

    pub fn of_number(number: u8) -> Self {
        KINDS.iter().find(|(_, own, _)| *own == number).map_or(Self::Other(number), |(kind, ..)| *kind)
    }
}

/// How an entry is inherited, and what an audit looks at.
const FLAGS: [(&str, u8); 7] =
    [("OI", 0x01), ("CI", 0x02), ("NP", 0x04), ("IO", 0x08), ("ID", 0x10), ("SA", 0x40), ("FA", 0x80)];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ace {
    pub kind: AceKind,
    pub flags: u8,
    pub body: AceBody,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AceBody {
    Known {
        mask: u32,
        /// Of object entries.
        object: Option<Uuid>,
        inherited_object: Option<Uuid>,
        sid: Sid,
    },
    /// Of the other kinds: their bytes.
    Other(Vec<u8>),
}

impl Ace {
    /// What stands between two parentheses.
    pub fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split(';').map(str::trim);
        let mut next = || fields.next();
        let (kind, flags, mask) = (next()?, next()?, next()?);
        let (object, inherited, sid) = (next()?, next()?, next()?);
        if fields.next().is_some() {
            return None;
        }
        let kind =
            KINDS.iter().find(|(_, _, name)| name.eq_ignore_ascii_case(kind)).map(|(kind, ..)| *kind)?;
        let guid = |text: &str| match text {
            "" => Some(None),
            text if kind.is_object() => Uuid::try_parse(text).ok().map(Some),
            _ => None,
        };
        Some(Self {
            kind,
            flags: parse_flags(flags)?,
            body: AceBody::Known {
                mask: rights::parse(mask, kind)?,
                object: guid(object)?,
                inherited_object: guid(inherited)?,
                sid: Sid::parse(sid)?,
            },
        })
    }

    /// With its parentheses. `None` for what text cannot express.
    pub fn print(&self) -> Option<String> {
        let (_, _, name) = KINDS.iter().find(|(kind, ..)| *kind == self.kind)?;
        let AceBody::Known { mask, object, inherited_object, sid } = &self.body else { return None };
        let flags: String =
            FLAGS.iter().filter(|(_, bit)| self.flags & bit != 0).map(|(name, _)| *name).collect();
        let known = FLAGS.iter().fold(0, |known, (_, bit)| known | bit);
        if self.flags & !known != 0 {
            return None;
        }
        let guid = |guid: &Option<Uuid>| guid.map(|guid| guid.to_string()).unwrap_or_default();
        let mask = rights::print(*mask, self.kind);
        Some(format!("({name};{flags};{mask};{};{};{sid})", guid(object), guid(inherited_object)))
    }
}

fn parse_flags(text: &str) -> Option<u8> {
    let mut flags = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (name, behind) = rest.split_at_checked(2)?;
        flags |= FLAGS.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, bit)| *bit)?;
        rest = behind;
    }
    Some(flags)
}
