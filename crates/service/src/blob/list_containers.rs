//! List Containers.

use lazuli_model::time::Timestamp;

use crate::fault::Answer;
use crate::shared::marker::Position;
use crate::store::ContainerRecord;
use crate::{Context, Services};

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
        let view = services.view(context).await?;
        let (items, next) = view.containers(&self).await?;
        Ok(ContainerList { items, next, now: view.now() })
    }
}
