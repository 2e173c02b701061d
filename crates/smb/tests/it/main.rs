//! SMB from outside: published examples of its cryptography, and a raw client that says what no proper client would.

mod client;
mod logon;
mod matrix;
mod mutations;
mod server;
mod vectors;
