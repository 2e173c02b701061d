//! Create Table.

use lazuli_engine::Plan;
use lazuli_model::error::ErrorCode;
use lazuli_model::name::validate_table;

use super::find;
use crate::fault::{Answer, Fault};
use crate::key::{self, Generation};
use crate::record::Record;
use crate::record::table::TableRecord;
use crate::{Context, Services, store};

#[derive(Clone, Debug)]
pub struct CreateTable {
    pub table: String,
}

impl CreateTable {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        validate_table(&self.table)?;
        let name = &self.table;
        services
            .engine()
            .run(services.deadline(), |reader| async move {
                if find(&reader, &context.account, name).await?.is_some() {
                    return Err(ErrorCode::TableAlreadyExists.into());
                }
                let now = store::now(&reader);
                let fields = TableRecord {
                    name: name.clone(),
                    generation: Generation::new(now.0, rand::random()),
                    created: now,
                    policies: Vec::new(),
                };
                let mut plan = Plan::new(());
                plan.put(key::table(&context.account, name), fields.encode());
                Ok::<_, Fault>(plan)
            })
            .await
    }
}
