//! Get Symbolic Link: the text of one.

use lazuli_model::admission::Preconditions;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;

use super::{FileAddress, PathBody};
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct GetSymbolicLink {
    pub at: FileAddress,
    pub preconditions: Preconditions,
}

impl GetSymbolicLink {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<(Stamped, String)> {
        let view = services.view(context).await?;
        let found = view.path(&self.at).await?.admit(policy::GetSymbolicLink, &self.preconditions)?;
        let record = found.present()?.into_record().record;
        let stamped = record.stamped();
        match record.body {
            PathBody::SymbolicLink { target } => Ok((stamped, target)),
            _ => Err(ErrorCode::ResourceTypeMismatch.into()),
        }
    }
}
