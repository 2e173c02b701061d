//! Written once, used by all services.

pub mod marker;
pub mod service_properties;
