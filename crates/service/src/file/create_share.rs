//! Create Share.

use lazuli_model::admission::Preconditions;
use lazuli_model::operation::policy;

use super::{NewShare, ShareAddress};
use crate::blob::Stamped;
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct CreateShare {
    pub share: String,
    pub new: NewShare,
}

impl CreateShare {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<Stamped> {
        let (at, given) = (ShareAddress { share: self.share, snapshot: None }, Preconditions::default());
        let (at, given, new) = (&at, &given, &self.new);
        services
            .commit(context, |unit| async move {
                Ok(unit.share(at).await?.admit(policy::CreateShare, given)?.create(new)?)
            })
            .await
    }
}
