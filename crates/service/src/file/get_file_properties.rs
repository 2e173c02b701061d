//! Get File Properties, Get File Metadata: one read of the record.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::Judged;
use lazuli_model::time::Timestamp;

use super::{Described, FileAddress};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct GetFileProperties {
    pub at: FileAddress,
    pub preconditions: Preconditions,
}

impl GetFileProperties {
    /// The file, and the moment at which its lease is to be judged.
    pub async fn execute(
        self,
        services: &Services,
        context: &Context,
        op: impl Judged,
    ) -> Answer<(Described, Timestamp)> {
        let input = &self;
        services
            .look(context, |view| async move {
                let found = view.path(&input.at).await?;
                let file = found.admit(op, &input.preconditions)?.file_or_link()?;
                Ok((file.described(), view.now()))
            })
            .await
    }
}
