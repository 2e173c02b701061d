//! Rename File, Rename Directory: another name, another directory, with everything below it.

use lazuli_model::admission::{Needs, Preconditions};
use lazuli_model::error::ErrorCode;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::{Judged, Op, Policy, Writes};
use lazuli_model::smb::SmbWishes;

use super::{Described, FileAddress};
use crate::fault::{Answer, Fault};
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct RenameFile {
    /// A directory, and not a file.
    pub directory: bool,
    pub from: FileAddress,
    pub to: FileAddress,
    /// About what is renamed.
    pub source: Preconditions,
    /// About what stands at the new name.
    pub destination: Preconditions,
    /// A file at the new name goes.
    pub replaces: bool,
    pub change: Renamed,
}

/// What else a rename changes.
#[derive(Clone, Debug)]
pub struct Renamed {
    pub smb: SmbWishes,
    /// None to leave it as it is.
    pub metadata: Option<Metadata>,
    /// Of a file.
    pub content_type: Option<String>,
}

/// What is renamed must be there, and its opens must let it go.
#[derive(Clone, Copy, Debug)]
struct Source;

/// What stands at the new name is replaced.
#[derive(Clone, Copy, Debug)]
struct Destination;

const ROW: Policy = Op::RenameFile.row().policy;

impl Judged for Source {
    type Mode = Writes;

    fn policy(self) -> &'static Policy {
        static POLICY: Policy = Policy { creates: false, ..ROW };
        &POLICY
    }
}

impl Judged for Destination {
    type Mode = Writes;

    fn policy(self) -> &'static Policy {
        static POLICY: Policy = Policy { needs: Needs::Replace, ..ROW };
        &POLICY
    }
}

impl RenameFile {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Described> {
        let input = &self;
        // The attribute keeps a file from being changed and replaced; it goes with the file.
        let source = &Preconditions { ignores_read_only: true, ..self.source.clone() };
        services
            .commit(context, |unit| async move {
                let found = unit.path(&input.from).await.map_err(|fault| match fault.0.code {
                    ErrorCode::ParentNotFound => Fault::from(ErrorCode::ResourceNotFound),
                    _ => fault,
                })?;
                let moved = found.admit(Source, source)?.present()?;
                if moved.record.is_directory() != input.directory {
                    return Err(ErrorCode::ResourceTypeMismatch.into());
                }
                let to = unit.path(&input.to).await?;
                let there = to.record().filter(|there| !there.delete_pending);
                let is_itself = there.is_some_and(|there| there.record.node == moved.record.node);
                if there.is_some() && !is_itself && !input.replaces {
                    return Err(ErrorCode::ResourceAlreadyExists.into());
                }
                // A name in other letters is the same place, and nothing there is replaced.
                let to = match is_itself {
                    true => to.admit(Source, source)?,
                    false => to.admit(Destination, &input.destination)?,
                };
                moved.rename(to, input.replaces, &input.change).await
            })
            .await
    }
}
