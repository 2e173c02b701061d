//! List Directories and Files: what stands in one directory.

use lazuli_model::admission::Preconditions;
use lazuli_model::error::ErrorCode;
use lazuli_model::operation::policy;

use super::{Described, DirectoryPage, FileAddress};
use crate::fault::Answer;
use crate::shared::marker::Position;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct ListDirectoriesAndFiles {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    pub prefix: String,
    pub marker: Option<Position>,
    pub max_results: usize,
    /// What the page may take in memory.
    pub max_bytes: usize,
}

impl ListDirectoriesAndFiles {
    /// The directory and a page of its entries.
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<(Described, DirectoryPage)> {
        let after = match self.marker {
            None => None,
            Some(Position::Name { name, .. }) => Some(name),
            Some(Position::Group(_)) => return Err(ErrorCode::OutOfRangeInput.into()),
        };
        let view = services.view(context).await?;
        let found = view.path(&self.at).await?;
        let directory = found.admit(policy::ListDirectoriesAndFiles, &self.preconditions)?.directory()?;
        let page = directory.list(&self.prefix, after.as_deref(), self.max_results, self.max_bytes).await?;
        Ok((directory.described(), page))
    }
}
