//! Who a client is: NTLM version 2 inside SPNEGO, or bare. The user is a storage account, the password one of its keys.

pub mod logon;
pub mod ntlm;
pub mod spnego;
pub mod throttle;
pub mod users;
