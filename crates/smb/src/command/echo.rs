//! ECHO (MS-SMB2 2.2.28): is anybody there.

use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;

pub fn perform(call: &Call) -> Result<Reply, Failure> {
    call.body(4)?;
    Ok(Reply::done())
}
