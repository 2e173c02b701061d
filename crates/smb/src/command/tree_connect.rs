//! TREE_CONNECT (MS-SMB2 3.3.5.7): a share of the account that the session logged on as. Two accounts may have shares of
//! one name on the same port.

use bytes::{Buf, BufMut};
use lazuli_model::version::ApiVersion;
use lazuli_service::Context;
use lazuli_service::open_file::{Client, ShareClient};

use super::refusal::status;
use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::server::tree::Share;
use crate::status::NtStatus;
use crate::wire::text::utf16;

const TYPE_DISK: u8 = 1;
const TYPE_PIPE: u8 = 2;
/// The client must not keep what it reads of a pipe.
const FLAG_NO_CACHING: u32 = 0x30;
const ACCESS_ALL: u32 = 0x001F_01FF;
const ACCESS_PIPES: u32 = 0x001F_00A9;
const PATH_BYTES_MAX: usize = 1024;

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    let mut at = call.body(9)?;
    let _flags = at.try_get_u16_le()?;
    let offset = usize::from(at.try_get_u16_le()?);
    let length = usize::from(at.try_get_u16_le()?);
    if length > PATH_BYTES_MAX {
        return Err(NtStatus::INVALID_PARAMETER.into());
    }
    let path = utf16(&call.part(offset, length)?)?;
    let session = call.session()?;
    let name = share_name(&path).ok_or(NtStatus::BAD_NETWORK_NAME)?;
    let (share, kind, flags, access) = if name.eq_ignore_ascii_case("IPC$") {
        (Share::Pipes, TYPE_PIPE, FLAG_NO_CACHING, ACCESS_PIPES)
    } else {
        let client = Client {
            guid: u128::from_le_bytes(session.client_guid),
            session: session.id,
            address: call.connection.peer.to_string(),
            name: None,
            notices: session.notices.clone(),
        };
        let context = Context::of_owner(&session.account, ApiVersion::NEWEST);
        // Names of shares are in lower case; clients may write them otherwise.
        let name = name.to_ascii_lowercase();
        let share = ShareClient::connect(&call.connection.server.services, &context, &name, client).await;
        (Share::Disk(share.map_err(status)?), TYPE_DISK, 0, ACCESS_ALL)
    };
    let tree = session.add_tree(share)?;
    let mut body = Vec::with_capacity(16);
    body.put_u16_le(16);
    body.put_u8(kind);
    body.put_u8(0);
    body.put_u32_le(flags);
    body.put_u32_le(0);
    body.put_u32_le(access);
    Ok(Reply { body, tree_id: Some(tree.id), ..Reply::default() })
}

/// Of `\\server\share`. Whatever the server is called: clients reach it by many names.
fn share_name(path: &str) -> Option<&str> {
    let (server, share) = path.strip_prefix("\\\\")?.split_once('\\')?;
    (!server.is_empty() && !share.is_empty() && !share.contains('\\')).then_some(share)
}
