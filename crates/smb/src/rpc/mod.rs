//! Remote procedure calls over the pipes of `IPC$`: enough of DCE/RPC for clients to ask which shares there are.

pub mod ndr;
pub mod pdu;
pub mod pipe;
pub mod srvsvc;
