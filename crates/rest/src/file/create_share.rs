//! Create Share.

use lazuli_model::error::Failure;
use lazuli_model::name;
use lazuli_service::file::{CreateShare, NewShare, ShareSettings};

use super::share_headers::{choices, show_choices};
use crate::call::Call;
use crate::decode;
use crate::reply::Reply;

pub async fn create_share(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    name::validate_share(&head.target.container)?;
    let mut settings = ShareSettings::default();
    choices(head)?.apply(&mut settings, None)?;
    let reply = show_choices(Reply::of(call.row), head.version, &settings);
    let new = NewShare { metadata: decode::metadata(head)?, settings };
    let input = CreateShare { share: call.container(), new };
    let stamped = input.execute(&call.services, &call.context).await?;
    Ok(reply.stamped(stamped))
}
