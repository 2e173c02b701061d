//! SMB from outside: published examples of its cryptography, and a raw client that says what no proper client would.

mod channels;
mod client;
mod logon;
mod matrix;
mod memory;
mod mutations;
mod patience;
mod proof;
mod server;
mod vectors;
