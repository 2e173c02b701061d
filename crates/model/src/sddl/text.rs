//! Security descriptors as text: `O:...G:...D:...S:...`.

use super::{Ace, Acl, DESCRIPTOR_MAX, SecurityDescriptor, Sid};

const NO_ACCESS_CONTROL: &str = "NO_ACCESS_CONTROL";

/// Each part at most once, in any order; at least one.
pub fn parse(text: &str) -> Option<SecurityDescriptor> {
    if text.len() > DESCRIPTOR_MAX {
        return None;
    }
    let mut found = SecurityDescriptor::default();
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (letter, behind) = rest.split_once(':')?;
        let (part, next) = behind.split_at_checked(end_of_part(behind))?;
        let part = part.trim();
        let fresh = match letter.trim() {
            "O" | "o" => found.owner.replace(Sid::parse(part)?).is_none(),
            "G" | "g" => found.group.replace(Sid::parse(part)?).is_none(),
            "D" | "d" => found.dacl.replace(acl(part)?).is_none(),
            "S" | "s" => found.sacl.replace(acl(part)?).is_none(),
            _ => false,
        };
        if !fresh {
            return None;
        }
        rest = next.trim_start();
    }
    Some(found)
}

/// Up to the letter before the next colon, outside of parentheses.
fn end_of_part(text: &str) -> usize {
    let mut depth = 0usize;
    let mut letter = text.len();
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => return letter,
            _ => {}
        }
        if depth == 0 && !c.is_whitespace() {
            letter = at;
        }
    }
    text.len()
}

fn acl(text: &str) -> Option<Acl> {
    let (flags, entries) = text.split_at(text.find('(').unwrap_or(text.len()));
    let mut list = Acl { entries: Some(Vec::new()), ..Acl::NULL };
    let mut rest = flags.trim();
    while !rest.is_empty() {
        let mut take = |word: &str| {
            let found = rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
            rest = if found { rest.get(word.len()..).unwrap_or_default().trim_start() } else { rest };
            found
        };
        // The longest first: `AR` and `AI` begin alike, and `NO_ACCESS_CONTROL` holds other flags.
        if take(NO_ACCESS_CONTROL) {
            list.entries = None;
        } else if take("AR") {
            list.auto_inherit_required = true;
        } else if take("AI") {
            list.auto_inherited = true;
        } else if take("P") {
            list.protected = true;
        } else {
            return None;
        }
    }
    let mut rest = entries.trim();
    while !rest.is_empty() {
        let (entry, behind) = rest.strip_prefix('(')?.split_once(')')?;
        // A list that controls nothing has no entries.
        list.entries.as_mut()?.push(Ace::parse(entry)?);
        rest = behind.trim_start();
    }
    Some(list)
}

/// `None` if an entry has no form in text.
pub fn print(descriptor: &SecurityDescriptor) -> Option<String> {
    let SecurityDescriptor { owner, group, dacl, sacl } = descriptor;
    let mut text = String::with_capacity(256);
    for (letter, sid) in [("O:", owner), ("G:", group)] {
        if let Some(sid) = sid {
            text.push_str(letter);
            text.push_str(&sid.to_string());
        }
    }
    for (letter, acl) in [("D:", dacl), ("S:", sacl)] {
        let Some(Acl { protected, auto_inherit_required, auto_inherited, entries }) = acl else { continue };
        text.push_str(letter);
        for (flag, word) in [(protected, "P"), (auto_inherit_required, "AR"), (auto_inherited, "AI")] {
            text.push_str(if *flag { word } else { "" });
        }
        match entries {
            None => text.push_str(NO_ACCESS_CONTROL),
            Some(entries) => {
                for entry in entries {
                    text.push_str(&entry.print()?);
                }
            }
        }
    }
    Some(text)
}
