//! One account SAS for everything: no request has to be signed, and none depends on the server's clock.

use std::net::SocketAddr;
use std::sync::OnceLock;

use lazuli_testing::KEY;
use lazuli_testing::sas::Token;

use crate::wire::Request;

pub use lazuli_testing::ACCOUNT;

const VERSION: &str = "2023-11-03";

pub fn sas() -> &'static str {
    static SAS: OnceLock<String> = OnceLock::new();
    SAS.get_or_init(|| {
        let token = Token::account("bqtf", "sco", "rwdxlacuptf").with("sv", VERSION).with("se", "2199-01-01");
        token.sign_account(KEY).encoded()
    })
}

/// To any of the services: path and query below the account, and the SAS.
pub fn signed(method: &'static str, path: &str, query: &str) -> Request {
    let and = if query.is_empty() { "" } else { "&" };
    Request::new(method, format!("/{ACCOUNT}/{path}?{query}{and}{}", sas())).header("x-ms-version", VERSION)
}

/// The address of a source of the server, with the SAS.
pub fn address(server: SocketAddr, path: &str) -> String {
    format!("http://{server}/{ACCOUNT}/{path}?{}", sas())
}
