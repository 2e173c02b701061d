//! Query Entities with both keys in the address: one entity or none.

use lazuli_model::error::ErrorCode;

use super::{Entity, check_key_length, table};
use crate::fault::Answer;
use crate::record::entity::StoredEntity;
use crate::{Context, Services, key};

#[derive(Clone, Debug)]
pub struct GetEntity {
    pub table: String,
    pub partition: String,
    pub row: String,
}

impl GetEntity {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Entity> {
        let reader = services.engine().reader().await?;
        let fields = table(&reader, &context.account, &self.table).await?;
        check_key_length(&self.partition)?;
        check_key_length(&self.row)?;
        // No stored key has a control character; one here must not reach into a neighbour's key.
        if self.partition.contains('\0') || self.row.contains('\0') {
            return Err(ErrorCode::ResourceNotFound.into());
        }
        let key = key::entity(fields.generation, &self.partition, &self.row);
        let entry = reader.get_untracked(key.clone()).await?.ok_or(ErrorCode::ResourceNotFound)?;
        Entity::load(&reader, key, StoredEntity::decode(&entry.value)?).await
    }
}
