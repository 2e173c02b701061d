//! Restore Container.

use lazuli_model::error::Failure;
use lazuli_model::time::Timestamp;
use lazuli_service::blob::RestoreContainer;

use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

pub async fn restore_container(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    let version = head.required_header(headers::X_MS_DELETED_CONTAINER_VERSION)?;
    let input = RestoreContainer {
        container: call.container(),
        preconditions: call.preconditions()?,
        deleted: head.required_header(headers::X_MS_DELETED_CONTAINER_NAME)?.to_owned(),
        version: read_version(version)
            .ok_or_else(|| Failure::invalid_header(headers::X_MS_DELETED_CONTAINER_VERSION, version))?,
    };
    input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row))
}

/// The version of a deleted container or share: the moment of its deletion in hexadecimal ticks since 1601 (recorded).
pub fn version(deleted: Timestamp) -> String {
    format!("{:016X}", deleted.0.saturating_sub(Timestamp::YEAR_1601.0))
}

pub fn read_version(text: &str) -> Option<Timestamp> {
    let is_hexadecimal = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let ticks = is_hexadecimal.then(|| u64::from_str_radix(text, 16).ok()).flatten()?;
    ticks.checked_add(Timestamp::YEAR_1601.0).map(Timestamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_moment_of_the_deletion() {
        let recorded = Timestamp::parse_iso("2021-05-11T23:47:12.3243884Z").unwrap();
        assert_eq!(version(recorded), "01D746BFF6C0BF6C");
        assert_eq!(read_version("01D746BFF6C0BF6C"), Some(recorded));
        for text in ["", "1", "01D746BFF6C0BF6", "+1D746BFF6C0BF6C", "FFFFFFFFFFFFFFFF", "01D746BFF6C0BF6Cx"]
        {
            assert_eq!(read_version(text), None, "{text}");
        }
    }
}
