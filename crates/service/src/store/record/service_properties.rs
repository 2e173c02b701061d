//! Service properties are stored as the model has them.

use lazuli_model::service_properties::ServiceProperties;

use super::{Record, stored};

impl Record for ServiceProperties {
    const NAME: &'static str = "service properties";
    type Newest = stored::service_properties::ServicePropertiesV2;
}
