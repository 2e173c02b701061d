mod agreement;
mod bounds;
mod parse;
mod reference;
mod value;

use std::collections::BTreeMap;

use super::{EdmValue, Filter};
use crate::time::Timestamp;
use uuid::Uuid;

/// An entity as plain as can be.
type Bag = BTreeMap<String, EdmValue>;

fn ask(filter: &Filter, bag: &Bag) -> bool {
    let slots: Vec<_> = filter.names().iter().map(|name| bag.get(name).map(EdmValue::borrowed)).collect();
    filter.matches(&slots)
}

fn matches(text: &str, bag: &Bag) -> bool {
    ask(&Filter::parse(text).unwrap_or_else(|failure| panic!("{text}: {failure}")), bag)
}
