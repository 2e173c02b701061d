//! Query Entities.

use lazuli_model::odata::Filter;

use super::{Entity, KeyLimits};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct QueryEntities {
    pub table: String,
    pub filter: Option<Filter>,
    pub top: usize,
    /// The first keys to look at, as [`EntityPage::next`] named them.
    pub from: Option<(String, String)>,
    pub limits: KeyLimits,
    /// A page ends with the entity that reaches so many bytes.
    pub max_bytes: usize,
}

#[derive(Clone, Debug, Default)]
pub struct EntityPage {
    pub entities: Vec<Entity>,
    pub next: Option<(String, String)>,
}

impl QueryEntities {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<EntityPage> {
        services.view(context).await?.query_entities(self).await
    }
}
