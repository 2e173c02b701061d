//! List Containers.

use lazuli_model::time::Timestamp;

use crate::fault::Answer;
use crate::record::container::ContainerRecord;
use crate::shared::by_name::ByName;
use crate::shared::marker::Position;
use crate::{Context, Services, key, store};

#[derive(Clone, Debug)]
pub struct ListContainers {
    pub prefix: String,
    pub marker: Option<Position>,
    pub max_results: usize,
    /// What the page may take in memory.
    pub max_bytes: usize,
}

#[derive(Clone, Debug)]
pub struct ContainerList {
    pub items: Vec<(String, ContainerRecord)>,
    pub next: Option<Position>,
    /// The moment at which leases are to be judged.
    pub now: Timestamp,
}

impl ListContainers {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<ContainerList> {
        let reader = services.engine().reader().await?;
        let listing = ByName {
            space: key::containers(&context.account),
            prefix: &self.prefix,
            marker: self.marker.as_ref(),
            max_results: self.max_results,
            max_bytes: self.max_bytes,
        };
        let (items, next) = listing.page(&reader).await?;
        Ok(ContainerList { items, next, now: store::now(&reader) })
    }
}
