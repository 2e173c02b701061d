//! Set Container ACL: the public access level and the stored access policies, replaced together.

use lazuli_model::Op;
use lazuli_model::access::{AccessPolicy, PublicAccess};
use lazuli_model::admission::Preconditions;

use super::Stamped;
use super::write::change_container;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetContainerAcl {
    pub container: String,
    pub preconditions: Preconditions,
    pub public_access: PublicAccess,
    pub policies: Vec<AccessPolicy>,
}

impl SetContainerAcl {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let row = Op::SetContainerAcl.row();
        change_container(services, context, row, &self.container, &self.preconditions, |record, now| {
            record.public_access = self.public_access;
            record.policies.clone_from(&self.policies);
            record.touch(now);
        })
        .await
    }
}
