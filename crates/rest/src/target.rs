//! Which account, service and resource a request addresses, in path style and in host style.

use std::net::IpAddr;

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::name;
use lazuli_model::operation::{Resource, Service};
use percent_encoding::percent_decode_str;

use crate::dfs;
use crate::query::Query;

/// What the URL names. Names are decoded; the raw path is kept in [`crate::head::Head`] for signing.
#[derive(Clone, Debug)]
pub struct Target {
    pub service: Service,
    pub account: String,
    /// The read-only secondary of the account was addressed.
    pub secondary: bool,
    pub path_style: bool,
    pub resource: Resource,
    /// Container, queue, table or share.
    pub container: String,
    /// Blob name, path of a directory or file, message id, or what stands behind a table's name (keys between the
    /// parentheses, raw but decoded).
    pub object: String,
}

const SECONDARY: &str = "-secondary";

impl Target {
    /// `listener` is the service of the port that the request came in by; a host-style name overrides it.
    pub fn parse(listener: Service, host: &str, raw_path: &str, query: &Query) -> Result<Self, Failure> {
        let (service, account, rest, path_style) = match host_style(host) {
            Some((service, account)) => {
                (service, account.to_owned(), raw_path.trim_start_matches('/'), false)
            }
            None => {
                let path = raw_path.strip_prefix('/').unwrap_or(raw_path);
                let (account, rest) = path.split_once('/').unwrap_or((path, ""));
                (dfs::service_of(listener, query), decode(account)?, rest, true)
            }
        };
        let (account, secondary) = match account.strip_suffix(SECONDARY) {
            Some(primary) => (primary.to_owned(), true),
            None => (account, false),
        };
        if account.is_empty() {
            return Err(ErrorCode::InvalidUri.into());
        }
        // Host style keeps leading slashes of blob names: only the first slash of the path separates.
        let rest = if path_style { rest } else { raw_path.strip_prefix('/').unwrap_or(rest) };
        let (resource, container, object) = match service {
            Service::Blob | Service::Dfs => blob_resource(rest, query)?,
            Service::Queue => queue_resource(rest)?,
            Service::Table => table_resource(rest)?,
            Service::File => file_resource(rest, query)?,
        };
        Ok(Self { service, account, secondary, path_style, resource, container, object })
    }
}

/// `ACCOUNT.SERVICE.anything` is host style; addresses, single labels and other names are path style.
fn host_style(host: &str) -> Option<(Service, &str)> {
    let name = host_name(host)?;
    let (account, rest) = name.split_once('.')?;
    let (service, behind) = rest.split_once('.')?;
    if account.is_empty() || behind.is_empty() {
        return None;
    }
    let service = match service.to_ascii_lowercase().as_str() {
        "blob" => Service::Blob,
        "queue" => Service::Queue,
        "table" => Service::Table,
        "file" => Service::File,
        "dfs" => Service::Dfs,
        _ => return None,
    };
    Some((service, account))
}

/// The name of a host without its port; `None` for an address.
pub(crate) fn host_name(host: &str) -> Option<&str> {
    let name = strip_port(host);
    (!name.starts_with('[') && name.parse::<IpAddr>().is_err()).then_some(name)
}

