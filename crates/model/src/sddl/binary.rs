//! Security descriptors as bytes, self-relative: a head with offsets, then owner, group and lists. Little-endian.

use super::ace::AceBody;
use super::{Ace, AceKind, Acl, DESCRIPTOR_MAX, SecurityDescriptor, Sid};
use uuid::Uuid;

const HEAD: usize = 20;
const ACL_HEAD: usize = 8;
const ACE_HEAD: usize = 4;

const DACL_PRESENT: u16 = 0x0004;
const SACL_PRESENT: u16 = 0x0010;
const DACL_AUTO_INHERIT_REQUIRED: u16 = 0x0100;
const SACL_AUTO_INHERIT_REQUIRED: u16 = 0x0200;
const DACL_AUTO_INHERITED: u16 = 0x0400;
const SACL_AUTO_INHERITED: u16 = 0x0800;
const DACL_PROTECTED: u16 = 0x1000;
const SACL_PROTECTED: u16 = 0x2000;
const SELF_RELATIVE: u16 = 0x8000;

/// Of the lists: the usual one, and that of lists with object entries.
const REVISION: u8 = 2;
const REVISION_OBJECTS: u8 = 4;

const OBJECT_PRESENT: u32 = 1;
const INHERITED_OBJECT_PRESENT: u32 = 2;

struct Bits {
    present: u16,
    required: u16,
    inherited: u16,
    protected: u16,
}

const DACL: Bits = Bits {
    present: DACL_PRESENT,
    required: DACL_AUTO_INHERIT_REQUIRED,
    inherited: DACL_AUTO_INHERITED,
    protected: DACL_PROTECTED,
};
const SACL: Bits = Bits {
    present: SACL_PRESENT,
    required: SACL_AUTO_INHERIT_REQUIRED,
    inherited: SACL_AUTO_INHERITED,
    protected: SACL_PROTECTED,
};

pub fn parse(bytes: &[u8]) -> Option<SecurityDescriptor> {
    if bytes.len() > DESCRIPTOR_MAX || bytes.first() != Some(&1) {
        return None;
    }
    let control = u16_at(bytes, 2)?;
    if control & SELF_RELATIVE == 0 {
        return None;
    }
    let offset = |at: usize| u32_at(bytes, at).and_then(|offset| usize::try_from(offset).ok());
    let sid = |at: usize| match offset(at)? {
        0 => Some(None),
        start => Sid::from_bytes(bytes.get(start..)?).map(Some),
    };
    let list = |at: usize, bits: &Bits| {
        if control & bits.present == 0 {
            return Some(None);
        }
        let entries = match offset(at)? {
            0 => None,
            start => Some(entries(bytes.get(start..)?)?),
        };
        Some(Some(Acl {
            protected: control & bits.protected != 0,
            auto_inherit_required: control & bits.required != 0,
            auto_inherited: control & bits.inherited != 0,
            entries,
        }))
    };
    Some(SecurityDescriptor {
        owner: sid(4)?,
        group: sid(8)?,
        sacl: list(12, &SACL)?,
        dacl: list(16, &DACL)?,
    })
}

fn entries(bytes: &[u8]) -> Option<Vec<Ace>> {
    if !matches!(bytes.first(), Some(&(REVISION | REVISION_OBJECTS))) {
        return None;
    }
    let bytes = bytes.get(..usize::from(u16_at(bytes, 2)?))?;
    let count = u16_at(bytes, 4)?;
    let mut rest = bytes.get(ACL_HEAD..)?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let size = usize::from(u16_at(rest, 2)?);
        let (entry, behind) = rest.split_at_checked(size)?;
        entries.push(ace(entry)?);
        rest = behind;
    }
    Some(entries)
}

