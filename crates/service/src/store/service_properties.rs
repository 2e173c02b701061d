//! The properties of an account's services. The last writer wins: nothing guards them.

use lazuli_model::operation::{Mode, Service};

use super::key;
use super::record::Record;
use super::unit::{Changes as _, Unit};
use crate::fault::Answer;
use lazuli_model::service_properties::ServiceProperties;

pub(super) fn letter(service: Service) -> u8 {
    match service {
        Service::Blob | Service::Dfs => b'b',
        Service::Queue => b'q',
        Service::Table => b't',
        Service::File => b'f',
    }
}

impl<M: Mode> Unit<M> {
    /// The properties of a service of the unit's account; those of a new account where none were set.
    pub async fn service_properties(&self, service: Service) -> Answer<ServiceProperties> {
        match self.reader().get(key::service_properties(self.account(), letter(service))).await? {
            Some(entry) => Ok(ServiceProperties::decode(&entry.value)?),
            None => Ok(ServiceProperties::default()),
        }
    }
}

impl Unit {
    pub fn put_service_properties(&mut self, service: Service, properties: &ServiceProperties) {
        let key = key::service_properties(self.account(), letter(service));
        self.put(key, properties.encode());
    }
}
