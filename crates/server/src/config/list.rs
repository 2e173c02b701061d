//! Several names in one setting: one text with separators in flags and variables, an array in the file.

use std::convert::Infallible;
use std::str::FromStr;

use serde::Deserialize;

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Written")]
pub struct List(pub Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Array(Vec<String>),
}

impl List {
    fn split(text: &str) -> Self {
        let items = text.split([',', ';']).map(str::trim).filter(|item| !item.is_empty());
        Self(items.map(str::to_owned).collect())
    }
}

impl From<Written> for List {
    fn from(written: Written) -> Self {
        match written {
            Written::Text(text) => Self::split(&text),
            Written::Array(items) => Self(items),
        }
    }
}

impl FromStr for List {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::split(text))
    }
}
