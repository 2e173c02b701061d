//! Conditional headers, as sent, for admission to judge.

use lazuli_model::admission::{LeaseId, Preconditions, SequenceConditions};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::etag::ETagCondition;
use lazuli_model::operation::{Conditions, LeaseUse, Op, Row, Rule, Source};
use lazuli_model::smb::{FileAttributes, Wish};
use lazuli_model::tags::TagExpression;
use lazuli_model::time::Timestamp;

use crate::decode;
use crate::file::smb_headers;
use crate::head::Head;
use crate::headers::{self, spelled};

/// The names under which one family of conditions comes.
struct Family {
    if_match: &'static str,
    if_none_match: &'static str,
    if_modified_since: &'static str,
    if_unmodified_since: &'static str,
    if_tags: &'static str,
}

const HTTP: Family = Family {
    if_match: headers::IF_MATCH,
    if_none_match: headers::IF_NONE_MATCH,
    if_modified_since: headers::IF_MODIFIED_SINCE,
    if_unmodified_since: headers::IF_UNMODIFIED_SINCE,
    if_tags: headers::X_MS_IF_TAGS,
};

/// Get and Set Blob Tags.
const BLOB_PREFIXED: Family = Family {
    if_match: headers::X_MS_BLOB_IF_MATCH,
    if_none_match: headers::X_MS_BLOB_IF_NONE_MATCH,
    if_modified_since: headers::X_MS_BLOB_IF_MODIFIED_SINCE,
    if_unmodified_since: headers::X_MS_BLOB_IF_UNMODIFIED_SINCE,
    if_tags: headers::X_MS_IF_TAGS,
};

const SOURCE: Family = Family {
    if_match: headers::X_MS_SOURCE_IF_MATCH,
    if_none_match: headers::X_MS_SOURCE_IF_NONE_MATCH,
    if_modified_since: headers::X_MS_SOURCE_IF_MODIFIED_SINCE,
    if_unmodified_since: headers::X_MS_SOURCE_IF_UNMODIFIED_SINCE,
    if_tags: headers::X_MS_SOURCE_IF_TAGS,
};

/// Conditions on what the request addresses. The four HTTP ones are read for every operation: whether one that
/// the row does not take is ignored or refused is for admission to say.
pub fn target(head: &Head, row: &Row) -> Result<Preconditions, Failure> {
    let takes = |condition| row.policy.conditions.has(condition);
    let family = if takes(Conditions::BLOB_PREFIXED) { BLOB_PREFIXED } else { HTTP };
    let mut given = family.read(head, row.policy.rule, takes(Conditions::TAGS))?;
    if row.policy.lease != LeaseUse::None {
        given.lease_id = lease_id(head, lease_header(row))?;
    }
    if takes(Conditions::SEQUENCE) {
        given.sequence_number = SequenceConditions {
            at_most: sequence_number(head, headers::X_MS_IF_SEQUENCE_NUMBER_LE, row)?,
            below: sequence_number(head, headers::X_MS_IF_SEQUENCE_NUMBER_LT, row)?,
            equal: sequence_number(head, headers::X_MS_IF_SEQUENCE_NUMBER_EQ, row)?,
        };
    }
    if takes(Conditions::APPEND_POSITION) {
        given.append_position = head.number(headers::X_MS_BLOB_CONDITION_APPENDPOS)?;
    }
    if takes(Conditions::MAX_SIZE) {
        given.max_size = head.number(headers::X_MS_BLOB_CONDITION_MAXSIZE)?;
        given.added_length = head.content_length()?.unwrap_or(0);
    }
    if takes(Conditions::TIER_TIME) {
        given.tier_if_modified_since =
            date(head, headers::X_MS_ACCESS_TIER_IF_MODIFIED_SINCE, row.policy.rule)?;
        given.tier_if_unmodified_since =
            date(head, headers::X_MS_ACCESS_TIER_IF_UNMODIFIED_SINCE, row.policy.rule)?;
    }
    of_files(head, row, &mut given)?;
    Ok(given)
}

