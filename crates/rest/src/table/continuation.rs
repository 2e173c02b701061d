//! Where a query goes on: `1!length!base64`, `=` written as `-`, as the service writes it.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lazuli_model::error::Failure;

pub fn encode(key: &str) -> String {
    let text = BASE64_STANDARD.encode(key).replace('=', "-").replace('/', "_").replace('+', "*");
    format!("1!{}!{text}", text.len())
}

pub fn decode(name: &str, token: &str) -> Result<String, Failure> {
    let key = || {
        let (length, text) = token.strip_prefix("1!")?.split_once('!')?;
        if length.parse() != Ok(text.len()) {
            return None;
        }
        let text = text.replace('-', "=").replace('_', "/").replace('*', "+");
        String::from_utf8(BASE64_STANDARD.decode(text).ok()?).ok()
    };
    key().ok_or_else(|| Failure::invalid_query(name, token, ""))
}
