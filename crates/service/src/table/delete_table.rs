//! Delete Table: one commit ends the generation; its entities are swept later.

use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;

use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct DeleteTable {
    pub table: String,
}

impl DeleteTable {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let name = &self.table;
        services
            .giving_back()
            .commit(context, |unit| async move {
                let found = unit.table(name).await?;
                // Recorded: it is the resource that is missing here, not the table.
                found.record().ok_or(ErrorCode::ResourceNotFound)?;
                found.admit(policy::DeleteTable, &())?.present()?.delete();
                Ok(())
            })
            .await
    }
}