/// What opens, locks and the read-only attribute of files are judged by.
fn of_files(head: &Head, row: &Row, given: &mut Preconditions) -> Result<(), Failure> {
    match row.op {
        Op::RenameFile | Op::RenameDirectory => {
            given.ignores_read_only = head.flag(headers::X_MS_FILE_RENAME_IGNORE_READONLY)?;
        }
        Op::CopyFile => given.ignores_read_only = head.flag(headers::X_MS_FILE_COPY_IGNORE_READONLY)?,
        // The attribute is taken off by setting others.
        Op::SetFileProperties => {
            let attributes = smb_headers::wishes(head, smb_headers::Use::Set)?.attributes;
            given.ignores_read_only =
                matches!(attributes, Wish::Value(set) if !set.has(FileAttributes::READ_ONLY));
        }
        Op::GetFile => {
            let range = decode::range(head);
            let end = |last: Option<u64>| last.map_or(u64::MAX, |last| last.saturating_add(1));
            given.locked_range = range.map(|range| range.start..end(range.end));
        }
        Op::AcquireFileLease => given.begins_lease = true,
        _ => {}
    }
    Ok(())
}

/// A rename names the lease of what it would replace apart from that of its source.
fn lease_header(row: &Row) -> &'static str {
    match row.op {
        Op::RenameFile | Op::RenameDirectory => headers::X_MS_DESTINATION_LEASE_ID,
        _ => headers::X_MS_LEASE_ID,
    }
}

/// Conditions on the source of a copy.
pub fn source(head: &Head) -> Result<Preconditions, Failure> {
    let given = SOURCE.read(head, Rule::Write, true)?;
    Ok(Preconditions { lease_id: lease_id(head, headers::X_MS_SOURCE_LEASE_ID)?, ..given })
}

impl Family {
    fn read(&self, head: &Head, rule: Rule, with_tags: bool) -> Result<Preconditions, Failure> {
        let tags = head.header(self.if_tags).filter(|_| with_tags);
        Ok(Preconditions {
            if_match: etags(head, self.if_match)?,
            if_none_match: etags(head, self.if_none_match)?,
            if_modified_since: date(head, self.if_modified_since, rule)?,
            if_unmodified_since: date(head, self.if_unmodified_since, rule)?,
            if_tags: tags.map(|text| TagExpression::parse_as(self.if_tags, text)).transpose()?,
            ..Preconditions::default()
        })
    }
}

/// Several lines of one header are one list.
fn etags(head: &Head, name: &'static str) -> Result<Option<ETagCondition>, Failure> {
    if !head.headers.holds(name) {
        return Ok(None);
    }
    let lines: Vec<&str> =
        head.headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    let text = lines.join(",");
    match ETagCondition::parse(&text) {
        // A list without an entry asserts something that cannot be read; only an empty header asserts nothing.
        None if !text.trim().is_empty() => Err(Failure::invalid_header(spelled(name), &text)),
        found => Ok(found),
    }
}

/// A date in one of the three forms of HTTP. Anything else is an error and not, as HTTP wants it, no condition: a write
/// would go through that should not. The service ignores the word `null` in a read, which one client sends.
fn date(head: &Head, name: &'static str, rule: Rule) -> Result<Option<Timestamp>, Failure> {
    let Some(text) = head.header(name) else { return Ok(None) };
    if rule == Rule::Read && text == "null" {
        return Ok(None);
    }
    let parsed = Timestamp::parse_http_date(text);
    parsed.map(Some).ok_or_else(|| Failure::invalid_header(spelled(name), text))
}

/// A lease id is a GUID, whatever the lease says.
pub fn lease_id(head: &Head, name: &'static str) -> Result<Option<LeaseId>, Failure> {
    match head.header(name) {
        None => Ok(None),
        Some(text) => LeaseId::parse(text).map(Some).ok_or_else(|| Failure::invalid_header(name, text)),
    }
}

/// A negative number is InvalidInput where pages are written, an invalid header where they are copied (recorded).
fn sequence_number(head: &Head, name: &'static str, row: &Row) -> Result<Option<u64>, Failure> {
    match head.header(name) {
        Some(text) if text.starts_with('-') && row.policy.source == Source::None => {
            Err(ErrorCode::InvalidInput.into())
        }
        _ => head.number(name),
    }
}

#[cfg(test)]
mod tests;
