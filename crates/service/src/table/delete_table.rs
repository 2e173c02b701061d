//! Delete Table: one commit ends the generation; its entities are swept later.

use lazuli_engine::{Plan, Value};
use lazuli_model::error::ErrorCode;

use super::find;
use crate::fault::{Answer, Fault};
use crate::{Context, Services, key};

#[derive(Clone, Debug)]
pub struct DeleteTable {
    pub table: String,
}

impl DeleteTable {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let name = &self.table;
        services
            .engine()
            .giving_back()
            .run(services.deadline(), |reader| async move {
                // Recorded: it is the resource that is missing here, not the table.
                let fields =
                    find(&reader, &context.account, name).await?.ok_or(ErrorCode::ResourceNotFound)?;
                let mut plan = Plan::new(());
                plan.delete(key::table(&context.account, name));
                plan.put(key::dead_generation(fields.generation), Value::new());
                Ok::<_, Fault>(plan)
            })
            .await
    }
}
