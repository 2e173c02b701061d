//! Query Entities with both keys in the address: one entity or none.

use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;

use super::{Entity, check_key_length};
use crate::fault::Answer;
use crate::store::View;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct GetEntity {
    pub table: String,
    pub partition: String,
    pub row: String,
}

impl GetEntity {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Entity> {
        let input = &self;
        services.read(context, |view| async move { input.read(&view).await }).await
    }

    async fn read(&self, view: &View) -> Answer<Entity> {
        view.table(&self.table).await?.admit(policy::GetEntity, &())?.present()?;
        check_key_length(&self.partition)?;
        check_key_length(&self.row)?;
        // No stored key has a control character; one here must not reach into a neighbour's key.
        if self.partition.contains('\0') || self.row.contains('\0') {
            return Err(ErrorCode::ResourceNotFound.into());
        }
        view.entity(&self.table, &self.partition, &self.row).await
    }
}
