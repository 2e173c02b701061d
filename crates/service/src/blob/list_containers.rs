//! List Containers.

use lazuli_model::blob::SoftDeletion;
use lazuli_model::time::Timestamp;

use crate::fault::Answer;
use crate::shared::marker::Position;
use crate::store::ContainerRecord;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct ListContainers {
    pub prefix: String,
    /// Soft-deleted containers too.
    pub deleted: bool,
    pub marker: Option<Position>,
    pub max_results: usize,
    /// What the page may take in memory.
    pub max_bytes: usize,
}

#[derive(Clone, Debug)]
pub struct ListedContainer {
    pub name: String,
    pub container: ContainerRecord,
    /// Of a soft-deleted one: which of its name it is, and until when it can be restored.
    pub deleted: Option<(Timestamp, SoftDeletion)>,
}

impl ListedContainer {
    /// Deleted ones of a name come before the one that has it now.
    pub(crate) fn order(&self) -> (&str, u64) {
        (&self.name, self.deleted.map_or(u64::MAX, |(version, _)| version.0))
    }

    /// Where a page that ends with this goes on.
    pub fn position(&self) -> Position {
        let (name, ticks) = self.order();
        Position::Name { name: name.to_owned(), ticks }
    }
}

#[derive(Clone, Debug)]
pub struct ContainerList {
    pub items: Vec<ListedContainer>,
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
