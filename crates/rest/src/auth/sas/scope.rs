//! What a service SAS is signed for, and the name of it that is signed.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Resource, Service};
use lazuli_model::version::{ApiVersion, Feature};

use super::parameters::Parameters;
use super::required;
use crate::auth::refusal::denied;
use crate::file;
use crate::head::Head;
use crate::target::Target;

/// `sr`, or what the service implies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// `sr=b`
    Blob,
    /// `sr=bs`: the snapshot that the request names, not its base
    Snapshot,
    /// `sr=bv`: the version that the request names, not its base
    Version,
    /// `sr=d`: a path of `sdd` segments, and what lies beneath it
    Directory,
    /// `sr=c`, and `sr=s` of files
    Container,
    /// `sr=f`
    File,
    Queue,
    Table,
}

/// Recorded: a token used above the level that it is signed for.
fn wrong_level() -> Failure {
    denied("The specified signed resource is not allowed for this resource level")
}

impl Scope {
    pub fn read(given: &Parameters<'_>, head: &Head, version: ApiVersion) -> Result<Self, Failure> {
        let target = &head.target;
        let inside_container = !target.container.is_empty();
        match target.service {
            Service::Queue if given.sr.is_none() && given.tn.is_none() => {
                if inside_container {
                    Ok(Scope::Queue)
                } else {
                    Err(wrong_level())
                }
            }
            Service::Table if given.sr.is_none() && given.tn.is_some() => Ok(Scope::Table),
            Service::Queue | Service::Table => Err(denied("The signed resource is of another service.")),
            Service::File => match required("sr", given.sr)? {
                "s" if inside_container => Ok(Scope::Container),
                "f" if !target.object.is_empty() => Ok(Scope::File),
                "d" if inside_container && !target.object.is_empty() => Ok(Scope::Directory),
                "s" | "f" | "d" => Err(wrong_level()),
                other => Err(unknown_scope(other)),
            },
            Service::Blob | Service::Dfs => {
                let blob = !target.object.is_empty();
                match required("sr", given.sr)? {
                    "c" if inside_container => Ok(Scope::Container),
                    "b" if blob => Ok(Scope::Blob),
                    "bs" if blob && given.snapshot.is_some() => Ok(Scope::Snapshot),
                    "bv" if blob && given.versionid.is_some() => Ok(Scope::Version),
                    "d" if !version.has(Feature::DirectorySasOnFlatAccounts) => {
                        Err(ErrorCode::DirectorySasNotSupportedVersion.into())
                    }
                    "d" if inside_container => Ok(Scope::Directory),
                    "b" | "bs" | "bv" | "c" | "d" => Err(wrong_level()),
                    other => Err(unknown_scope(other)),
                }
            }
        }
    }

    /// `snapshotTime` of the string-to-sign.
    pub fn snapshot_time<'a>(self, given: &Parameters<'a>) -> &'a str {
        match self {
            Scope::Snapshot => given.snapshot.unwrap_or_default(),
            Scope::Version => given.versionid.unwrap_or_default(),
            _ => "",
        }
    }

    /// The decoded name under which the resource is signed; the account stands in it once, whatever the style.
    pub fn canonical_resource(self, given: &Parameters<'_>, head: &Head) -> Result<String, Failure> {
        let Target { account, container, object, .. } = &head.target;
        Ok(match self {
            Scope::Blob | Scope::Snapshot | Scope::Version => format!("/blob/{account}/{container}/{object}"),
            Scope::Container if head.target.service == Service::File => {
                format!("/file/{account}/{container}")
            }
            Scope::Container => format!("/blob/{account}/{container}"),
            Scope::Directory if head.target.service == Service::File => {
                let path = file::address::meant(head)?;
                match leading(&path, depth(given)?, false)? {
                    // A share has a kind of token of its own.
                    "" => return Err(wrong_level()),
                    path => format!("/file/{account}/{container}/{path}"),
                }
            }
            Scope::Directory => match directory(given, head)? {
                "" => format!("/blob/{account}/{container}"),
                path => format!("/blob/{account}/{container}/{path}"),
            },
            Scope::File => format!("/file/{account}/{container}/{}", file::address::meant(head)?),
            Scope::Queue => format!("/queue/{account}/{container}"),
            Scope::Table => format!("/table/{account}/{}", given.tn.unwrap_or_default().to_lowercase()),
        })
    }
}

fn unknown_scope(sr: &str) -> Failure {
    denied(format!("sr is not valid: '{sr}'"))
}

/// The first `sdd` segments of the path that the request reaches into: the blob's name, or what a listing is
/// limited to. A listing's limit must end a segment, or it would show the neighbours of the directory.
fn directory<'a>(given: &Parameters<'_>, head: &'a Head) -> Result<&'a str, Failure> {
    let depth = depth(given)?;
    let listing =
        !matches!(head.target.resource, Resource::Blob | Resource::Path) && head.target.object.is_empty();
    let path = match (listing, head.target.service) {
        (false, _) => head.target.object.as_str(),
        (true, Service::Dfs) => head.query("directory").unwrap_or_default(),
        (true, _) => head.query("prefix").unwrap_or_default(),
    };
    leading(path, depth, listing && head.target.service != Service::Dfs)
}

fn depth(given: &Parameters<'_>) -> Result<usize, Failure> {
    let depth = given.sdd.and_then(|text| text.parse().ok());
    Ok(depth.ok_or(ErrorCode::QueryParameterSddInvalid)?)
}

/// So many segments of a path. `ended`: a slash must stand behind them.
fn leading(path: &str, depth: usize, ended: bool) -> Result<&str, Failure> {
    if depth == 0 {
        return Ok("");
    }
    let end = match path.match_indices('/').nth(depth - 1) {
        Some((slash, _)) => slash,
        None if ended => return Err(wrong_level()),
        None if path.split('/').count() == depth => path.len(),
        None => return Err(wrong_level()),
    };
    Ok(path.get(..end).unwrap_or_default())
}