fn ace(bytes: &[u8]) -> Option<Ace> {
    let (&[number, flags, _, _], body) = bytes.split_first_chunk::<ACE_HEAD>()?;
    let kind = AceKind::of_number(number);
    if let AceKind::Other(_) = kind {
        return Some(Ace { kind, flags, body: AceBody::Other(body.to_vec()) });
    }
    let mask = u32_at(body, 0)?;
    let mut rest = body.get(4..)?;
    let (mut object, mut inherited_object) = (None, None);
    if kind.is_object() {
        let present = u32_at(rest, 0)?;
        rest = rest.get(4..)?;
        for (bit, guid) in [(OBJECT_PRESENT, &mut object), (INHERITED_OBJECT_PRESENT, &mut inherited_object)]
        {
            if present & bit != 0 {
                let (bytes, behind) = rest.split_first_chunk::<16>()?;
                *guid = Some(Uuid::from_bytes_le(*bytes));
                rest = behind;
            }
        }
    }
    let sid = Sid::from_bytes(rest)?;
    // What follows the identifier belongs to kinds that are not read here; padding says nothing.
    if rest.get(sid.length()..)?.iter().any(|byte| *byte != 0) {
        return None;
    }
    Some(Ace { kind, flags, body: AceBody::Known { mask, object, inherited_object, sid } })
}

/// `None` if a list is longer than its length can say.
pub fn print(descriptor: &SecurityDescriptor) -> Option<Vec<u8>> {
    let SecurityDescriptor { owner, group, dacl, sacl } = descriptor;
    let mut control = SELF_RELATIVE;
    for (acl, bits) in [(dacl, &DACL), (sacl, &SACL)] {
        let Some(acl) = acl else { continue };
        control |= bits.present;
        for (flag, bit) in [
            (acl.protected, bits.protected),
            (acl.auto_inherit_required, bits.required),
            (acl.auto_inherited, bits.inherited),
        ] {
            control |= if flag { bit } else { 0 };
        }
    }
    let mut out = vec![1, 0];
    out.extend_from_slice(&control.to_le_bytes());
    out.resize(HEAD, 0);
    for (at, acl) in [(12, sacl), (16, dacl)] {
        if let Some(entries) = acl.as_ref().and_then(|acl| acl.entries.as_ref()) {
            point(&mut out, at)?;
            write_entries(&mut out, entries)?;
        }
    }
    for (at, sid) in [(4, owner), (8, group)] {
        if let Some(sid) = sid {
            point(&mut out, at)?;
            sid.write(&mut out);
        }
    }
    (out.len() <= DESCRIPTOR_MAX).then_some(out)
}

/// The offset at this place of the head is where the next byte goes.
fn point(out: &mut [u8], at: usize) -> Option<()> {
    let offset = u32::try_from(out.len()).ok()?;
    out.get_mut(at..at + 4)?.copy_from_slice(&offset.to_le_bytes());
    Some(())
}

fn write_entries(out: &mut Vec<u8>, entries: &[Ace]) -> Option<()> {
    let start = out.len();
    let revision =
        if entries.iter().any(|entry| entry.kind.is_object()) { REVISION_OBJECTS } else { REVISION };
    out.extend_from_slice(&[revision, 0, 0, 0]);
    out.extend_from_slice(&u16::try_from(entries.len()).ok()?.to_le_bytes());
    out.extend_from_slice(&[0, 0]);
    for entry in entries {
        let start = out.len();
        out.extend_from_slice(&[entry.kind.number(), entry.flags, 0, 0]);
        match &entry.body {
            AceBody::Other(bytes) => out.extend_from_slice(bytes),
            AceBody::Known { mask, object, inherited_object, sid } => {
                out.extend_from_slice(&mask.to_le_bytes());
                if entry.kind.is_object() {
                    let bit = |guid: &Option<Uuid>, bit| if guid.is_some() { bit } else { 0 };
                    let present =
                        bit(object, OBJECT_PRESENT) | bit(inherited_object, INHERITED_OBJECT_PRESENT);
                    out.extend_from_slice(&present.to_le_bytes());
                    for guid in [object, inherited_object].into_iter().flatten() {
                        out.extend_from_slice(&guid.to_bytes_le());
                    }
                }
                sid.write(out);
            }
        }
        write_size(out, start)?;
    }
    write_size(out, start)
}

/// Lists and entries tell their size in their third and fourth byte.
fn write_size(out: &mut [u8], start: usize) -> Option<()> {
    let size = u16::try_from(out.len() - start).ok()?;
    out.get_mut(start + 2..start + 4)?.copy_from_slice(&size.to_le_bytes());
    Some(())
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
