//! LOGOFF (MS-SMB2 2.2.7): everything that the session has ends with it, but durable opens, which another one may take up.

use std::sync::Arc;

use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::server::session::End;

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    call.body(4)?;
    let session = Arc::clone(call.session()?);
    call.connection.server.end_session(&session, End::Lost).await;
    Ok(Reply::done())
}
