//! Get Share Properties, Get Share Metadata, Get Share ACL: one read of the record.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::Judged;
use lazuli_model::time::Timestamp;

use super::{ShareAddress, ShareRecord};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct GetShareProperties {
    pub at: ShareAddress,
    pub preconditions: Preconditions,
}

impl GetShareProperties {
    /// The share or its snapshot, and the moment at which its lease is to be judged.
    pub async fn execute(
        self,
        services: &Services,
        context: &Context,
        op: impl Judged,
    ) -> Answer<(ShareRecord, Timestamp)> {
        let view = services.view(context).await?;
        let found = view.share(&self.at).await?;
        Ok((found.admit(op, &self.preconditions)?.into_record()?, view.now()))
    }
}
