//! One file for each command: what it says is read, the service is asked, its answer is written.

mod cancel;
mod change_notify;
mod close;
pub mod contexts;
mod create;
mod create_answer;
mod directory_info;
mod echo;
mod file_info;
mod flush;
mod fs_info;
mod ioctl;
pub mod lock;
mod logoff;
pub mod negotiate;
mod oplock_break;
mod query_directory;
mod query_info;
mod read;
mod refusal;
mod replay;
pub mod session_setup;
mod set_info;
mod shares;
mod tree_connect;
mod tree_disconnect;
mod write;

use crate::server::answer::{Failure, Reply};
use crate::server::call::Call;
use crate::status::NtStatus;
use crate::wire::header::Command;

pub async fn perform(call: &Call) -> Result<Reply, Failure> {
    let Some(command) = call.header.known_command() else { return Err(NtStatus::INVALID_PARAMETER.into()) };
    match command {
        Command::Negotiate => negotiate::perform(call),
        Command::SessionSetup => session_setup::perform(call).await,
        Command::Logoff => logoff::perform(call).await,
        Command::TreeConnect => tree_connect::perform(call).await,
        Command::TreeDisconnect => tree_disconnect::perform(call).await,
        Command::Create => create::perform(call).await,
        Command::Close => close::perform(call).await,
        Command::Flush => flush::perform(call).await,
        Command::Read => read::perform(call).await,
        Command::Write => write::perform(call).await,
        Command::Lock => lock::perform(call).await,
        Command::Ioctl => ioctl::perform(call).await,
        Command::Cancel => cancel::perform(),
        Command::Echo => echo::perform(call),
        Command::QueryDirectory => query_directory::perform(call).await,
        Command::ChangeNotify => change_notify::perform(call).await,
        Command::QueryInfo => query_info::perform(call).await,
        Command::SetInfo => set_info::perform(call).await,
        Command::OplockBreak => oplock_break::perform(call).await,
    }
}

/// An answer whose structure is a size of nine, where its buffer is, and the buffer (QUERY_INFO, QUERY_DIRECTORY,
/// CHANGE_NOTIFY).
fn buffer_reply(buffer: &[u8]) -> Reply {
    use bytes::BufMut;
    let mut body = Vec::with_capacity(8 + buffer.len());
    body.put_u16_le(9);
    body.put_u16_le(if buffer.is_empty() { 0 } else { 72 });
    body.put_u32_le(buffer.len() as u32);
    body.put_slice(buffer);
    Reply::new(body)
}
