//! FLUSH (MS-SMB2 3.3.5.11).

use super::refusal::status;
use crate::server::answer::{Failure, Reply};
use crate::server::call::{Call, skip};
use crate::server::open::Opened;

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    let mut at = call.body(24)?;
    skip(&mut at, 6)?;
    let id = call.take_file_id(&mut at)?;
    let open = call.open(id).await?;
    if let Opened::File(file) = &open.what {
        file.file.flush().await.map_err(status)?;
    }
    Ok(Reply { file: Some(id), ..Reply::done() })
}
