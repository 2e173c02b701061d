//! Written once, used by all services.

pub(crate) mod by_name;
pub mod marker;
pub mod service_properties;
