//! Delete Container: one commit ends the generation; what it held is swept later.

use lazuli_engine::{Plan, Value};
use lazuli_model::Op;
use lazuli_model::admission::{Kind, Preconditions, admit};
use lazuli_model::error::ErrorCode;

use crate::fault::{Answer, Fault};
use crate::{Context, Services, key, store};

#[derive(Clone, Debug)]
pub struct DeleteContainer {
    pub container: String,
    pub preconditions: Preconditions,
}

impl DeleteContainer {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<()> {
        let input = &self;
        services
            .engine()
            .giving_back()
            .run(services.deadline(), |reader| async move {
                let now = store::now(&reader);
                let found = store::find_container(&reader, &context.account, &input.container).await?;
                let row = Op::DeleteContainer.row();
                let admitted =
                    admit(&row.policy, &input.preconditions, Kind::Container, found, now, context.version)?;
                let (record, permit) = admitted.into_parts();
                let record = record.ok_or(ErrorCode::ContainerNotFound)?;
                let mut plan = Plan::new(());
                store::delete_container(&mut plan, &context.account, &input.container, permit);
                plan.put(key::dead_generation(record.generation), Value::new());
                Ok::<_, Fault>(plan)
            })
            .await
    }
}
