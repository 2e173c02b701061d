//! Create Hard Link: another name of a file.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::{Judged, LeaseUse, Op, Policy, Writes};

use super::{Described, FileAddress};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct CreateHardLink {
    pub at: FileAddress,
    /// The file that gets the name.
    pub target: FileAddress,
    /// About the file.
    pub preconditions: Preconditions,
}

/// The file must be there; its lease guards it.
#[derive(Clone, Copy, Debug)]
struct Target;

/// Where the name will be, nothing stands that a lease could guard.
#[derive(Clone, Copy, Debug)]
struct Name;

impl Judged for Target {
    type Mode = Writes;

    fn policy(self) -> &'static Policy {
        static POLICY: Policy = Policy { creates: false, ..Op::CreateHardLink.row().policy };
        &POLICY
    }
}

impl Judged for Name {
    type Mode = Writes;

    fn policy(self) -> &'static Policy {
        static POLICY: Policy = Policy { lease: LeaseUse::None, ..Op::CreateHardLink.row().policy };
        &POLICY
    }
}

impl CreateHardLink {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Described> {
        let input = &self;
        let name = &Preconditions::default();
        services
            .commit(context, |unit| async move {
                let target = unit.path(&input.target).await?.admit(Target, &input.preconditions)?.file()?;
                unit.path(&input.at).await?.admit(Name, name)?.link(target).await
            })
            .await
    }
}
