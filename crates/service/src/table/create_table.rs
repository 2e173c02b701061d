//! Create Table.

use lazuli_model::name::validate_table;
use lazuli_model::operation::policy;

use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct CreateTable {
    pub table: String,
}

impl CreateTable {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        validate_table(&self.table)?;
        let name = &self.table;
        services
            .commit(context, |unit| async move {
                Ok(unit.table(name).await?.admit(policy::CreateTable, &())?.create()?)
            })
            .await
    }
}
