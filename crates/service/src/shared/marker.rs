//! Where a listing goes on: opaque to clients, made of the last thing listed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// Behind this name; `ticks` tells a snapshot, all ones stand for the name itself.
    Name { name: String, ticks: u64 },
    /// Behind everything with this prefix.
    Group(String),
}

const NAME: &str = "2!";
const GROUP: &str = "3!";

impl Position {
    pub fn encode(&self) -> String {
        match self {
            Self::Name { name, ticks } => {
                let mut bytes = ticks.to_be_bytes().to_vec();
                bytes.extend_from_slice(name.as_bytes());
                format!("{NAME}{}", URL_SAFE_NO_PAD.encode(bytes))
            }
            Self::Group(prefix) => format!("{GROUP}{}", URL_SAFE_NO_PAD.encode(prefix)),
        }
    }

    /// None for a text that no listing gave.
    pub fn decode(text: &str) -> Option<Self> {
        if let Some(text) = text.strip_prefix(NAME) {
            let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
            let (ticks, name) = bytes.split_at_checked(8)?;
            let ticks = u64::from_be_bytes(ticks.try_into().ok()?);
            return Some(Self::Name { name: String::from_utf8(name.to_vec()).ok()?, ticks });
        }
        let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(GROUP)?).ok()?;
        String::from_utf8(bytes).ok().map(Self::Group)
    }
}
