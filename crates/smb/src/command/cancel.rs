//! CANCEL is carried out where frames are taken apart, for it is never answered (MS-SMB2 3.3.5.16).

use crate::server::answer::{Failure, Reply};
use crate::status::NtStatus;

pub fn perform() -> Result<Reply, Failure> {
    Err(NtStatus::INVALID_PARAMETER.into())
}
