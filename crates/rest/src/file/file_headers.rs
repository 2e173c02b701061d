//! What every read of a file tells of it.

use lazuli_model::admission::lease;
use lazuli_model::time::Timestamp;
use lazuli_model::version::Feature;
use lazuli_service::file::Described;

use super::address::share_snapshot;
use super::path_headers;
use crate::blob::copy_state;
use crate::call::Call;
use crate::headers::{self, name};
use crate::reply::Reply;

/// Its properties, the headers that it keeps for its readers, its lease and its copy. The length and the MD5 depend on what
/// is read. `now` is when the lease is judged.
pub fn describe(call: &Call, found: &Described, now: Timestamp) -> Reply {
    let (record, version) = (&found.record, call.head.version);
    let reply = path_headers::tell(Reply::of(call.row), version, found)
        .header(name::X_MS_SERVER_ENCRYPTED, true)
        .header(headers::X_MS_TYPE, "File")
        .metadata(record.metadata.iter());
    let Some(file) = record.file() else { return reply };
    let (own, instead) = (&file.headers, &call.grant.overrides);
    let reply = reply
        .maybe(name::CONTENT_TYPE, instead.content_type.as_ref().or(own.content_type.as_ref()))
        .maybe(name::CONTENT_ENCODING, instead.content_encoding.as_ref().or(own.content_encoding.as_ref()))
        .maybe(name::CONTENT_LANGUAGE, instead.content_language.as_ref().or(own.content_language.as_ref()))
        .maybe(
            name::CONTENT_DISPOSITION,
            instead.content_disposition.as_ref().or(own.content_disposition.as_ref()),
        )
        .maybe(name::CACHE_CONTROL, instead.cache_control.as_ref().or(own.cache_control.as_ref()));
    let reply = copy_state::show(reply, file.copy.as_ref());
    // What stands in a snapshot has no lease; files had none before they had properties of SMB (recorded).
    if share_snapshot(&call.head).is_some() || !version.has(Feature::SmbHeaders) {
        return reply;
    }
    let held = file.lease.as_ref();
    let state = lease::state(held, now);
    reply
        .header(headers::X_MS_LEASE_STATUS, state.status())
        .header(headers::X_MS_LEASE_STATE, state.as_str())
        .maybe(headers::X_MS_LEASE_DURATION, lease::reported_duration(held, now))
}