fn strip_port(host: &str) -> &str {
    if host.starts_with('[') {
        return host.split_inclusive(']').next().unwrap_or(host);
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

pub(crate) fn blob_resource(path: &str, query: &Query) -> Result<(Resource, String, String), Failure> {
    if path.is_empty() {
        return Ok((Resource::Account, String::new(), String::new()));
    }
    let (container, blob) = match path.split_once('/') {
        Some((container, blob)) => (container, Some(blob)),
        None => (path, None),
    };
    let container = decode_segment(container)?;
    match blob {
        Some(blob) if !blob.is_empty() => {
            let blob = blob_name(decode(blob)?)?;
            Ok((Resource::Blob, container, blob))
        }
        _ => {
            // A single segment is a container when the query says so, else a blob in the root container.
            let restype = query.given("restype").is_some_and(|value| {
                value.eq_ignore_ascii_case("container") || value.eq_ignore_ascii_case("account")
            });
            if restype || query.given("resource").is_some() || blob.is_some() {
                Ok((Resource::Container, container, String::new()))
            } else {
                Ok((Resource::Blob, "$root".to_owned(), blob_name(container)?))
            }
        }
    }
}

/// A backslash in a blob's name is a slash: stored, listed and addressed so (recorded).
fn blob_name(decoded: String) -> Result<String, Failure> {
    let name = if decoded.contains('\\') { decoded.replace('\\', "/") } else { decoded };
    name::validate_blob(&name)?;
    Ok(name)
}

fn queue_resource(path: &str) -> Result<(Resource, String, String), Failure> {
    let mut segments = path.trim_end_matches('/').splitn(3, '/');
    let queue = decode_segment(segments.next().unwrap_or(""))?;
    if queue.is_empty() {
        return Ok((Resource::Account, queue, String::new()));
    }
    match (segments.next(), segments.next()) {
        (None, _) => Ok((Resource::Queue, queue, String::new())),
        (Some(word), None) if word.eq_ignore_ascii_case("messages") => {
            Ok((Resource::Messages, queue, String::new()))
        }
        (Some(word), Some(id)) if word.eq_ignore_ascii_case("messages") => {
            Ok((Resource::Message, queue, decode_segment(id)?))
        }
        _ => Err(ErrorCode::InvalidUri.into()),
    }
}

pub(crate) fn table_resource(path: &str) -> Result<(Resource, String, String), Failure> {
    let path = decode(path.trim_end_matches('/'))?;
    if path.is_empty() {
        return Ok((Resource::Account, String::new(), String::new()));
    }
    if path.eq_ignore_ascii_case("$batch") {
        return Ok((Resource::Batch, String::new(), String::new()));
    }
    let (name, keys) = match path.split_once('(') {
        Some((name, keys)) => {
            let keys = keys.strip_suffix(')').ok_or(ErrorCode::InvalidUri)?;
            (name.to_owned(), keys.trim().to_owned())
        }
        None => (path, String::new()),
    };
    if name.eq_ignore_ascii_case("Tables") {
        let resource = if keys.is_empty() { Resource::Tables } else { Resource::Table };
        return Ok((resource, String::new(), keys));
    }
    let resource = if keys.is_empty() { Resource::EntitySet } else { Resource::Entity };
    Ok((resource, name, keys))
}

/// The name of a share alone is its root directory, unless the query says that the share itself is meant. Whether the
/// names of a path are good depends on what the request says of their dots: see [`crate::file::address`].
fn file_resource(path: &str, query: &Query) -> Result<(Resource, String, String), Failure> {
    if path.is_empty() {
        return Ok((Resource::Account, String::new(), String::new()));
    }
    let (share, path) = path.split_once('/').unwrap_or((path, ""));
    let share = decode_segment(share)?;
    if share.is_empty() {
        return Err(ErrorCode::InvalidUri.into());
    }
    let path = decode(path.strip_suffix('/').unwrap_or(path))?;
    let of_share = query.given("restype").is_some_and(|value| value.eq_ignore_ascii_case("share"));
    let resource = if path.is_empty() && of_share { Resource::Share } else { Resource::Path };
    Ok((resource, share, path))
}

/// A segment that must not hide a separator: `%2F` in a container's name would move the boundary.
fn decode_segment(segment: &str) -> Result<String, Failure> {
    let name = decode(segment)?;
    if name.contains('/') { Err(ErrorCode::InvalidUri.into()) } else { Ok(name) }
}

fn decode(text: &str) -> Result<String, Failure> {
    if !text.bytes().any(|byte| matches!(byte, b'%' | 0)) {
        return Ok(text.to_owned());
    }
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| Failure::from(ErrorCode::InvalidUri))?;
    if decoded.contains('\0') {
        return Err(ErrorCode::InvalidUri.into());
    }
    Ok(decoded.into_owned())
}

#[cfg(test)]
mod tests;
